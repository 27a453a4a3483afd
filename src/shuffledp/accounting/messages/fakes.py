"""Fakes per bucket: what they hide when a true report moves from one bucket to another.

Every bucket receives Z fakes, independently of all data and of each other. Replacing one true
report compares (Z0 + 1, Z1) with (Z0, Z1 + 1), a product of two pairs on whole numbers. With a
shuffler that keeps each report with probability ``keep`` only, + 1 happens with that probability.
Write h and z for the laws of a bucket with and without the target, x = e^eps. If the report was
randomized by k-RR before (p for the truth, q for every other value), the view of two buckets has

    P0 - x P1 = (p - xq) h0 z1 - (xp - q) z0 h1 - (x - 1) q (k - 2) z0 z1 ,

and given the count in one bucket it is positive where h0/z0 is above a threshold: delta is a sum
over one bucket of tails over the other, sorted by their ratios. This is what two buckets show, a
lower end; all k of them show at most what is left without the last term. For true reports, p = 1,
the two are one number. Nothing is approximated but what lies ``outside`` the window of counts, and
that counts as seen.

``DiscretePair`` is such a pair of laws, atom by atom: sorted by their ratios once, and then delta
is two tails at any epsilon.

*Fakes that users send: what they hide, as a haystack.*

Of every honest person's ``slots`` slots each holds, with probability ``chance``, a fake: a uniform
value; else a blank. Whoever knows what all others hold sees the target's report among those fakes,
the target's own included.

*True reports.* The needles are point masses and the hay is the fakes, so both ends are one number.

*Reports randomized by k-RR.* Another person's report is uniform with probability gamma =
k / (e^eps0 + k - 1), and then it is hay, too. A slot is therefore like another person of k-RR with
gamma = ``chance``, whose truth everybody knows: the theorem of groups covers both. Its lower ends
look at the reports that are neither blank nor v, what all others hold: slots and people send those
alike.

``fake_users`` send a vector of k bits without any set, each bit flipped as in a true one (Cheu and
Zhilyaev 2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.haystack import Haystack, MixedBlanket, MixedDataset, Needle
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.pld import Composition, LossDistribution
from shuffledp.accounting.reductions import Curve
from shuffledp.errors import InvalidInput, check_positive
from shuffledp.randomizers.randomizer import Atoms

OUTSIDE = 1e-40  # the probability that a count lies outside the window
MOST_COUNTS = 2_000_000
ROUNDED = 1e-12  # relative, of probabilities that were added up; absolute, of what is left of 1
NEAR = 1e-9  # of a step: what is so close to the grid is on it
LEAST = 1e-280  # smaller probabilities are left out


@dataclass(frozen=True, slots=True, eq=False)
class BucketDummies:
    """Fakes per bucket: ``chances[i]`` is the probability of ``i`` of them, counted from any first
    one, and ``doubt`` how far each may be off, relatively.
    """

    name: str
    chances: Floats
    keep: float = 1.0
    doubt: float = 4.0 * UNIT
    outside: float = 0.0
    k: int = 2
    epsilon0: float = math.inf

    @classmethod
    def poisson(cls, rate: float) -> BucketDummies:
        """A Poisson number of fakes; users can send them in shares, each a Poisson number.

        >>> lower, upper = BucketDummies.poisson(42.8).bounds(np.array([1.0]))
        >>> 9e-7 < float(lower[0]) <= float(upper[0]) < 1e-6
        True
        """
        rate = check_positive("rate", rate, remedy="It is the mean number of fakes in a bucket.")
        # Chernoff: P(Z >= rate + t) and P(Z <= rate - t) are at most e^(-t^2 / (2 (rate + t/3))).
        reach = 14.0 * math.sqrt(rate) + 66.0
        low, high = max(math.floor(rate - reach), 0), math.ceil(rate + reach)
        if high - low >= MOST_COUNTS:
            raise InvalidInput(
                f"fakes of a bucket must range over at most {MOST_COUNTS:,} counts, got {high - low + 1:,}. Add fewer."
            )
        counts = np.arange(float(low), high + 1.0)
        logs = counts * math.log(rate) - rate - gammaln(counts + 1.0)
        doubt = float(16.0 * UNIT * (2.0 * gammaln(rate + reach + 2.0) + 16.0))  # relative, of log-gamma
        return cls(f"Poisson({rate:g}) fakes", np.exp(logs), doubt=doubt, outside=OUTSIDE)

    def swapped(self) -> BucketDummies:
        return self

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        without = np.append(self.chances, 0.0)
        held = self.keep * np.append(0.0, self.chances) + (1.0 - self.keep) * without
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = held / without
        order = np.argsort(ratio)
        ratio, held, without = ratio[order], held[order], without[order]
        tails = [np.append(np.cumsum(law[::-1])[::-1], 0.0) for law in (held, without)]

        def tested(first: float, second: float, both: float) -> tuple[float, float]:
            """The positive part of first h0 z1 - second z0 h1 - both z0 z1, and its size."""
            with np.errstate(over="ignore"):  # beyond all ratios
                place = np.searchsorted(ratio, (second * ratio + both) / first, side="right")
            gains = first * float(without @ tails[0][place])
            costs = second * float(held @ tails[1][place]) + both * float(without @ tails[1][place])
            return gains - costs, gains + costs

        lower, upper = [], []
        wide = UNIT * (ratio.size + 64.0) + 4.0 * self.doubt
        for epsilon in np.asarray(epsilons, dtype=np.float64):
            first, second, both = self._masses(float(epsilon))
            if first <= 0.0:
                lower.append(0.0)
                upper.append(0.0)
                continue
            most, size = tested(first, second, 0.0)
            least, less = (most, size) if both == 0.0 else tested(first, second, both)
            lower.append(max(least - wide * less - 4.0 * self.outside * (first + second + both), 0.0))
            upper.append(min(max(most, 0.0) + wide * size + 4.0 * self.outside, 1.0))
        return np.array(lower), np.array(upper)

    def repeated(self, rounds: int, spacing: float) -> Composition | None:
        """The losses of the two counts, rounded down to a grid, and infinite ones of counts that
        only one of two values can have. None for randomized reports, or if no loss is finite.
        """
        without = np.append(self.chances, 0.0)
        held = self.keep * np.append(0.0, self.chances) + (1.0 - self.keep) * without
        both = (held > 0.0) & (without > 0.0)
        if self.epsilon0 < math.inf or not np.any(both):
            return None
        loss = np.log(held[both]) - np.log(without[both])
        loss -= loss[np.argmax(held[both])]  # of both counts: it cancels, and all that is left may lie on the grid
        places = [np.floor(each / spacing + NEAR).astype(np.int64) for each in (loss, -loss)]
        laws = [
            np.bincount(place - place.min(), weights=law[both])
            for place, law in zip(places, (held, without), strict=True)
        ]
        mass: Floats = np.convolve(laws[0], laws[1]).astype(np.float64) * (1.0 - 4.0 * self.doubt - ROUNDED)
        index, seen = sum(float(place.min()) for place in places) + np.arange(float(mass.size)), mass > LEAST
        lost = 4.0 * (self.doubt + self.outside) + ROUNDED
        certain = max(1.0 - float(held[both].sum()) * float(without[both].sum()) - lost, 0.0)
        above = 2.0 * (NEAR * spacing + 4.0 * self.doubt + ROUNDED)  # the logarithms are right to so much, too
        return Composition([(LossDistribution(spacing, index[seen], mass[seen], certain, above), rounds)])

    def _masses(self, epsilon: float) -> tuple[float, float, float]:
        """p - xq, xp - q and (x - 1) q (k - 2), right to a few units in the last place."""
        growth = math.expm1(epsilon)
        if self.epsilon0 == math.inf:
            return 1.0, 1.0 + growth, 0.0
        norm = math.expm1(self.epsilon0) + self.k
        first = (1.0 + growth) * math.expm1(self.epsilon0 - epsilon) / norm
        return first, math.expm1(self.epsilon0 + epsilon) / norm, growth * (self.k - 2) / norm


@dataclass(frozen=True, eq=False)
class DiscretePair:
    """``first[i]`` and ``second[i]`` are the probabilities of atom i, off by ``doubt`` relatively;
    at most ``outside`` of either law is missing, and counts as seen.
    """

    name: str
    first: Floats
    second: Floats
    doubt: float
    outside: float

    def __post_init__(self) -> None:
        # A window that is too narrow for its law would prove too much.
        for law in (self.first, self.second):
            if abs(float(law.sum()) - 1.0) > self._wide + self.outside:
                raise AssertionError(f"the laws of a pair must sum to 1, got {law.sum()!r}")

    @property
    def _wide(self) -> float:
        """How far a sum of probabilities may be off, relatively."""
        return UNIT * (self.first.size + 64.0) + 4.0 * self.doubt

    def swapped(self) -> DiscretePair:
        return replace(self, first=self.second, second=self.first)

    @cached_property
    def _tails(self) -> tuple[Floats, Floats, Floats]:
        """Ratios, ascending, and the masses of both laws from each of them up."""
        seen = (self.first > 0.0) | (self.second > 0.0)
        first, second = self.first[seen], self.second[seen]
        with np.errstate(divide="ignore"):
            ratio = first / second
        order = np.argsort(ratio)
        tails = [np.append(np.cumsum(law[order][::-1])[::-1], 0.0) for law in (first, second)]
        return ratio[order], tails[0], tails[1]

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        ratio, first, second = self._tails
        growth = np.exp(np.asarray(epsilons, dtype=np.float64))
        place = np.searchsorted(ratio, growth, side="right")
        gains, costs = first[place], growth * second[place]
        error = self._wide * (gains + costs)
        lower = gains - costs - error - 2.0 * self.outside * growth
        return np.maximum(lower, 0.0), np.minimum(np.maximum(gains - costs, 0.0) + error + 2.0 * self.outside, 1.0)


FEW = 400.0  # fakes of a value: so many pairs of counts are sooner listed than integrated over
VECTOR_OUTSIDE = 2e-40  # Chernoff: less than that is more than 14 deviations and 66 away
HAY_ROUNDED = 1e-13  # relative, of a chance that became a parameter and is a chance again


def uniform_fakes(buckets: int, fakes: int, chance: float) -> Curve:
    """True reports among ``fakes`` fakes, each of which is sent with probability ``chance`` and
    names a uniformly random bucket (Luo, Wang and Yi 2022).
    """
    name, share = f"{fakes} uniform fakes", chance / buckets
    if fakes * share <= FEW:
        return _counted(name, fakes, share)
    atoms = Atoms(name, np.array([share, share]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    return Haystack.of(atoms, fakes + 1)


def _counted(name: str, fakes: int, share: float) -> DiscretePair:
    """The same, where there are few fakes of a value, by all pairs of counts (a, b): fakes! /
    ((fakes - a - b)! a! b!) share^(a+b) (1 - 2 share)^(fakes-a-b), which depends on a + b but for
    a! b!.
    """
    mean = fakes * share
    most = min(math.ceil(mean + 14.0 * math.sqrt(mean) + 66.0), fakes)
    one, both = np.arange(most + 1), np.arange(2 * most + 1)
    left, possible = np.maximum(fakes - both, 0.0), both <= fakes
    # Factor by factor: by log-gamma, a large number of fakes would lose all digits.
    ways = np.append(0.0, np.cumsum(np.log(np.maximum(left[:-1], 1.0))))
    none = left * math.log1p(-2.0 * share) if share < 0.5 else np.where(left > 0.0, -np.inf, 0.0)
    logs = np.where(possible, ways + both * math.log(share) + none, -np.inf)
    apart = gammaln(one + 1.0)
    law = np.exp(logs[np.add.outer(one, one)] - np.add.outer(apart, apart))
    doubt = 8.0 * UNIT * (float(ways[-1] + 2.0 * apart[-1]) + 2.0 * most * -math.log(share) + 16.0)
    first, second = np.zeros((2, most + 2, most + 2))
    first[1:, :-1] = law
    second[:-1, 1:] = law
    return DiscretePair(name, first.ravel(), second.ravel(), doubt, VECTOR_OUTSIDE)


def uniform_fakes_and_reports(
    k: int, epsilon0: float, others: int, fakes: int, chance: float
) -> tuple[MixedBlanket, tuple[Curve, ...]]:
    """An upper end, and lower ends, for k-RR among ``others`` and ``fakes``."""

    def needle(share: float) -> Needle:
        known = math.log1p(k * (1.0 - share) / share)
        groups = ((epsilon0, others), (known, fakes))
        return Needle(k, epsilon0, tuple((each, number) for each, number in groups if number))

    # Fewer fakes hide less, and more of them hide more: rounding does no harm.
    upper = MixedBlanket(needle(chance * (1.0 - HAY_ROUNDED)))
    held = MixedBlanket(needle(min(chance * (1.0 + HAY_ROUNDED), 1.0)))
    return upper, tuple(MixedDataset(held, holder=holder) for holder in range(min(k, 3)))
