"""One of several levels of bins: everybody reports, by k-ary randomized response, the node that
holds their bin in one level, chosen at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.matrix import Unmixed
from shuffledp.randomizers.randomizer import Atoms, GroupLaw, Ints, Randomizer
from shuffledp.randomizers.support import Counted, VotingRandomizer, bits_for, histogram
from shuffledp.randomizers.wrappers.check_in import VotingCheckIn
from shuffledp.randomizers.wrappers.one_of import OneOf
from shuffledp.randomizers.wrappers.wrapper import check_rows
from shuffledp.sampling import Source

FEWEST = 3  # nodes of a level: two for a pair of people, and one for all others


@dataclass(frozen=True, slots=True, repr=False)
class OneLevel(Counted):
    """``OneOf``, whose questions are about the levels of the same bins, coarse ones first: the bin
    x of k is in node floor(x m / k) of a level of m nodes, and the last level is the bins.

    A report is the number of a node, counted through all levels. One of the last level votes for
    its bin, all others vote for none; a ``tally`` counts the reports of every node, and
    ``mechanisms.levels`` makes the best of them.

    >>> law = OneLevel.of_sizes(sizes=(4, 16), epsilon0=4.0)
    >>> law.k, law.form.outputs, law.nodes(np.array([0, 7, 15])).tolist()
    (16, 20, [[0, 0], [1, 7], [3, 15]])
    """

    law: OneOf

    table = None  # that of the wrapper is by answers, not by bins

    @classmethod
    def of(cls, given: Randomizer) -> OneLevel | None:
        """``given``, if it is one of several levels."""
        if isinstance(given, OneLevel) or not isinstance(given, OneOf):
            return given if isinstance(given, OneLevel) else None
        sizes = [part.k if isinstance(part, KRR) else 0 for part in given.parts]
        falling = any(coarse >= fine for coarse, fine in pairwise(sizes))
        if min(sizes) < FEWEST or falling or given.form.outputs is None:
            raise InvalidInput(
                f"levels must be KRR, coarse first, of {FEWEST} nodes or more, got {given.describe()}. Sort them."
            )
        return cls(given)

    @classmethod
    def of_sizes(cls, *, sizes: tuple[int, ...], epsilon0: float) -> OneLevel:
        """Levels of so many nodes, each as likely as the others, with the same epsilon0."""
        made = cls.of(OneOf([KRR(k=size, epsilon0=epsilon0) for size in sizes]))
        assert made is not None
        return made

    def __repr__(self) -> str:
        return f"OneLevel({self.law!r})"

    @property
    def levels(self) -> tuple[KRR, ...]:
        """How each level is reported."""
        return tuple(part for part in self.law.parts if isinstance(part, KRR))

    @property
    def k(self) -> int:  # type: ignore[override]
        """How many bins there are."""
        return self.levels[-1].k

    def nodes(self, values: NDArray[Any]) -> Ints:
        """The node of each bin in each level: a row per value."""
        return np.stack([values.astype(np.int64) * level.k // self.k for level in self.levels], axis=1)

    @property
    def rows(self) -> Floats:
        """The law that runs: for each bin, the probability of each report."""
        nodes, laws = self.nodes(np.arange(self.k)), []
        for place, (level, share) in enumerate(zip(self.levels, self.law.realised.shares, strict=True)):
            law = np.full((self.k, level.k), share * level.miss)
            law[np.arange(self.k), nodes[:, place]] += share * level.contrast
            laws.append(law)
        return np.concatenate(laws, axis=1)

    @property
    def bits(self) -> int:
        return bits_for(self.tally_size)

    @property
    def hit(self) -> float:
        return self._last * self.levels[-1].hit

    @property
    def miss(self) -> float:
        return self._last * self.levels[-1].miss

    @property
    def contrast(self) -> float:
        return self._last * self.levels[-1].contrast

    @property
    def _last(self) -> float:
        """How likely the last level is."""
        return self.law.realised.shares[-1]

    def group_law(self, size: int, people: int) -> GroupLaw:
        return GroupLaw(self.hit + (size - 1) * self.miss, size * self.miss, self.contrast)

    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        return check_rows(reports, self.form)

    @property
    def _words(self) -> int:
        return len(self.levels)

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        return self.law.randomize(self.nodes(values), rng=source)

    def _tally(self, reports: NDArray[Any]) -> Ints:
        return self.tally(reports)[-self.k :]

    def tally(self, reports: ArrayLike) -> Ints:
        return histogram(self.check_reports(reports), self.tally_size)

    @property
    def tally_size(self) -> int:
        return sum(level.k for level in self.levels)

    def adds_up(self, tally: Ints, reports: int) -> bool:
        return bool(tally.min() >= 0) and sum(tally.tolist()) == reports

    def opened(self, tally: Ints) -> tuple[int, Ints, Ints]:
        return int(tally.sum()), tally[:0], tally

    def favours(self, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the node that was reported holds the value."""
        ends = np.cumsum([level.k for level in self.levels])
        level = np.searchsorted(ends, reports, side="right")
        held = self.nodes(values)[np.arange(len(values)), level]
        return np.asarray(reports - (ends - [each.k for each in self.levels])[level] == held)

    @property
    def realised(self) -> OneLevel:
        return OneLevel(self.law.realised)

    @property
    def worst_pair(self) -> tuple[object, object]:
        """The first bin and the last, which no level has in one node; none leaks more (theory,
        "Wrappers").
        """
        return 0, self.k - 1

    def datasets(self) -> tuple[Atoms, ...]:
        """All others share a bin of the pair, or one that no level puts with either."""
        kinds = zip(*(level.datasets() for level in self.levels), strict=True)
        return tuple(self.law._combined(kind, "lower") for kind in kinds)


def voting(given: object, *, ordered: bool) -> VotingRandomizer | None:
    """``given`` as a law whose reports can be counted: they vote, or it has a matrix. Where places
    are ``ordered``, it may be one of several levels. None if it is no such law.
    """
    if isinstance(given, VotingRandomizer) or not isinstance(given, Randomizer):
        return given if isinstance(given, VotingRandomizer) else None
    levels = OneLevel.of(given) if ordered else None
    return levels or VotingCheckIn.of(given) or Unmixed.of(given)
