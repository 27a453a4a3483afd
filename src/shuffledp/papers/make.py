"""The files of one experiment: NAME.csv, NAME.png, NAME.svg and NAME.json, each whole or absent.

The table is the record, and everything else follows from it. ``python -m shuffledp.papers.make`` is
the worker process of ``run``: it reads requests and writes events, one JSON object per line.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from shuffledp.errors import InvalidInput
from shuffledp.papers import biswas_utility
from shuffledp.papers.cities import Unreadable
from shuffledp.papers.draw import draw
from shuffledp.papers.experiment import Experiment, Line
from shuffledp.papers.table import arranged, facts, read_table, write_table
from shuffledp.storage.files import replace_file

__all__ = ["REFUSALS", "Unwritable", "catalogue", "files", "finished", "make"]

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
