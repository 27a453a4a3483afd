"""A law of several messages and honest people -> curves that bound what is seen of one.

Colluding people hide nobody: only the honest ones' fakes and shares count. The target is one of
them, and its own hide it as well.

*Levels of a tree that are seen side by side, as one curve, and the price in delta of a law that
runs and is not quite the one that was accounted.*

Given the data the counts of different levels are independent, and one person's value changes two
nodes of every level at most: the pair of all levels is the product of theirs, which are all alike.
It is that of as many rounds, and both ends are as good as composition is.

If the laws of what is seen differ in total variation by at most tau, for either input, then

    delta(eps) <= ideal(eps) + (1 + e^eps) tau,   and at least   ideal(eps) - (1 + e^eps) tau.

Cut tables, rounded probabilities, and secrets that are shared but for a small distance all enter
here. delta falls with eps, so that beyond some point the bound is kept as it is.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from functools import cached_property, singledispatch

import numpy as np
from scipy.special import gammaln

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, ROUGH_GAP
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.messages.fakes import BucketDummies, DiscretePair, uniform_fakes, uniform_fakes_and_reports
from shuffledp.accounting.messages.light_laws import LightReport, TooManyViews
from shuffledp.accounting.messages.sums import (
    OUTSIDE,
    CompleteNoise,
    Pairs,
    mixing_distance,
    partial_noise,
    signed_pair,
)
from shuffledp.accounting.pld import Composition
from shuffledp.accounting.reductions import Curve, Reduction, Theorem, reduce
from shuffledp.accounting.rounds import Repeated, Round
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.messages import MessageLaw, ShufflerDummies, SignedUnits, SplitShares, UserFakes
from shuffledp.sampling import WORD
from shuffledp.sampling.draws import log_at_least
from shuffledp.sampling.tables import CountTable
from shuffledp.wording import statement


@dataclass(frozen=True, eq=False)
class ComposedLevels:
    """``one`` is what a level is by itself, of which there are so ``many``."""

    one: Round
    many: int

    @property
    def name(self) -> str:
        return "two values that differ on every level; all others hold a third"

    def swapped(self) -> ComposedLevels:
        """The same: of the two nodes of a level either may lose what the other gains."""
        return self

    @cached_property
    def composed(self) -> Guarantee:
        """What that of as many rounds is."""
        return self.one.compose(self.many)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        return self.end("lower", epsilons, gap), self.end("upper", epsilons, gap)

    def repeated(self, rounds: int, spacing: float) -> Composition | None:
        """The losses of two counts of every level, as of as many rounds."""
        pair: object = self.one.reduction.lowers[0]
        return pair.repeated(rounds * self.many, spacing) if isinstance(pair, Repeated) else None

    def end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        return self.composed.deltas(epsilons, end=end, gap=gap)

    def epsilon(self, end: End, delta: float) -> float:
        return (
            self.composed.epsilon_at_most(delta=delta)
            if end == "upper"
            else self.composed.epsilon_at_least(delta=delta)
        )


POINTS = 257


@dataclass(frozen=True, eq=False)
class Inexact:
    """What a mechanism gives away whose view is within ``distance`` of that of ``ideal``."""

    ideal: Curve
    distance: float

    @classmethod
    def of(cls, ideal: Curve, distance: float) -> Curve:
        """The same curve, if there is no distance; what adds up to more than 1 is 1."""
        return cls(ideal, min(distance, 1.0)) if distance > 0.0 else ideal

    @property
    def name(self) -> str:
        return self.ideal.name

    def swapped(self) -> Curve:
        return Inexact(self.ideal.swapped(), self.distance)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        epsilons = np.asarray(epsilons, dtype=np.float64)
        near = np.minimum(epsilons, self._turning)
        lower, upper = self.ideal.bounds(epsilons, gap)
        if np.any(near < epsilons):
            upper = self.ideal.bounds(near, gap)[1]
        return np.maximum(lower - self._paid(epsilons), 0.0), np.minimum(upper + self._paid(near), 1.0)

    @cached_property
    def _turning(self) -> float:
        """About where the upper end is least; any point would be valid."""
        grid = np.linspace(0.0, max(-math.log(self.distance), 0.0), POINTS)
        return float(grid[np.argmin(self.ideal.bounds(grid, ROUGH_GAP)[1] + self._paid(grid))])

    def _paid(self, epsilons: Floats) -> Floats:
        return np.asarray((1.0 + np.exp(np.minimum(epsilons, 700.0))) * self.distance * (1.0 + 1e-12))


DIGITS = Context(prec=60)
MANY = 10**12  # so many slots that their coins add up to a Poisson number, nearly
MOST_COUNTS = 200_000  # of one bucket; beyond, a lower end is not worth the time
UNKNOWN = DiscretePair("nothing is known from below", np.ones(1), np.ones(1), 0.0, 0.0)


@singledispatch
def reduce_messages(law: MessageLaw, honest: int) -> Reduction:
    """What is proven about one round with so many ``honest`` people."""
    raise InvalidInput(
        f"the view of a law of several messages must be known, got {type(law).__name__} of {honest}. Use UserFakes."
    )


def _reduction(
    theorem: str, uppers: tuple[Curve, ...], lowers: tuple[Curve, ...], ceiling: float, shuffler: str = "messages mixed"
) -> Reduction:
    """Both orders are covered: a value may rise in one round and fall in another."""
    drawn = ceiling < math.inf or shuffler != "honest dummies"  # whether people draw anything
    assumed = ["replace one", shuffler, *["fresh randomness"] * drawn, *["sealed"] * (ceiling == math.inf)]
    return Reduction((Theorem(statement(theorem), uppers),), tuple(map(statement, assumed)), lowers, ceiling)


@reduce_messages.register
def _fakes(law: UserFakes, honest: int) -> Reduction:
    mean = law.slots * law.chance
    distance = 0.0 if law.numbers is None else honest * _from_poisson(law.numbers, mean)
    if law.epsilon0 < math.inf:
        return _light_fakes(law, honest, distance)
    if law.numbers is None:
        curve = uniform_fakes(law.k, honest * law.slots, law.threshold / WORD)
    else:  # the fakes of each value are a Poisson number of their own
        curve = Inexact.of(BucketDummies.poisson(honest * mean / law.k), distance)
    return _reduction("fakes", (curve,), (curve,), math.inf)


def _light_fakes(law: UserFakes, honest: int, distance: float) -> Reduction:
    """``distance``: how far all people's numbers of fakes are from Poisson ones, if so."""
    report, mean = LightReport(law.k, law.epsilon0, honest - 1), law.slots * law.chance
    slots, chance = honest * law.slots, law.threshold / WORD
    try:
        if law.numbers is None:
            upper, lowers = report.among_fakes(slots, chance)
        else:
            upper, lowers = report.among_poisson_fakes(honest * mean / law.k)
    except TooManyViews:
        if law.numbers is not None:  # Le Cam: many coins are a Poisson number but for the sum of their squared chances
            slots, chance = MANY, min(honest * mean / MANY, 1.0)
            distance += chance * honest * mean
        upper, lowers = uniform_fakes_and_reports(law.k, law.epsilon0, honest - 1, slots, chance)
    known = tuple(Inexact.of(lower, distance) for lower in lowers)
    return _reduction("fakes and reports", (Inexact.of(upper, distance),), known, law.epsilon0)


def _from_poisson(table: CountTable, mean: float) -> float:
    """How far a table is from a Poisson number, in total variation: by how much it exceeds its
    probabilities, to 50 digits. Many people have it, and what floats lose would add up.
    """
    with localcontext(DIGITS):  # the caller's may have any precision
        rate = Decimal(mean)
        ideal, excess = (-rate).exp(), Decimal(0)
        for count in range(table.last + 1):
            if count >= table.first:
                excess += max(Decimal(table.weights[count - table.first]) / WORD - ideal, Decimal(0))
            ideal *= rate / (count + 1)
    return float(excess) * (1.0 + 1e-12) + OUTSIDE


@reduce_messages.register
def _dummies(law: ShufflerDummies, honest: int) -> Reduction:
    name = f"all others hold a third value; {law.kind} dummies"
    plain = BucketDummies(name, law.numbers.chances, law.kept)
    if law.epsilon0 == math.inf:
        quiet = law.k > 2 or law.kept == 1.0  # or else the messages of others that are kept blur one of the two counts
        lowers = (plain,) if quiet else _one_bucket(plain, 1.0, 0.0, 0)
        return _reduction("dummies", (plain,), lowers, math.inf, "honest dummies")
    report, chances = LightReport(law.k, law.epsilon0, honest - 1), law.numbers.chances
    upper: Curve = replace(plain, k=law.k, epsilon0=law.epsilon0)
    with suppress(TooManyViews):
        upper = report.among_dummies(chances, law.kept)
    lowers = ()
    if law.k > 2:
        with suppress(TooManyViews):
            lowers = (report.seen_with_dummies(chances, law.kept),)
    lowers = lowers or _one_bucket(plain, report.hit, report.miss, honest - 1)
    found = _reduction("dummies", (upper,), lowers, law.epsilon0, "honest dummies")
    # Keeping some of the shuffled reports and adding others is something that anybody could do; its
    # curve takes long, and is left out where dummies hide more.
    alone = reduce(KRR(k=law.k, epsilon0=law.epsilon0), honest, "shuffled")
    at = np.array([min(1.0, 0.5 * law.epsilon0)])
    most = [max(float(curve.bounds(at, ROUGH_GAP)[1][0]) for curve in one.uppers) for one in (found, alone)]
    return replace(found, theorems=found.theorems + alone.theorems) if most[1] < most[0] else found


def reduce_levels(level: Reduction, composed: ComposedLevels) -> Reduction:
    """What is proven of several levels, each like a round: together one pair."""
    return replace(level, theorems=(Theorem(statement("tree"), (composed,)),), lowers=(composed,))


def _one_bucket(plain: BucketDummies, hit: float, miss: float, others: int) -> tuple[Curve, ...]:
    """The count of one value alone, if all others hold another one, in both orders."""
    p = miss * plain.keep
    reach = 14.0 * math.sqrt(others * p) + 66.0
    low, high = max(math.floor(others * p - reach), 0), min(math.ceil(others * p + reach), others)
    if high - low > MOST_COUNTS:
        return (UNKNOWN,)
    counts, doubt = np.arange(float(low), high + 1.0), 0.0
    blur = np.ones(1)
    if p > 0.0:
        ways = gammaln(others + 1.0) - gammaln(counts + 1.0) - gammaln(others - counts + 1.0)
        blur = np.exp(ways + counts * math.log(p) + (others - counts) * math.log1p(-p))
        doubt = 64.0 * np.finfo(float).eps * (2.0 * float(gammaln(others + 2.0)) + 16.0)
    law = np.append(np.convolve(plain.chances, blur), 0.0)
    more = np.append(0.0, law[:-1])
    first, second = (law + chance * plain.keep * (more - law) for chance in (hit, miss))
    name = "the count of one value, which no other holds"
    pair = DiscretePair(name, first, second, plain.doubt + doubt + 1e-13, 1e-40)
    return pair, pair.swapped()


@reduce_messages.register
def _signed(law: SignedUnits, honest: int) -> Reduction:
    ratio, share, cut = float(law.ratio), honest / law.honest, float(law.cut)
    # Whatever more people add than make the noise complete, with it less is shown.
    enough = min(share, 1.0)
    uppers = _both(Inexact.of(signed_pair(enough, ratio, Pairs(law.pairs * enough)), min(honest, law.honest) * cut))
    lowers: tuple[Curve, ...] = (UNKNOWN,)
    with suppress(InvalidInput):  # too many terms
        lowers = _both(Inexact.of(signed_pair(share, ratio, Pairs(law.pairs * share)), honest * cut))
    return _reduction("signed units", uppers, lowers, math.inf)


@reduce_messages.register
def _split(law: SplitShares, honest: int) -> Reduction:
    share, shift, cut = honest / law.honest, law.k - 1, float(law.cut)
    distance = min(honest, law.honest) * cut + mixing_distance(honest, law.messages, law.modulus)
    complete = CompleteNoise(log_at_least(1 / law.ratio), shift)
    upper = complete if share >= 1.0 else partial_noise(share, float(law.ratio), shift)
    # Whoever adds up all shares sees the sum itself, unless it may wrap around.
    exact: Curve = UNKNOWN
    if honest <= law.most_people:
        with suppress(InvalidInput):  # too many terms
            exact = complete if share == 1.0 else partial_noise(share, float(law.ratio), shift)
    curve, lower = Inexact.of(upper, distance), Inexact.of(exact, honest * cut)
    return _reduction("split shares", (curve,), (lower,), math.inf)


def _both(curve: Curve) -> tuple[Curve, ...]:
    return curve, curve.swapped()
