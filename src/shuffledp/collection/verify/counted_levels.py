"""The law of one of several levels, by counting: that of each level, as often as the level is
chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, permutations
from typing import Any

from shuffledp.collection.verify.counted_law import REMEDY, WORD, Classes, CountedLaw, not_run, read_integers
from shuffledp.collection.verify.effort import LARGEST_EPSILON
from shuffledp.errors import InvalidInput

__all__ = ["LEVELS", "CountedLevels", "counted_law"]

LEVELS = "one of"
GRID = 2**53  # of which weights are multiples
FEWEST, MOST_LEVELS, MOST_BINS = 3, 16, 1024


@dataclass(frozen=True)
class CountedLevels(CountedLaw):
    """``levels`` of k-ary randomized response about the same bins, coarse ones first; the words out
    of 2^64 that mean each level are the ``integers``, of the ``weights`` that were written.
    """

    levels: tuple[CountedLaw, ...] = ()
    weights: tuple[float, ...] = ()

    @classmethod
    def of(cls, law: Mapping[str, Any]) -> CountedLevels:
        """Read what a design says."""
        try:
            levels = tuple(CountedLaw.of(each) for each in law["questions"])
            weights = tuple(Fraction(each) for each in law["weights"])
            integers = read_integers(law)
            epsilon0 = float(law["epsilon0"])
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise InvalidInput(
                f"the law of levels must have questions, weights, epsilon0 and integers, got {str(law)[:60]!r}. "
                f"{REMEDY}"
            ) from None
        sizes = [level.k for level in levels]
        sound = (
            0 < len(levels) <= MOST_LEVELS
            and len(levels) == len(weights) == len(integers)
            and all(level.family == "krr" for level in levels)
            and all(coarse < fine for coarse, fine in pairwise(sizes))
            and FEWEST <= min(sizes) <= max(sizes) <= MOST_BINS
            and 0.0 <= epsilon0 <= LARGEST_EPSILON
            and all(0 < each <= WORD for each in integers)
            and sum(integers) == WORD
        )
        if not sound:
            raise not_run(law)
        return cls(LEVELS, sizes[-1], integers, 0, epsilon0, levels, tuple(map(float, weights)))

    @property
    def places(self) -> int:
        return sum(level.k for level in self.levels)

    @property
    def names(self) -> set[str]:
        return {"randomizer", "epsilon0", "weights", "questions", "integers"}

    @property
    def support(self) -> int | None:
        return None

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """How likely each level is."""
        return tuple(Fraction(each, WORD) for each in self.integers)

    @cached_property
    def implied(self) -> Decimal:
        """The largest of the levels'."""
        return max(level.implied for level in self.levels)

    @cached_property
    def least_integers(self) -> tuple[int, ...]:
        """The weights in multiples of 2^-53; what rounding leaves over goes to the likeliest."""
        rounded = [max(round(Fraction(each) * GRID), 1) for each in self.weights]
        rounded[rounded.index(max(rounded))] += GRID - sum(rounded)
        return tuple(each * (WORD // GRID) for each in rounded)

    @cached_property
    def rows(self) -> list[list[Fraction]]:
        """For every bin x of k, the probability of each report: node floor(x m / k) of a level of m
        nodes, or another.
        """
        chances = [
            (level.k, share * level.hit, share * level.miss)
            for level, share in zip(self.levels, self.shares, strict=True)
        ]
        made = []
        for value in range(self.k):
            row = []
            for nodes, hit, miss in chances:
                own = value * nodes // self.k
                row += [*[miss] * own, hit, *[miss] * (nodes - 1 - own)]
            made.append(row)
        return made

    @cached_property
    def blankets(self) -> tuple[Classes, ...]:
        """Two bins that no level has in one node."""
        return self._mixtures([(pair, None) for pair in permutations((0, 1))])

    @cached_property
    def datasets(self) -> tuple[Classes, ...]:
        """All others in the bin of one of the pair, or in a third that no level has in a node with
        either: there is one, as every level has three nodes.
        """
        held: list[tuple[tuple[int, ...], int | None]] = [
            (pair, place) for pair in permutations((0, 1)) for place in (0, 1)
        ]
        return self._mixtures([*held, ((0, 1, 2), 2), ((1, 0, 2), 2)])

    def _mixtures(self, kinds: Sequence[tuple[tuple[int, ...], int | None]]) -> tuple[Classes, ...]:
        found = []
        for inputs, holder in kinds:
            mass: defaultdict[tuple[Fraction, Fraction], Fraction] = defaultdict(Fraction)
            for level, share in zip(self.levels, self.shares, strict=True):
                for ratios, part in level._classes(inputs, holder).items():
                    mass[ratios] += share * part
            found.append(dict(mass))
        return self._distinct(found)


def counted_law(law: Mapping[str, Any]) -> CountedLaw:
    """The law that a design says, whichever it is."""
    return CountedLevels.of(law) if law.get("randomizer") == LEVELS else CountedLaw.of(law)
