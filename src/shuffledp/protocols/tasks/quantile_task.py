"""How numbers are distributed: shares below cut points, and quantiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, Self

from shuffledp.errors import Argument, InvalidInput, Refusal
from shuffledp.protocols.tasks.task import LARGEST_BOUND, NAMING, REMEDY, Task, is_bound, register
from shuffledp.schema import Chance, Floats, Limits, Number

__all__ = ["FLAT", "LEVELS", "MOST_ASKED", "MOST_BINS", "QuantileTask"]

MOST_BINS, MOST_ASKED = 1024, 100
FLAT, LEVELS = ("krr",), "one of"  # what a level of bins is asked by, and the law of several levels
TREE = "tree"  # the law of all levels at once


@register
@dataclass(frozen=True)
class QuantileTask(Task):
    """How many people are below each of some cut points, and so every share between two of them,
    and every quantile.

    ``cuts`` are the ends of the bins, from the smallest possible number to the largest: a bin holds
    the numbers from its lower end to below its upper one, the last one its upper end too. ``at``
    are the quantiles that are asked for, ``ranges`` pairs of cut points.

    >>> task = QuantileTask(cuts=(0.0, 10.0, 20.0), at=(0.5,), ranges=((0.0, 10.0),))
    >>> task.size, QuantileTask.from_json(task.as_json()) == task
    (2, True)
    """

    name: ClassVar[str] = "quantile"
    unit: ClassVar[str] = "people"
    mechanisms: ClassVar[tuple[str, ...]] = NAMING

    cuts: Floats
    at: tuple[Chance, ...]
    ranges: Annotated[tuple[tuple[Number, Number], ...], Limits(0, MOST_ASKED)] = ()

    @property
    def bounds(self) -> tuple[float, float]:
        return self.cuts[0], self.cuts[-1]

    @property
    def edges(self) -> tuple[float, ...]:
        return self.cuts

    @property
    def size(self) -> int:
        """How many bins there are."""
        return len(self.cuts) - 1

    def checked(self) -> Self:
        if not _listed(self.cuts, is_bound):
            raise InvalidInput(
                f"cuts must be numbers of at most {LARGEST_BOUND:g} in size, with a decimal point, got "
                f"{str(self.cuts)[:60]}. {REMEDY}"
            )
        if not 2 <= self.size <= MOST_BINS:
            rule = f"the cut points must make from 2 to {MOST_BINS:,} bins"
            remedy = ("Choose wider bins: ", Argument("bins", 64), ", or other ", Argument("cuts"), ".")
            raise InvalidInput(Refusal(rule, f"{max(self.size, 0):,}", remedy))
        if wrong := next((pair for pair in pairwise(self.cuts) if pair[0] >= pair[1]), None):
            raise InvalidInput(
                f"cut points must increase, got {wrong[0]:.15g} before {wrong[1]:.15g}. Sort them, and give each once."
            )
        self._check_at()
        if not isinstance(self.ranges, tuple):
            raise InvalidInput(f"ranges must be a list of pairs of cut points, got {self.ranges!r}. {REMEDY}")
        for pair in self.ranges:
            self._check_range(pair)
        return self

    def _check_at(self) -> None:
        if not _listed(self.at, _is_share):
            raise InvalidInput(
                f"the quantiles must be numbers between 0 and 1, got {str(self.at)[:60]}. The median "
                f"is 0.5; the smallest and the largest value are nobody's business."
            )
        if len(set(self.at)) < len(self.at) or len(self.at) > MOST_ASKED:
            raise InvalidInput(
                f"the quantiles must be distinct, and at most {MOST_ASKED}, got {', '.join(map(str, self.at))[:60]}. "
                f"Give each once."
            )

    def _check_range(self, pair: object) -> None:
        if not _listed(pair, is_bound, 2) or len(self.ranges) > MOST_ASKED:
            raise InvalidInput(
                f"a range must be two cut points, and at most {MOST_ASKED} may be asked, got {str(pair)[:60]}. {REMEDY}"
            )
        assert isinstance(pair, tuple)
        low, high = pair
        for end in pair:
            if end not in self.cuts:
                nearest = min(self.cuts, key=lambda cut: abs(cut - end))
                raise InvalidInput(
                    f"the ends of a range must be cut points, got {end:.15g}. The nearest one is {nearest:.15g}; or "
                    f"choose other bins."
                )
        if not low < high or (low, high) == self.bounds:
            rule = "a range must hold some of the bins, and not all"
            remedy = "Give the lower end first, such as 18:65."
            raise InvalidInput(Refusal(rule, f"{low:.15g} to {high:.15g}", remedy))

    def fits(self, family: str, k: int) -> bool:
        return family in (*NAMING, LEVELS, TREE) and k == self.size

    @property
    def labels(self) -> tuple[str, ...]:
        return ()

    def scale(self, n: int) -> float:
        return n


def _is_share(value: object) -> bool:
    return isinstance(value, float) and 0.0 < value < 1.0


def _listed(values: object, test: Callable[[object], bool], many: int | None = None) -> bool:
    """Whether these are a list of what passes the test, and so many."""
    return isinstance(values, tuple) and many in (None, len(values)) and all(map(test, values))
