"""The files of pins: one design per line, its inputs and under "found" its outputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.pins import asked

HERE = Path(__file__).parent
Pin = dict[str, Any]


def pins(name: str) -> list[Pin]:
    """All designs of a file."""
    text = (HERE / f"{name}.json").read_text(encoding="utf-8")
    read: list[Pin] = json.loads(text)
    return read


def write(name: str, rows: list[Pin]) -> None:
    """A line for each design."""
    lines = ",\n".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in rows)
    (HERE / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def differences(was: Any, now: Any, near: Callable[[str, int, float, float], bool], path: str = "") -> Iterator[str]:
    """Every number that is not near to what it was: "value[3] was 1.5, is 1.6"."""
    if isinstance(was, dict) and isinstance(now, dict):
        for name in {**was, **now}:
            yield from differences(was.get(name), now.get(name), near, f"{path}.{name}" if path else name)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for place, (old, new) in enumerate(zip(was, now, strict=True)):
            yield from differences(old, new, near, f"{path}[{place}]")
    elif was != now or type(was) is not type(now):
        numbers = all(isinstance(each, float) for each in (was, now))
        place = int(path.rpartition("[")[2].rstrip("]")) if path.endswith("]") else 0
        if not (numbers and near(path, place, was, now)):
            yield f"{path} was {was!r}, is {now!r}"


def exactly(_path: str, _place: int, was: float, now: float) -> bool:
    """Floats too."""
    return was == now


def relatively(by: float) -> Callable[[str, int, float, float], bool]:
    """Within a part of what it was."""
    return lambda _path, _place, was, now: abs(now - was) <= by * abs(was)


def of_errors(found: Pin, by: float = 1e-9) -> Callable[[str, int, float, float], bool]:
    """Within a part of the standard error of the estimate in the same place; of the largest one, for
    what has none of its own.
    """

    def near(path: str, place: int, was: float, now: float) -> bool:
        own = next((each for each in ("range_", "end_") if path.startswith(each)), "")
        errors = found.get(f"{own}stderr") or [1.0]
        error = errors[place] if place < len(errors) and "alone" not in path else max(errors)
        return abs(now - was) <= by * (1.0 if path.startswith(("share", "quantile")) else error)

    return near


def expect(pin: Pin, now: Any, near: Callable[[str, int, float, float], bool]) -> None:
    """Fail with the design, and every number that differs."""
    now = json.loads(json.dumps(now))
    found = list(differences(pin["found"], now, near))
    assert not found, f"{pin['id']}: {'; '.join(found[:8])}{f'; and {len(found) - 8} more' * (len(found) > 8)}"


def tape_of(pin: Pin) -> Pin:
    """What a pin of a tape has found."""
    if "parts" in pin:
        return {"tally": asked.tallied(pin)}
    rows, tape = asked.reports(pin)
    return {"reports": rows, "next": tape.words(1, "u8").tolist()[0]}


COMPUTED: dict[str, Callable[[Pin], Any]] = {
    "estimates": lambda pin: asked.estimated(pin, pin["tallies"]),
    "calibrations": asked.calibrated,
    "tapes": tape_of,
    "ends": asked.ends,
}
