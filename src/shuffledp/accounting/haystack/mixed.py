"""k-ary randomized response with a parameter of their own for every group of users (theory, "Every
user a parameter of their own").

User i says the truth or, with probability gamma_i = k / (e^(epsilon_i) + k - 1), a uniformly random
value: all share the uniform hay. Whoever knows which of the others said the truth removes them and
sees the target's report among N reports of hay, N the sum of independent coins. So

    delta(eps) <= sum over m of P(N = m - 1) / m * E( L_1 + ... + L_m )_+ ,

with L = k (mu_0 - e^eps mu_1) of a uniform value and mu the target's own laws. 1/m is the integral
of e^(-mt): rules of Gauss' kind replace it by sums of a few exponentials, from below and from
above, and each of these is a product of powers.

The lower end is a dataset, all others holding the same value v, and a test of it. Given the number
m of reports that are not v these are uniform but for the target's, and the ratio of the test's two
hypotheses is linear in them; how it depends on m is linear, too, if all parameters are equal, and
is made linear otherwise: every test is valid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.special import roots_genlaguerre, roots_jacobi, roots_laguerre, roots_legendre

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.haystack.powers import ThinnedScores, advantage, ramp_ends
from shuffledp.accounting.inversion import geometric, halve, within

RULE_MARGIN = 1e-11  # relative: rounding of the rules' nodes and weights
FEW_ITEMS, LAGUERRE = 400.0, 16
NEAREST = 1e-9  # an epsilon so near to epsilon0 leaves nothing to gain but rounding
TINY_TAIL = 25.0  # e^-25 of delta is left to views with unusually few items
THIRD = "all others hold a third value"


@dataclass(frozen=True, slots=True)
class Needle:
    """A target with its own ``epsilon0``, among others: for each group, how many there are beside
    the target, and their epsilon0.
    """

    k: int
    epsilon0: float
    others: tuple[tuple[float, int], ...]

    @property
    def count(self) -> Floats:
        """How many others every group has."""
        return np.array([float(number) for _, number in self.others])

    @property
    def gammas(self) -> Floats:
        """The probability of a uniformly random report, group by group."""
        return np.array([self.k / (math.expm1(epsilon) + self.k) for epsilon, _ in self.others])

    def masses(self, epsilon: float) -> tuple[float, float, float]:
        """mu_0 - e^eps mu_1 at x0, at x1, and at every other value."""
        norm = math.expm1(self.epsilon0) + self.k
        first = math.exp(epsilon) * math.expm1(self.epsilon0 - epsilon) / norm
        return first, -math.expm1(self.epsilon0 + epsilon) / norm, -math.expm1(epsilon) / norm


@dataclass(frozen=True, slots=True, eq=False)
class MixedBlanket:
    """The upper end for one target: the others' truthful reports are known and removed."""

    needle: Needle
    _known: dict[tuple[float, float], tuple[float, float]] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return f"blanket; target with epsilon0 = {self.needle.epsilon0:g}"

    def swapped(self) -> MixedBlanket:
        """The same: k-RR treats all values alike."""
        return self

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        ends = [self._at(float(epsilon), gap) for epsilon in epsilons]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    def _at(self, epsilon: float, gap: float) -> tuple[float, float]:
        if epsilon >= self.needle.epsilon0:
            return 0.0, 0.0
        if (epsilon, gap) not in self._known:
            self._known[epsilon, gap] = self._ends(epsilon, gap)
        return self._known[epsilon, gap]

    def _ends(self, epsilon: float, gap: float) -> tuple[float, float]:
        k, masses, count = self.needle.k, self.needle.masses(epsilon), self.needle.count
        alone = masses[0]  # of one report by itself, and at most that among others
        if count.sum() == 0.0:
            return alone * (1.0 - 16.0 * UNIT), alone * (1.0 + 16.0 * UNIT)
        # A score so negative that all others cannot make up for it may as well be less negative.
        score = np.array([max(mass / alone, -(count.sum() + 2.0)) for mass in masses])[: min(k, 3)]
        law = ThinnedScores(
            np.array([1.0, 1.0, k - 2.0])[: min(k, 3)] / k, score, 4.0 * np.abs(score), self.needle.gammas, count
        )
        items = float(count @ law.keep)
        unlikely = TINY_TAIL + _log_share(law) + math.log1p(items)
        t, low, high, least = reciprocal(items, float(count.sum()), unlikely)
        lower, upper = ramp_ends(law, t, low, high, gap)
        # Views of fewer items than the rule is good for: Chernoff's bound on the lower tail.
        missing = math.exp(-((items + 2.0 - least) ** 2) / (2.0 * items)) if least > 1.0 else 0.0
        unit = k * alone
        return unit * lower * (1.0 - 16.0 * UNIT), min(unit * upper + missing * alone, alone) * (1.0 + 16.0 * UNIT)


def _log_share(law: ThinnedScores) -> float:
    """About how many powers of e a delta by Chernoff's bound is below that of one report."""
    grid = np.geomspace(1e-6, 30.0, 16)
    values = [float(law.log_powers(a)[0]) + math.log1p(law.excess(a)) - 1.0 - math.log(a) for a in grid]
    return max(-min(values), 0.0)


def reciprocal(items: float, most: float, unlikely: float) -> tuple[Floats, Floats, Floats, float]:
    """Nodes t and weights low, high with sum low e^(-t (m-1)) <= 1/m for m >= 1, and sum high
    e^(-t (m-1)) >= 1/m for all m >= the last value; close together where m is about ``items`` + 1.

    1/m is the integral of z^(m-1) over [0, 1], and of e^(-mt) over t > 0. All derivatives of these
    have one sign: Gauss' rule errs to one side and Radau's, with the node z = 1, to the other
    (Davis and Rabinowitz 1984, section 2.7). Over t the weight e^(-least t) is taken out, and the
    sign is right for m >= least.
    """
    if items <= FEW_ITEMS:
        far = min(most + 1.0, items + 12.0 * math.sqrt(items) + 40.0)
        size = max(2, math.ceil(min(0.5 * most + 2.0, 12.0 + 3.0 * math.sqrt(far))))
        node, weight, inner, moment = _legendre(size)
        t = np.concatenate([-np.log(0.5 * (1.0 + node)), -np.log(0.5 * (1.0 + inner)), [0.0]])
        low = np.concatenate([0.5 * weight, np.zeros(size)])
        high = np.concatenate([np.zeros(size), 0.5 * moment / (1.0 - inner), [1.0 / size**2]])
        return t, low * (1.0 - RULE_MARGIN), high * (1.0 + RULE_MARGIN), 1.0
    least = math.floor(max(items + 1.0 - math.sqrt(2.0 * items * unlikely), 0.4 * items))
    node, weight, inner, moment = _laguerre(LAGUERRE)
    near = items + 1.0
    t = np.concatenate([node / near, inner / least, [0.0]])
    low = np.concatenate([weight * np.exp(node - node / near) / near, np.zeros(LAGUERRE)])
    beyond = moment / inner * np.exp(inner - inner / least) / least
    high = np.concatenate([np.zeros(LAGUERRE), beyond, [1.0 / LAGUERRE / least]])
    return t, low * (1.0 - RULE_MARGIN), high * (1.0 + RULE_MARGIN), float(least)


@lru_cache(maxsize=64)
def _legendre(size: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Gauss' nodes and weights on [-1, 1], and those for the weight 1 - x (Radau's rule)."""
    return (*roots_legendre(size), *roots_jacobi(size - 1, 1.0, 0.0))


@lru_cache(maxsize=4)
def _laguerre(size: int) -> tuple[Floats, Floats, Floats, Floats]:
    """The same on [0, infinity) with the weights e^-x and x e^-x."""
    return (*roots_laguerre(size), *roots_genlaguerre(size - 1, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class MixedDataset:
    """A lower end for one target: all others hold x0, x1, or a third value (``holder`` 0, 1, 2);
    with two values, ``share`` of every group hold x0 and the others x1.

    Its upper end is the blanket's, which no dataset exceeds.
    """

    blanket: MixedBlanket
    holder: int = 2
    share: float | None = None

    @property
    def name(self) -> str:
        if self.share is not None:
            held = f"{self.share:.0%} of all others hold x0, the rest x1"
        else:
            held = ("all others hold x0", "all others hold x1", THIRD)[self.holder]
        return f"{held}; target with epsilon0 = {self.blanket.needle.epsilon0:g}"

    def swapped(self) -> MixedDataset:
        """The target's two inputs exchanged; which is the same with x0 and x1 exchanged."""
        if self.share is not None:
            return MixedDataset(self.blanket, share=1.0 - self.share)
        return MixedDataset(self.blanket, holder=(1, 0, 2)[self.holder])

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """What the test gains, and the blanket's upper end, at every epsilon >= 0."""
        _, upper = self.blanket.bounds(epsilons, gap)
        lower = np.array([self._gain(float(epsilon), gap) for epsilon in epsilons])
        return np.minimum(lower, upper), upper

    def _gain(self, epsilon: float, gap: float) -> float:
        needle = self.blanket.needle
        if epsilon >= needle.epsilon0 - NEAREST:
            return 0.0
        if self.share is not None:
            return _binary_gain(needle, self.share, epsilon, gap)
        return _plain_gain(needle, self.holder, epsilon, gap)


def _plain_gain(needle: Needle, holder: int, epsilon: float, gap: float) -> float:
    """All others hold one value v. With m reports that are not v the test's ratio is that of

        w(v) rho(m) + sum over them of (k - 1) w(report),    rho(m) = m P(N = m) / P(N = m - 1),

    where N of the others' reports are not v. rho is replaced by a tangent.
    """
    k, (first, second, other) = needle.k, needle.masses(epsilon)
    weight = (first, second, other)[holder]
    classes = [(first, 1.0), (second, 1.0), (other, k - 2.0)]
    classes[holder] = (classes[holder][0], classes[holder][1] - 1.0)
    free = [(mass, number) for mass, number in classes if number > 0.0]
    mass, number = np.array(free).T
    keep, count = needle.gammas * (k - 1.0) / k, needle.count
    unit = (k - 1.0) * first
    at = float(keep @ count) + 1.0
    for _ in range(3):
        level, slope = _tangent(keep, count, at)
        score = ((k - 1.0) * mass + weight * slope) / unit
        score = np.maximum(score, -1e9)
        offset = weight * (level - slope * at) / unit
        law = ThinnedScores(number / number.sum(), score, 0.0 * score, keep, count)
        found = _likeliest(law, offset)
        if abs(found - at) < 1e-3 * math.sqrt(at):
            break
        at = found
    moves, counts = np.append(score, 0.0), np.append(mass * number, weight)
    sizes = np.append(number, 1.0) * max(abs(first), abs(second))
    return advantage(law, moves, counts, sizes, offset, gap)


def _likeliest(law: ThinnedScores, offset: float) -> float:
    """About how many items the views have on the border of the test."""
    low, high = 1e-9, 600.0 / float(np.abs(law.score).max())
    ends = halve(lambda a: law.moments(a)[0] + offset < 2.0 / a, low, high, middle=geometric, close=within(0.1))
    return float(law.count @ law.held(geometric(*ends))[0]) + 1.0


def _tangent(keep: Floats, count: Floats, at: float) -> tuple[float, float]:
    """m P(N = m) / P(N = m - 1) at m = ``at`` and its slope there, for a sum N of coins."""
    if count.sum() == 0.0:
        return 1.0 - at, -1.0
    odds = keep / (1.0 - keep)
    if odds.max() <= odds.min() * (1.0 + 1e-12):
        return float(odds[0] * (count.sum() - at + 1.0)), float(-odds[0])

    # Under the tilt whose mode is m the ratio P(m) / P(m - 1) is 1 over the tilt.
    def held(tilt: float) -> Floats:
        return np.asarray(odds * tilt / (1.0 + odds * tilt))

    few, many = 1e-12, 1e12
    low, _ = halve(lambda tilt: float(count @ held(tilt)) < at - 0.5, few, many, middle=geometric, close=within(1e-9))
    spread = float(count @ (held(low) * (1.0 - held(low))))
    return at / low, (1.0 - at / max(spread, 1e-300)) / low


def _binary_gain(needle: Needle, share: float, epsilon: float, gap: float) -> float:
    """Two values, some of every group holding x0: the test counts the reports of x0."""
    first, second, _ = needle.masses(epsilon)
    lies, count = 0.5 * needle.gammas, needle.count
    holding = np.floor(share * count)
    keep, count = np.concatenate([1.0 - lies, lies]), np.concatenate([holding, count - holding])
    ratio = -second / first  # P(c - 1) / P(c) must exceed it
    least = math.ceil(float(count @ (keep * ratio / (1.0 - keep + keep * ratio))) + 0.5)  # keep may round to 1
    law = ThinnedScores(np.ones(1), np.ones(1), np.zeros(1), keep, count)
    moves, counts = np.array([1.0, 0.0]), np.array([first, second])
    sizes = np.abs(counts)
    return max(advantage(law, moves, counts, sizes, 0.5 - level, gap) for level in (least, least - 1, least + 1))
