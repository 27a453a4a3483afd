"""Compute experiments in a few processes, and keep what is already there."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shuffledp.errors import InvalidInput, ShuffledpError, check_count
from shuffledp.papers import PAPERS
from shuffledp.papers.experiment import Experiment
from shuffledp.papers.make import REFUSALS, Unwritable, catalogue, files, finished
from shuffledp.papers.table import facts

__all__ = ["Outcome", "ReproductionError", "reproduce", "select"]

CATALOGUE = "shuffledp.papers.experiments"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
State = Literal["computed", "drawn", "kept", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one experiment. ``seconds`` is what it took now, 0 if it was kept; ``error``
    is why it failed.
    """

    name: str
    state: State
    seconds: float
    files: tuple[Path, ...]
    error: str = ""

    @property
    def verdict(self) -> str:
        """What the comparison shows, in Markdown; empty if it failed."""
        if self.state == "failed":
            return ""
        found: str = json.loads(self.files[-1].read_text(encoding="utf-8"))["verdict"]
        return found


class ReproductionError(ShuffledpError):
    """Some experiments failed; ``outcomes`` has all of them, and the files of the others are in
    place.
    """

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = tuple(outcomes)
        failed = [outcome for outcome in outcomes if outcome.state == "failed"]
        reasons = "; ".join(f"{outcome.name} failed ({outcome.error})" for outcome in failed)
        rest = len(self.outcomes) - len(failed)
        super().__init__(
            f"{reasons}. {'The others are finished. ' if rest else ''}This is a bug in shuffledp; please report the "
            f"command."
        )


def select(
    names: Sequence[str] | None, *, source: str = CATALOGUE, gowalla: str | None = None
) -> tuple[Experiment, ...]:
    """The experiments of these names, or of the papers of these names, each once; all of them for
    None. Those on check-ins use the ones in the file ``gowalla``, if there is one.
    """
    known, without = catalogue(source, gowalla), catalogue(source)
    chosen = tuple(known.values()) if names is None else _named(names, known)
    if gowalla is not None and all(facts(each) == facts(without[each.name]) for each in chosen):
        raise InvalidInput(
            "none of these figures and tables is about check-ins, so there is no use for their file. Leave it out, or "
            "name biswas-2023."
        )
    return chosen


def _named(names: Sequence[str], known: dict[str, Experiment]) -> tuple[Experiment, ...]:
    cited = {paper.name: paper.cited for paper in PAPERS}
    groups = {name: [each for each in known.values() if each.paper == of] for name, of in cited.items()}
    groups |= {name: [experiment] for name, experiment in known.items()}
    for name in names:
        if name not in groups:
            near = difflib.get_close_matches(name, groups, n=1, cutoff=0.5)
            raise InvalidInput(
                f"there is no paper, figure or table {name!r} here. "
                f"{f'Did you mean {near[0]}?' if near else 'List them: shuffledp papers reproduce --list'}"
            )
        if not groups[name]:
            raise InvalidInput(
                f"no figure of {name} is computed here. List those that are: shuffledp papers reproduce --list"
            )
    return tuple({each.name: each for name in names for each in groups[name]}.values())


def reproduce(
    names: Sequence[str] | None,
    out: str | os.PathLike[str],
    *,
    force: bool = False,
    gowalla: str | None = None,
    workers: int = 2,
    progress: Callable[[str, int, int], None] | None = None,
    source: str = CATALOGUE,
) -> tuple[Outcome, ...]:
    """Write table, figures and summary of every experiment named (all, for None) into the folder
    ``out``, and say what was done. Those on check-ins use the ones in the file ``gowalla``, or a
    city that is made up.

    What is already there, of the same description and version, is kept unless ``force``; a missing
    figure is drawn from the table. A file appears whole or not at all, so a run may be ended at any
    moment and started again. ``progress(name, curves done, curves in all)`` is called as curves are
    finished. If some experiments fail the others are finished first, and then ``ReproductionError``
    names them; but if the folder does not take a file, or the user's own file cannot be read,
    ``InvalidInput`` ends the run.
    """
    workers = check_count("workers", workers, least=1, remedy="workers counts the processes.")
    chosen = select(names, source=source, gowalla=gowalla)
    folder = _folder(Path(out))
    report = progress or (lambda *_: None)
    outcomes: dict[str, Outcome] = {}
    todo = []
    for experiment in chosen:
        if not force and finished(experiment, folder):
            outcomes[experiment.name] = Outcome(experiment.name, "kept", 0.0, files(experiment.name, folder))
            report(experiment.name, experiment.count, experiment.count)
        else:
            todo.append(experiment)
    counts = {experiment.name: experiment.count for experiment in todo}
    _check_room(folder, [path for name in counts for path in files(name, folder)])
    asked = {"catalogue": source, "gowalla": gowalla, "out": str(folder.resolve()), "force": force}
    requests = [asked | {"name": name} for name in counts]
    with contextlib.closing(_events(requests, min(workers, len(requests)))) as events:
        for event in events:
            name = event["name"]
            if "refused" in event:
                raise REFUSALS[event["refused"]](f"{event['error']} What is finished is kept.")
            if "state" in event:
                there = tuple(path for path in files(name, folder) if path.is_file())
                outcomes[name] = Outcome(name, event["state"], event.get("seconds", 0.0), there, event.get("error", ""))
            if event.get("state") != "failed":
                report(name, event.get("done", counts[name]), counts[name])
    ordered = tuple(outcomes[experiment.name] for experiment in chosen)
    if any(outcome.state == "failed" for outcome in ordered):
        raise ReproductionError(ordered)
    return ordered


def _folder(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(out, error) from None
    return out


def _check_room(folder: Path, paths: Sequence[Path]) -> None:
    """Refuse before minutes of computing what could not be written after them."""
    for path in paths:
        if path.is_dir():
            raise Unwritable(
                f"{str(path)!r} must be free for a file, got a folder. Move it away, or choose another folder to write "
                f"to."
            )
    if paths:
        try:
            with tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
                probe.write(b"room")
        except OSError as error:
            raise _unwritable(folder, error) from None


def _unwritable(folder: Path, error: OSError) -> Unwritable:
    return Unwritable(
        f"the folder {str(folder)!r} must be writable, got: {error.strerror or error}. Choose another one, or make "
        f"room there."
    )


def _events(requests: Sequence[dict[str, Any]], workers: int) -> Generator[dict[str, Any], None, None]:
    """What the workers report, until every request has an answer; they end when the caller stops
    listening, for whatever reason.
    """
    waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    for request in requests:
        waiting.put(request)
    events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    crew = [_Worker(waiting, events) for _ in range(workers)]
    try:
        for worker in crew:
            worker.start()
        answered = 0
        while answered < len(requests):
            event = events.get()
            answered += "state" in event
            yield event
    finally:
        for worker in crew:
            worker.stop()


class _Worker(threading.Thread):
    """One process at a time that serves requests; a process that dies costs its own request, and
    another one takes the next.
    """

    def __init__(self, waiting: queue.SimpleQueue[dict[str, Any]], events: queue.SimpleQueue[dict[str, Any]]) -> None:
        super().__init__(daemon=True)
        self.waiting, self.events = waiting, events
        self.process: subprocess.Popen[str] | None = None
        self.lock = threading.Lock()
        self.stopped = threading.Event()

    def run(self) -> None:
        """Hand out requests until there are none."""
        while True:
            try:
                request = self.waiting.get_nowait()
            except queue.Empty:
                return self.stop()
            try:
                if not self._serve(request):
                    return None
            except Exception as error:
                self._fail(request, f"{type(error).__name__}: {error}")

    def stop(self) -> None:
        """End the process, now."""
        with self.lock:
            self.stopped.set()
            if self.process is not None:
                _end(self.process)
                self.process = None

    def _serve(self, request: dict[str, Any]) -> bool:
        """Pass on what the process says about one request; False if we were stopped meanwhile."""
        with self.lock:
            if self.stopped.is_set():
                return False
            process = self.process = self.process or _process()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError, ValueError):  # it is dead, or was ended under our hands
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            for said in process.stdout:
                event = json.loads(said)
                self.events.put(event)
                if "state" in event:
                    return True
        with self.lock:
            if self.stopped.is_set():
                return False
            self.process = None
            _end(process)
        self._fail(request, f"its process ended with code {process.returncode}")
        return True

    def _fail(self, request: dict[str, Any], why: str) -> None:
        self.events.put({"name": request["name"], "state": "failed", "error": why})


def _process() -> subprocess.Popen[str]:
    # As many processes as cores, so one thread each. They find the same modules as we do, wherever
    # those come from.
    environment = (
        os.environ
        | dict.fromkeys(THREADS, "1")
        | {"MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    )
    command = [sys.executable, "-P", "-m", "shuffledp.papers.make"]  # -P: nothing from the current folder by accident
    # A session of its own: Ctrl-C is for us, and we end the process.
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):  # what it had not read is of no use to anybody
                stream.close()
