"""Subset selection: report a random set of values that is likely to hold the input."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from shuffledp.errors import InvalidInput, check_count
from shuffledp.randomizers.checks import check_domain, check_epsilon0
from shuffledp.randomizers.support import Overlap, SupportRandomizer, hypergeometric

__all__ = ["SubsetSelection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetSelection(SupportRandomizer):
    """Report a ``w``-subset of the k values; the sets that hold the input are E times as likely as the others.

    Ye and Barg 2018, Wang et al. 2016. ``size`` left out is w = k / (E + 1), rounded, which minimises the variance of
    frequency estimates; size 1 is k-RR. No set holds every value, so the blanket is uniform on the sets.

    >>> SubsetSelection(k=10, epsilon0=1.0).describe()
    {'randomizer': 'subset', 'k': 10, 'epsilon0': 1.0, 'size': 3}
    """

    k: int
    epsilon0: float = field()
    size: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_domain(self.k))
        object.__setattr__(self, "epsilon0", check_epsilon0(self.epsilon0))
        if self.size is None:
            return
        object.__setattr__(self, "size", check_count("size", self.size, least=1, remedy="It counts the values in a report; leave it out for the best."))
        if self.w >= self.k:
            raise InvalidInput(f"size must be below k = {self.k}, got {self.w}. A set of all values says nothing; leave size out for the best.")

    @property
    def w(self) -> int:
        """The number of values in a report.

        >>> SubsetSelection(k=10, epsilon0=1.0, size=2).w
        2
        """
        return self.size if self.size is not None else max(1, round(self.k / (math.exp(self.epsilon0) + 1.0)))

    def overlaps(self) -> tuple[Overlap, ...]:
        return (hypergeometric(self.k, self.w),)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "subset", "k": self.k, "epsilon0": self.epsilon0, "size": self.w}
