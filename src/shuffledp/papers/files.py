"""The files of one experiment: NAME.csv, NAME.png, NAME.svg and NAME.json, each whole or absent.

The table is the record, and everything else follows from it. Many experiments are computed in a few
processes, and what is already there is kept. ``python -m shuffledp.papers.files`` is the worker
process of ``run``: it reads requests and writes events, one JSON object per line.
"""

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
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from shuffledp.errors import InvalidInput, ShuffledpError, check_count
from shuffledp.papers import PAPERS, biswas_utility
from shuffledp.papers.charts import draw
from shuffledp.papers.cities import Unreadable
from shuffledp.papers.experiment import Experiment, Line, arranged, facts, read_table, write_table
from shuffledp.storage.files import replace_file

__all__ = [
    "REFUSALS",
    "Outcome",
    "ReproductionError",
    "Unwritable",
    "catalogue",
    "files",
    "finished",
    "make",
    "reproduce",
    "select",
]

SUFFIXES = (".csv", ".png", ".svg", ".json")
ENDS = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>\n", ".json": b"}\n"}  # of a file that is whole


class Unwritable(InvalidInput):
    """A file cannot be put in its place: the folder or the disk is to blame, and not the
    experiment.
    """


REFUSALS: dict[str, type[InvalidInput]] = {
    kind.__name__: kind for kind in (Unwritable, Unreadable)
}  # for the user to put right: no bug of ours


def files(name: str, out: Path) -> tuple[Path, ...]:
    """The files of the experiment called ``name``, the table first."""
    return tuple(out / f"{name}{suffix}" for suffix in SUFFIXES)


def finished(experiment: Experiment, out: Path) -> bool:
    """Whether all files are there and whole, and the table is of this description and version."""
    return all(_is_whole(path) for path in files(experiment.name, out)[1:]) and _stored(experiment, out) is not None


def _is_whole(path: Path) -> bool:
    try:
        content = path.read_bytes()
        return content.endswith(ENDS[path.suffix]) and (path.suffix != ".json" or isinstance(json.loads(content), dict))
    except (OSError, ValueError):
        return False


def make(experiment: Experiment, out: Path, *, force: bool, report: Callable[[int], None]) -> tuple[str, float]:
    """Write what is missing, and return "computed" or "drawn" with the seconds that it took."""
    table, png, svg, summary = files(experiment.name, out)
    start = time.perf_counter()
    lines = None if force else _stored(experiment, out)
    state = "drawn"
    if lines is None:
        with _writing():
            summary.unlink(missing_ok=True)  # it is about numbers that are about to go
        found = []
        for done, line in enumerate(experiment.compute(), 1):
            found.append(line)
            report(done)
        lines = arranged(found)
        text = write_table(experiment, lines)
        with _writing():
            replace_file(table, lambda path: path.write_text(text, encoding="utf-8"))
        state = "computed"
    words = facts(experiment) | {
        "curves": experiment.count,
        "x": experiment.x.label,
        "verdict": experiment.verdict(lines),
    }
    with _writing():
        draw(experiment, lines, png, svg)
        replace_file(
            summary,
            lambda path: path.write_text(json.dumps(words, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"),
        )
    return state, time.perf_counter() - start


def catalogue(module: str, gowalla: str | None = None) -> dict[str, Experiment]:
    """The experiments that a module offers, by name; those on check-ins with the ones in the file
    ``gowalla``, if there is one.
    """
    known = {experiment.name: experiment for experiment in import_module(module).EXPERIMENTS}
    if gowalla is not None:
        known |= {real.name: real for real in biswas_utility.experiments(gowalla) if real.name in known}
    return known


def _stored(experiment: Experiment, out: Path) -> tuple[Line, ...] | None:
    """The lines in the table, if it is of this description and version."""
    table = files(experiment.name, out)[0]
    if not table.is_file():
        return None
    try:
        about, lines = read_table(table.read_text(encoding="utf-8"))
    except (OSError, ValueError, IndexError):
        return None  # damaged, or somebody else's file
    return lines if about == facts(experiment) else None


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    """What goes wrong in here is the folder's fault; a computation that refuses its own input is a
    bug, and stays one.
    """
    try:
        yield
    except InvalidInput as error:
        raise Unwritable(str(error)) from None
    except OSError as error:
        raise Unwritable(
            f"{error.filename!r} must be writable, got: {error.strerror or error}. Choose another place, or make room "
            f"there."
        ) from None


def _serve(requests: Iterable[str], tell: Callable[[dict[str, Any]], None]) -> None:
    for request in requests:
        asked = json.loads(request)
        name = asked["name"]
        try:
            experiment = catalogue(asked["catalogue"], asked["gowalla"])[name]
            state, seconds = make(
                experiment,
                Path(asked["out"]),
                force=asked["force"],
                report=lambda done, name=name: tell({"name": name, "done": done}),  # type: ignore[misc]
            )
            tell({"name": name, "state": state, "seconds": seconds})
        except BrokenPipeError:
            raise  # nobody is listening
        except tuple(REFUSALS.values()) as error:
            tell({"name": name, "state": "failed", "error": str(error), "refused": type(error).__name__})
        except Exception as error:
            tell({"name": name, "state": "failed", "error": " ".join(f"{type(error).__name__}: {error}".split())})


def _main() -> None:
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as events:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what an experiment prints must not look like an event

        def tell(event: dict[str, Any]) -> None:
            events.write(json.dumps(event) + "\n")
            events.flush()

        requests: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(requests,), daemon=True).start()
        _serve(iter(requests.get, ""), tell)


def _listen(requests: queue.SimpleQueue[str]) -> None:
    for request in sys.stdin:
        requests.put(request)
    os._exit(0)  # whoever started us is gone, and every file is whole at every moment


if __name__ == "__main__":
    try:
        _main()
    except BrokenPipeError:
        os._exit(1)


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
    command = [sys.executable, "-P", "-m", "shuffledp.papers.files"]  # -P: nothing from the current folder by accident
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
