"""The file of counted reports: what an engine hands to the analyst. A multiset is its counts, so
this small file is what a shuffled file of any length says, and no report stands in it.

It is canonical JSON with its own SHA-256: a changed byte is noticed, and anybody can read it.

Rules of evolution: as for a design. A field is never removed and its meaning never changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.storage.canonical import canonical, digest_of, parsed
from shuffledp.storage.files import replace_file
from shuffledp.tables.formats import DAMAGED, first_bytes, readable

FORMAT, VERSION = "shuffledp-counted", 1
LARGEST = 1 << 62
LONGEST = 200  # signs of the name of an engine


def new_batch() -> str:
    """A name for one drawing of everybody's reports."""
    return os.urandom(16).hex()


@dataclass(frozen=True, slots=True, eq=False)
class CountedReports:
    """The tally of ``reports`` reports of a design, and where they came from.

    ``votes`` is what ``tally`` of the design's randomizer adds up to. ``batches`` names every
    drawing that went in, so that a ledger knows it again; ``missing`` people had no value, and
    ``repeated`` rows were left out since their person has another one, where that was looked at.
    ``engine`` drew the reports: whoever runs it could see the values.
    """

    design: Mapping[str, Any]
    votes: NDArray[np.int64]
    reports: int
    batches: tuple[str, ...]
    secure: bool
    missing: int | None = None
    repeated: int | None = None
    engine: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain data, with the seal of all the rest."""
        plain = {"design": dict(self.design), "votes": self.votes.tolist(), "batches": list(self.batches)}
        facts = {"format": FORMAT, "version": VERSION} | {name: getattr(self, name) for name in KINDS} | plain
        return facts | {"sha256": digest_of(facts)}

    @classmethod
    def from_json(cls, written: object, title: str) -> Self:
        """Read ``as_json``; what this version would not have written is refused."""
        if not isinstance(written, dict) or written.get("format") != FORMAT:
            raise InvalidInput(
                f"{title} must hold counted reports, got something else. Give what an engine counted, or what "
                f"`shuffledp stage shuffle` wrote."
            )
        version = written.get("version")
        if type(version) is not int or version != VERSION:
            raise InvalidInput(
                f"{title} must be of version {VERSION}, got {ascii(version)[:20]}. Use the shuffledp that wrote it, or "
                f"count again."
            )
        facts = {name: value for name, value in written.items() if name != "sha256"}
        try:
            seal = digest_of(facts)
        except (ValueError, RecursionError):  # half a sign can be said in JSON, and not be written
            raise InvalidInput(f"{title} must be text that can be written, got other. {DAMAGED}") from None
        wrong = sorted({*KINDS, "format", "version"} ^ set(facts)) or [
            name for name, sound in KINDS.items() if not sound(facts[name])
        ]
        if wrong:
            names = ", ".join(name if name in KINDS or name.isidentifier() else ascii(name) for name in wrong[:10])
            raise InvalidInput(
                f"{title} must say what counted reports say, got a difference in {names}. Use the shuffledp that wrote "
                f"it, or copy it again: it may have been changed on the way."
            )
        if written.get("sha256") != seal:
            raise InvalidInput(f"{title} must be as it was written, got a changed file. {DAMAGED}")
        fields = {name: facts[name] for name in KINDS}
        votes = np.array(fields.pop("votes"), dtype=np.int64)
        return cls(**fields | {"batches": tuple(facts["batches"])}, votes=votes)


def write_counted(path: Path, counted: CountedReports, *, last: Callable[[], object] | None = None) -> None:
    """Write the file; it is there when all of it is, or not at all. ``last`` is called just before
    that.
    """
    text = canonical(counted.as_json()) + "\n"
    replace_file(path, lambda place: place.write_text(text, encoding="utf-8"), last=last)


def read_counted(path: Path) -> CountedReports:
    """The counted reports in a file, if they are that, of this version, and whole."""
    title = repr(str(path))
    with readable(title, "file of counted reports"):
        text = path.read_bytes()
    return CountedReports.from_json(parsed(text), title)


def holds_counts(path: Path) -> bool:
    """Whether a file is of counted reports, by its first byte; the others are Parquet."""
    title = repr(str(path))
    with readable(title, "file of reports"):
        return first_bytes(path, title)[:1] == b"{"


def _count(value: object) -> bool:
    return type(value) is int and 0 <= value < LARGEST


def _whole_numbers(value: object) -> bool:
    return isinstance(value, list) and all(type(each) is int and abs(each) < LARGEST for each in value)


def _names(value: object) -> bool:
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        return False
    return 0 < len(value) == len(set(value))


def _line(value: object) -> bool:
    """Words for a terminal and a page, and nothing that steers them."""
    return value is None or (isinstance(value, str) and 0 < len(value) <= LONGEST and value.isprintable())


KINDS: dict[str, Callable[[object], bool]] = {
    "design": lambda value: isinstance(value, dict),
    "votes": _whole_numbers,
    "reports": _count,
    "batches": _names,
    "secure": lambda value: isinstance(value, bool),
    "missing": lambda value: value is None or _count(value),
    "repeated": lambda value: value is None or _count(value),
    "engine": _line,
}
