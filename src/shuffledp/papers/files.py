"""The files of one experiment: NAME.csv, NAME.png, NAME.svg and NAME.json, each whole or absent.

The table is the record, and everything else follows from it. Many experiments are computed one
after the other, and what is already there is kept.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from shuffledp.errors import InvalidInput, Refusal, ShuffledpError
from shuffledp.papers import PAPERS, biswas_utility
from shuffledp.papers.charts import draw
from shuffledp.papers.cities import Unreadable
from shuffledp.papers.experiment import Experiment, Line, arranged, facts, read_table, write_table
from shuffledp.storage.files import replace_file

CATALOGUE, LISTED = "shuffledp.papers.experiments", "shuffledp papers reproduce --list"
Names = Sequence[str] | None
State = Literal["computed", "drawn", "kept", "failed"]
SUFFIXES = (".csv", ".png", ".svg", ".json")
ENDS = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>\n", ".json": b"}\n"}  # of a file that is whole


class Unwritable(InvalidInput):
    """A file cannot be put in its place: the folder or the disk is to blame, and not the
    experiment.
    """


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


def make(experiment: Experiment, out: Path, *, force: bool, report: Callable[[int], None]) -> tuple[State, float]:
    """Write what is missing, and return "computed" or "drawn" with the seconds that it took."""
    table, png, svg, summary = files(experiment.name, out)
    start = time.perf_counter()
    lines = None if force else _stored(experiment, out)
    state: State = "drawn"
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
    words = facts(experiment) | {"curves": experiment.count, "x": experiment.x.label}
    said = json.dumps(words | {"verdict": experiment.verdict(lines)}, indent=2, ensure_ascii=False)
    with _writing():
        draw(experiment, lines, png, svg)
        replace_file(summary, lambda path: path.write_text(f"{said}\n", encoding="utf-8"))
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
        remedy = "Choose another place, or make room there."
        raise Unwritable(f"{error.filename!r} must be writable, got: {error.strerror or error}. {remedy}") from None


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
        finished = "The others are finished. " if rest else ""
        super().__init__(f"{reasons}. {finished}This is a bug in shuffledp; please report the command.")


def select(names: Names, *, source: str = CATALOGUE, gowalla: str | None = None) -> tuple[Experiment, ...]:
    """The experiments of these names, or of the papers of these names, each once; all of them for
    None. Those on check-ins use the ones in the file ``gowalla``, if there is one.
    """
    known, without = catalogue(source, gowalla), catalogue(source)
    chosen = tuple(known.values()) if names is None else _named(names, known)
    if gowalla is not None and all(facts(each) == facts(without[each.name]) for each in chosen):
        remedy = "Leave it out, or name biswas-2023."
        raise InvalidInput(
            f"none of these figures and tables is about check-ins, so there is no use for their file. {remedy}"
        )
    return chosen


def _named(names: Sequence[str], known: dict[str, Experiment]) -> tuple[Experiment, ...]:
    cited = {paper.name: paper.cited for paper in PAPERS}
    groups = {name: [each for each in known.values() if each.paper == of] for name, of in cited.items()}
    groups |= {name: [experiment] for name, experiment in known.items()}
    for name in names:
        if name not in groups:
            near = difflib.get_close_matches(name, groups, n=1, cutoff=0.5)
            remedy = f"Did you mean {near[0]}?" if near else f"List them: {LISTED}"
            raise InvalidInput(f"there is no paper, figure or table {name!r} here. {remedy}")
        if not groups[name]:
            raise InvalidInput(f"no figure of {name} is computed here. List those that are: {LISTED}")
    return tuple({each.name: each for name in names for each in groups[name]}.values())


def reproduce(
    names: Names,
    out: str | os.PathLike[str],
    *,
    force: bool = False,
    gowalla: str | None = None,
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
    chosen, folder = select(names, source=source, gowalla=gowalla), Path(out)
    todo = [each.name for each in chosen if force or not finished(each, folder)]
    _check_room(folder, todo)
    outcomes = [_outcome(each, folder, force, each.name not in todo, progress or (lambda *_: None)) for each in chosen]
    if any(outcome.state == "failed" for outcome in outcomes):
        raise ReproductionError(outcomes)
    return tuple(outcomes)


def _outcome(
    experiment: Experiment, folder: Path, force: bool, kept: bool, report: Callable[[str, int, int], None]
) -> Outcome:
    name, count = experiment.name, experiment.count
    state: State = "kept"
    seconds, error = 0.0, ""
    try:
        if not kept:
            state, seconds = make(experiment, folder, force=force, report=lambda done: report(name, done, count))
        report(name, count, count)
    except (Unwritable, Unreadable) as refused:
        raise type(refused)(f"{refused} What is finished is kept.") from None
    except Exception as failed:
        state, error = "failed", " ".join(f"{type(failed).__name__}: {failed}".split())
    there = tuple(path for path in files(name, folder) if path.is_file())
    return Outcome(name, state, seconds, there, error)


def _check_room(folder: Path, todo: Sequence[str]) -> None:
    """Refuse before minutes of computing what could not be written after them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = [path for name in todo for path in files(name, folder) if path.is_dir()]
        if taken:
            remedy = "Move it away, or choose another folder to write to."
            raise Unwritable(Refusal(f"{str(taken[0])!r} must be free for a file", "a folder", remedy))
        if todo:
            with tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
                probe.write(b"room")
    except OSError as error:
        got, remedy = error.strerror or error, "Choose another one, or make room there."
        raise Unwritable(f"the folder {str(folder)!r} must be writable, got: {got}. {remedy}") from None
