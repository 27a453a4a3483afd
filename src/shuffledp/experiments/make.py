"""The files of one experiment: NAME.csv, NAME.png, NAME.svg and NAME.json, each whole or absent.

The table is the record, and everything else follows from it. ``python -m shuffledp.experiments.make`` is the worker process of ``run``: it
reads requests and writes events, one JSON object per line.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from shuffledp.experiments.base import Experiment, Line
from shuffledp.experiments.draw import draw
from shuffledp.experiments.table import arranged, facts, read_table, write_table
from shuffledp.plots.files import replace_file

__all__ = ["catalogue", "files", "finished", "make", "recorded_seconds"]

SUFFIXES = (".csv", ".png", ".svg", ".json")


def files(name: str, out: Path) -> tuple[Path, ...]:
    """The files of the experiment called ``name``, the table first."""
    return tuple(out / f"{name}{suffix}" for suffix in SUFFIXES)


def finished(experiment: Experiment, out: Path) -> bool:
    """Whether all files are there and the table is of this description and version."""
    return all(path.is_file() for path in files(experiment.name, out)) and _stored(experiment, out) is not None


def make(experiment: Experiment, out: Path, *, force: bool, report: Callable[[int], None]) -> tuple[str, float]:
    """Write what is missing, and return "computed" or "drawn" with the seconds that the computation took, now or earlier."""
    table, png, svg, summary = files(experiment.name, out)
    _sweep(experiment.name, out)
    lines = None if force else _stored(experiment, out)
    if lines is None:
        summary.unlink(missing_ok=True)  # it is about numbers that are about to go
        start = time.perf_counter()
        found = []
        for done, line in enumerate(experiment.compute(), 1):
            found.append(line)
            report(done)
        seconds = time.perf_counter() - start
        lines = arranged(found)
        text = write_table(experiment, lines)
        replace_file(table, lambda path: path.write_text(text, encoding="utf-8"))
        state = "computed"
    else:
        seconds = recorded_seconds(summary)
        state = "drawn"
    draw(experiment, lines, png, svg)
    words = facts(experiment) | {"curves": experiment.count, "x": experiment.x.label, "seconds": round(seconds, 3), "verdict": experiment.verdict(lines)}
    replace_file(summary, lambda path: path.write_text(json.dumps(words, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"))
    return state, seconds


def catalogue(module: str) -> dict[str, Experiment]:
    """The experiments that a module offers, by name."""
    return {experiment.name: experiment for experiment in import_module(module).EXPERIMENTS}


def _stored(experiment: Experiment, out: Path) -> tuple[Line, ...] | None:
    """The lines in the table, if it is of this description and version."""
    table = files(experiment.name, out)[0]
    if not table.is_file():
        return None
    try:
        about, lines = read_table(table.read_text(encoding="utf-8"))
    except (ValueError, IndexError):
        return None  # somebody else's file
    return lines if about == facts(experiment) else None


def recorded_seconds(summary: Path) -> float:
    """What the computation took, as noted when it was done; 0 if nobody knows."""
    try:
        return float(json.loads(summary.read_text(encoding="utf-8"))["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0


def _sweep(name: str, out: Path) -> None:
    """Remove what a killed run left half written."""
    for path in files(name, out):
        for part in out.glob(f".{path.name}.*.part"):
            owner = part.name.split(".")[-2]
            if owner.isdigit() and int(owner) != os.getpid() and _is_gone(int(owner)):
                part.unlink(missing_ok=True)


def _is_gone(process: int) -> bool:
    if os.name != "posix":
        return False  # elsewhere signal 0 would end the process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _serve(requests: Iterable[str], tell: Callable[[dict[str, Any]], None]) -> None:
    for request in requests:
        asked = json.loads(request)
        name = asked["name"]
        try:
            experiment = catalogue(asked["catalogue"])[name]
            state, seconds = make(
                experiment,
                Path(asked["out"]),
                force=asked["force"],
                report=lambda done, name=name: tell({"name": name, "done": done}),  # type: ignore[misc]
            )
            tell({"name": name, "state": state, "seconds": seconds})
        except BrokenPipeError:
            raise  # nobody is listening
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
