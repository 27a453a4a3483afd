"""Dummy noise: what fake reports hide when true ones are sent as they are.

Users, or the shuffler, add fakes that do not depend on data, so that only the target's report
moves: the needles are known, the hay is the fakes, and both ends meet.

*Counts per bucket.* Every bucket receives Z fakes, independently. Replacing one true report moves
it from one bucket to another: (Z0 + 1, Z1) against (Z0, Z1 + 1), a product of two pairs on whole
numbers. With a shuffler that keeps each report with probability ``keep`` only, + 1 happens with
that probability. The product's delta is a sum over one bucket of tails over the other, sorted by
their losses; nothing is approximated but what lies outside the window of counts, and that counts as
seen.

*Fakes that are reports.* ``uniform_fakes`` are uniform values, each sent with a probability;
``fake_users`` send a vector of k bits without any set, each bit flipped as in a true one (Cheu and
Zhilyaev 2022). Both are haystacks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.errors import InvalidInput, check_count, check_positive, check_probability
from shuffledp.randomizers.randomizer import Atoms

__all__ = ["BucketDummies", "fake_users", "uniform_fakes"]

OUTSIDE = 1e-40  # the probability that a count lies outside the window, in all
MOST_COUNTS = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class BucketDummies:
    """Fakes per bucket: ``chances[i]`` is the probability of ``i`` of them, counted from any first
    one, and ``doubt`` how far each may be off, relatively.
    """

    name: str
    chances: Floats
    keep: float = 1.0
    doubt: float = 1e-13

    @classmethod
    def poisson(cls, rate: float, *, keep: float = 1.0) -> BucketDummies:
        """A Poisson number of fakes; users can send them in shares, each a Poisson number.

        >>> lower, upper = BucketDummies.poisson(42.8).bounds(np.array([1.0]))
        >>> 9e-7 < float(lower[0]) <= float(upper[0]) < 1e-6
        True
        """
        rate = check_positive("rate", rate, remedy="It is the mean number of fakes in a bucket.")
        # Chernoff: P(Z >= rate + t) and P(Z <= rate - t) are at most e^(-t^2 / (2 (rate + t/3))).
        reach = 14.0 * math.sqrt(rate) + 66.0
        low, high = max(math.floor(rate - reach), 0), math.ceil(rate + reach)
        _check_size(high - low + 1)
        counts = np.arange(float(low), high + 1.0)
        logs = counts * math.log(rate) - rate - gammaln(counts + 1.0)
        return cls(f"Poisson({rate:g}) fakes", np.exp(logs), _check_keep(keep), _doubt(rate + reach))

    @classmethod
    def binomial(cls, trials: int, p: float, *, keep: float = 1.0) -> BucketDummies:
        """A binomial number of fakes."""
        trials = check_count("trials", trials, least=1, remedy="It is the largest number of fakes in a bucket.")
        p = check_probability("p", p, remedy="It is the probability of each fake.")
        reach = 14.0 * math.sqrt(trials * p * (1.0 - p)) + 66.0
        low, high = max(math.floor(trials * p - reach), 0), min(math.ceil(trials * p + reach), trials)
        _check_size(high - low + 1)
        counts = np.arange(float(low), high + 1.0)
        ways = gammaln(trials + 1.0) - gammaln(counts + 1.0) - gammaln(trials - counts + 1.0)
        logs = ways + counts * math.log(p) + (trials - counts) * math.log1p(-p)
        return cls(f"Binomial({trials}, {p:g}) fakes", np.exp(logs), _check_keep(keep), _doubt(float(trials)))

    @classmethod
    def geometric(cls, center: int, left: float, right: float, *, keep: float = 1.0) -> BucketDummies:
        """Two-sided geometric noise around ``center``, cut at 0: the probability of a count falls
        by the factor ``left`` with every step below and by ``right`` with every step above it.
        """
        center = check_count("center", center, least=0, remedy="It is the likeliest number of fakes.")
        left, right = (
            check_probability(name, value, zero=True, remedy="It is the factor from one count to the next.")
            for name, value in (("left", left), ("right", right))
        )
        above = math.ceil(100.0 / -math.log(right)) if right > 0.0 else 0
        _check_size(center + above + 1)
        below = np.power(left, np.arange(float(center), 0.0, -1.0))
        weights = np.concatenate([below, np.power(right, np.arange(above + 1.0))])
        total = float(below.sum()) + 1.0 / (1.0 - right)
        return cls(f"two-sided geometric fakes around {center}", weights / total, _check_keep(keep))

    @property
    def variance(self) -> float:
        """Of the number of fakes in a bucket."""
        counts = np.arange(float(self.chances.size))
        center = float(counts @ self.chances) / float(self.chances.sum())
        return float((counts - center) ** 2 @ self.chances)

    def swapped(self) -> BucketDummies:
        """The same with the two buckets exchanged."""
        return self

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both ends of delta at every epsilon >= 0."""
        del gap
        without = np.append(self.chances, 0.0)
        held = self.keep * np.append(0.0, self.chances) + (1.0 - self.keep) * without
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.log(held) - np.log(without)
        order = np.argsort(loss)
        loss, held, without = loss[order], held[order], without[order]
        tails = [np.append(np.cumsum(law[::-1])[::-1], 0.0) for law in (held, without)]
        lower, upper = [], []
        for epsilon in np.asarray(epsilons, dtype=np.float64):
            # The other bucket has the loss -loss; its laws are exchanged.
            first = np.searchsorted(loss, float(epsilon) + loss, side="right")
            gains, costs = without * tails[0][first], math.exp(epsilon) * held * tails[1][first]
            sizes = float(gains.sum() + costs.sum())
            value, error = float((gains - costs).sum()), (UNIT * (loss.size + 64.0) + 4.0 * self.doubt) * sizes
            lower.append(max(value - error - 4.0 * OUTSIDE, 0.0))
            upper.append(min(value + error + 4.0 * OUTSIDE, 1.0))
        return np.array(lower), np.array(upper)


def uniform_fakes(buckets: int, fakes: int, chance: float) -> Haystack:
    """True reports among ``fakes`` fakes, each of which is sent with probability ``chance`` and
    names a uniformly random bucket (Luo, Wang and Yi 2022).
    """
    buckets = check_count("buckets", buckets, least=2, remedy="A report names one of them.")
    fakes = check_count("fakes", fakes, least=1, remedy="Without fakes nothing is hidden.")
    chance = check_probability("chance", chance, one=True, remedy="It is the probability that a fake is sent.")
    share = chance / buckets
    atoms = Atoms(f"{fakes} uniform fakes", np.array([share, share]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    return Haystack.of(atoms, fakes + 1)


def fake_users(fakes: int, flip: float) -> Haystack:
    """A true one-hot vector among ``fakes`` vectors of zeros, all bits flipped with probability
    ``flip``: four classes of vectors, by their bits at the target's two values.
    """
    fakes = check_count("fakes", fakes, least=1, remedy="Without fakes nothing is hidden.")
    flip = check_probability("flip", flip, remedy="It is the probability that a bit is flipped.")
    if flip > 0.5:
        raise InvalidInput(f"flip must be at most 0.5, got {flip!r}. Above, a bit says the opposite: use 1 - flip.")
    kept = 1.0 - flip
    # The bits (at x0, at x1) are 10, 01, 11, 00.
    hay = np.array([flip * kept, kept * flip, flip * flip, kept * kept])
    first = np.array([kept * kept, flip * flip, kept * flip, flip * kept])
    second = np.array([flip * flip, kept * kept, flip * kept, kept * flip])
    return Haystack.of(Atoms(f"{fakes} fake users", hay, first, second), fakes + 1)


def _check_keep(value: object) -> float:
    return check_probability("keep", value, one=True, remedy="It is the probability that a true report is kept.")


def _check_size(size: int) -> None:
    if size > MOST_COUNTS:
        raise InvalidInput(
            f"the fakes of a bucket must range over at most {MOST_COUNTS:,} counts, got {size:,}. Add fewer fakes."
        )


def _doubt(largest: float) -> float:
    """Relative, of a probability by log-gamma at counts up to the largest."""
    return float(16.0 * UNIT * (2.0 * gammaln(largest + 2.0) + 16.0))
