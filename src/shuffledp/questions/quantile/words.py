"""Quantiles, ranges, and where false reports moved a quantile, in words: known no closer than to a
bin, and open at an end of the range where values may have been clipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from shuffledp.numerals import between, decimals_for, exact, fixed, level, percent
from shuffledp.questions.table import Table, Told

NAMES = {"0.25": "lower quartile", "0.5": "median", "0.75": "upper quartile"}


def told(question: Any, record: Any) -> list[Told]:
    """The quantiles and the ranges that were asked for."""
    bins, sure = Open(question.cuts, record.asked.may_be_clipped), f"{level(record.estimates.level)} interval"
    found = list[Told]()
    if quantiles := record.table("quantiles"):
        rows = [(name_of(at), bins.point(value), bins.ends(low, high)) for at, value, low, high in quantiles.rows()]
        found.append(Told("Quantiles", ("Quantile", "Estimate", sure), rows))
    if ranges := record.table("ranges"):
        people, counted = record.counted.reports, zip(question.ranges, ranges.rows(), strict=True)
        shown = [
            (f"{exact(first)} to {exact(last)}", fixed(value, 0), percent(value / people), between(low, high, 0))
            for (first, last), (_, value, _, low, high) in counted
        ]
        found.append(Told("Ranges", ("Range", "People", "Share", sure), shown))
    return found


def misled(question: Any, record: Any) -> Told | None:
    """Each quantile as it is estimated, and where it would be without false reports."""
    found: Table | None = record.table("quantiles")
    if found is None:
        return None
    bins = Open(question.cuts, record.asked.may_be_clipped)
    one = map(bins.spread, found.one_lower, found.one_upper)
    some = map(bins.spread, found.some_lower, found.some_upper)
    rows = list(zip(map(name_of, found.label), map(bins.point, found.value), one, some, strict=True))
    return Told("False reports", ("Quantile", "Estimate", "If 1 report is false", "If 1 % are false"), rows)


def name_of(at: str) -> str:
    """What a quantile is called."""
    return NAMES.get(at, f"{exact(float(at))}-quantile")


class Open(NamedTuple):
    """The ends of bins; with ``clips``, the first and the last one may hold values from outside."""

    cuts: Sequence[float]
    clips: bool

    def point(self, value: float) -> str:
        """A point estimate, to a tenth of its bin; in a bin that is open, no place is any better
        than another.
        """
        low, high = next((ends for ends in pairwise(self.cuts) if value < ends[1]), tuple(self.cuts[-2:]))
        if self.clips and low == self.cuts[0]:
            return f"below {exact(high)}"
        if self.clips and high == self.cuts[-1]:
            return f"{exact(low)} or more"
        return fixed(value, decimals_for(high - low))

    def ends(self, low: float, high: float) -> str:
        """From the end of a bin to that of another."""
        return self._words(exact(low), exact(high), low == self.cuts[0], high == self.cuts[-1])

    def spread(self, low: float, high: float) -> str:
        """From one value to the other, each rounded outward to a tenth of a bin."""
        digits = max(decimals_for(after - before) for before, after in pairwise(self.cuts))
        least, most = fixed(low, digits, up=False), fixed(high, digits, up=True)
        return self._words(least, most, low < self.cuts[1], high > self.cuts[-2])

    def _words(self, low: str, high: str, first: bool, last: bool) -> str:
        if not (self.clips and (first or last)):
            return f"{low} to {high}"
        if first and last:
            return "anywhere"
        return f"below {high}" if first else f"{low} or more"
