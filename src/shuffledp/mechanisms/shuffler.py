"""What users send, and what the shuffler releases of it: reports in their order, and a multiset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInput


@dataclass(frozen=True, slots=True, eq=False)
class Reports:
    """What users send, in their order: one row each. ``description`` is the poll's; ``secure``
    says whether the randomness was.

    ``batch`` tells calls of ``encode`` apart. A report counts once: ``shuffle`` refuses the same
    batch twice, as copies of a report hide nobody.
    """

    description: Mapping[str, object]
    rows: NDArray[Any]
    secure: bool = True
    batch: bytes = field(default_factory=lambda: os.urandom(16))

    def __len__(self) -> int:
        """How many users sent one."""
        return len(self.rows)

    def __repr__(self) -> str:
        """How many there are, and of what; never the reports themselves."""
        return _repr(self)


@dataclass(frozen=True, slots=True, eq=False)
class Bag:
    """What the shuffler releases: the multiset of reports.

    A bag sorts its rows when it is made, so two orders of the same reports give the same bag: order
    and senders are gone. Where its rows are not one for each of the ``people``, it says how many
    they are.
    """

    description: Mapping[str, object]
    rows: NDArray[Any]
    secure: bool = True
    people: int | None = None

    def __post_init__(self) -> None:
        rows = np.ascontiguousarray(self.rows)
        if rows.ndim > 2 or not rows.size or rows.dtype.hasobject:
            raise InvalidInput(
                f"rows must be a vector or a table of reports, got shape {rows.shape} of {rows.dtype}. Take the bag "
                f"that shuffle(...) makes."
            )
        if rows.ndim == 1:
            rows = np.sort(rows, kind="stable")  # a radix sort where reports are narrow
        else:
            packed = rows.view(
                f"S{rows.dtype.itemsize * rows.shape[1]}"
            ).ravel()  # any fixed order of the bytes will do
            rows = np.sort(packed).view(rows.dtype).reshape(rows.shape)
        rows.setflags(write=False)
        object.__setattr__(self, "rows", rows)

    def __len__(self) -> int:
        """How many reports arrived."""
        return len(self.rows) if self.people is None else self.people

    def __repr__(self) -> str:
        """How many there are, and of what."""
        return _repr(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SummedBag(Bag):
    """What a shuffler that adds up bits releases: how many reports there are and, after that, how
    often each value's bit was set. It holds no report.
    """

    def __post_init__(self) -> None:
        rows = np.array(self.rows, dtype=np.int64)
        rows.setflags(write=False)
        object.__setattr__(self, "rows", rows)

    def __len__(self) -> int:
        """How many reports arrived."""
        return int(self.rows[0])


def _repr(made: Reports | Bag) -> str:
    question = made.description.get("question", "question")
    return f"<{type(made).__name__}: {len(made):,} reports of a {question}{'' if made.secure else ', not for release'}>"


def notes_of(bag: Bag, n: int, *more: str) -> tuple[str, ...]:
    """What a reader of the estimate must know."""
    from shuffledp.mechanisms.estimate import NOT_FOR_RELEASE

    absent = (
        ()
        if len(bag) == n
        else (f"{len(bag)} of {n} reports arrived; guarantee_for({len(bag)}) states what holds for them",)
    )
    return (*more, *absent, *(() if bag.secure else (NOT_FOR_RELEASE,)))


def gathered(
    reports: Reports | Iterable[Reports] | ArrayLike, description: Mapping[str, object]
) -> tuple[ArrayLike, bool]:
    """The rows of batches of reports, and whether their randomness was secure; of bare rows that is
    taken on trust. What another poll made is refused, and the same report twice.
    """
    if isinstance(reports, Bag):
        raise InvalidInput("reports must be what encode(...) made, got a bag. It is shuffled already: analyse it.")
    if isinstance(reports, Iterator):
        reports = list(reports)
    listed: Any = [reports] if isinstance(reports, Reports) else reports
    known = [each for each in listed if isinstance(each, Reports)] if isinstance(listed, (list, tuple)) else []
    if not known:
        return listed, True
    if len(known) < len(listed):
        raise InvalidInput(
            "reports must all come from encode(...) or all be bare rows, got a mixture. Join the bare rows into one "
            "array and shuffle that."
        )
    if len({each.batch for each in known}) < len(known) or _overlap([each.rows for each in known]):
        raise InvalidInput(
            "reports must be listed once each, got some twice. Copies of a report hide nobody; encode every user once."
        )
    for each in known:
        check_same(each, description)
    return np.concatenate([each.rows for each in known]), all(each.secure for each in known)


def check_same(made: Bag | Reports, mine: Mapping[str, object]) -> None:
    """Refuse what a poll of another description made."""
    if mine != made.description:
        different = [name for name in {**mine, **made.description} if mine.get(name) != made.description.get(name)]
        raise InvalidInput(
            f"the {type(made).__name__.lower()} must come from this poll, got one that differs in "
            f"{', '.join(different)}. Analyse it with the poll that made it."
        )


def _overlap(arrays: Sequence[NDArray[Any]]) -> bool:
    """Whether two arrays lie in the same memory, by their bounds."""
    spans = sorted(np.lib.array_utils.byte_bounds(array) for array in arrays if array.size)
    return any(after[0] < before[1] for before, after in pairwise(spans))


def check_most(reports: int, n: int) -> None:
    """Refuse more reports than there are people."""
    if reports > n:
        raise InvalidInput(
            f"reports must number at most n = {n}, got {reports}. Each user sends one per round; build the poll with "
            f"n={reports}."
        )


def as_tally(counts: ArrayLike) -> NDArray[Any]:
    """Return ``counts`` as an array, an empty one for rows of different lengths."""
    try:
        return np.asarray(counts)
    except ValueError:
        return np.empty(0)
