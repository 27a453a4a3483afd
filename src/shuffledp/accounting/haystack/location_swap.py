"""The first-clone swap for a number plus noise: an upper end for all pairs of inputs and all
datasets (theory, "The swap for continuous reports").

With omega = min(mu_0, mu_1) / gamma, which is below mu_v / gamma for every v, a share u of omega
taken from mu_v leaves at least (1 - u') mu_v, u' = u / gamma. So, with x = e^eps and levels 0 = u_0
< ... < u_J < gamma,

    delta  <=  sum over j of [(1-u_j)^n - (1-u_(j+1))^n] F_(j+1)  +  (1-u_J)^n D,
    n F_j = E( G_* + G_2 + ... + G_n )_+ ,

D being the delta of one report alone, and every G_i the score of a kind in ``triples``, divided by
1 - u'_j with probability 1 - u'_j, and 0 otherwise. For c > 0, a step h and a normal Z of deviation
tau (``contour``; the trapezoidal rule adds what is not negative),

    E S_+ <= h/(2 pi) sum over k of phi_*(s) prod phi_i(s) e^(tau^2 s^2 / 2) / s^2 ,   s = c + ikh.

Take moduli, |phi_*(s)| <= phi_*(c), and apply Hoelder's inequality to the n - 1 factors, for sums
over k as for integrals: the largest kind's sum, with the same c, bounds every composition.

1. *Levels cost nothing.* With s = (1 - u') t the factor of a kind is 1 + (1-u') (phi(t) - 1): the
   same phi(t) serves all levels.
2. *Most kinds need no line.* |phi(t) / phi(c)|^2 = E cos(y (G - G')) under the tilt, at most
   1 - y^2 p^2 v + y^4 p^2 (m + 3v^2) / 12, where p is the probability of some core of scores, v
   their variance and m their fourth central moment given the core. Only kinds that this does not
   rule out are evaluated, and only the worst few: a bound is a bound.
3. *Caps.* E(sum of G)_+ <= E(sum of min(G, k))_+ + sum of E(G - k)_+, for the first slot as well.
4. *Rounding.* Masses and scores are exact numbers here, rounded so that the value can only grow;
   what the sums may be off is added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx

from shuffledp._types import Floats, Integers
from shuffledp.accounting.accuracy import DEFAULT_GAP, MANY_POINTS_GAP
from shuffledp.accounting.haystack.contour import UNIT, turned
from shuffledp.accounting.haystack.triples import Kinds, SlotLaws, kinds_of_users
from shuffledp.accounting.inversion import halve, whole
from shuffledp.randomizers.location import FirstScores, ScaledNoise

LEVELS = 20
SLACK = 9.0  # views without a swap are rarer than e^-SLACK of delta, if that is possible
THINNEST = 0.9  # u' stays below
FEWEST, RAREST = 8.0, 1e-3  # swaps on average, and gamma
FARTHEST = 50.0  # larger epsilons are left to others
PERIOD, WIDEST = 14.0, 12.0  # in deviations of the sum, which may be very rare, and in 1 / c
SMOOTHING, CUT = 0.1, 4.5  # tau c, and where the line is cut, in 1 / tau
MOST_NODES = 1 << 13
CAPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 14.0)  # in deviations of the sum
FIRST_CAPS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # in 1 / c
FEW_LINES, MOST_LINES = 2, 12
UNSEEN = 1e-3  # of delta: what may be seen of inputs that others need not hide
CORES = (1.5, 4.0, 12.0, 1e3)  # deviations of a score, within which moments are taken
SINGLE, BLOCKS = 96, 64  # nodes
DROPPED = 1e-13
MOST_POINTS = 48  # of a curve
STEPS = 40
HOPELESS = 300.0  # of a bound's logarithm: far above 1, and no overflow


@dataclass(frozen=True, slots=True)
class LocationSwap:
    """The swap's upper end for ``n`` users, whatever they hold."""

    randomizer: ScaledNoise
    n: int

    @property
    def name(self) -> str:
        return "first-clone swap, all pairs and all datasets"

    @property
    def worthwhile(self) -> bool:
        """Whether swaps are so many that something may be gained."""
        return self.randomizer.gamma >= RAREST and self.last >= FEWEST

    @property
    def last(self) -> float:
        """q of the last level: e^-q of all views are without a swap."""
        return -self.n * math.log1p(-THINNEST * self.randomizer.gamma)

    def swapped(self) -> LocationSwap:
        """The same: both orders are covered."""
        return self

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """The bound at every epsilon >= 0, and before it about how low more care could bring it:
        that is no bound, and only says where to look.
        """
        rough = gap >= MANY_POINTS_GAP
        epsilons = np.asarray(epsilons, dtype=np.float64)
        points = np.unique(epsilons)
        if points.size > MOST_POINTS:
            points = points[np.linspace(0, points.size - 1, MOST_POINTS).astype(np.int64)]
        values = np.array([_bound(self, float(epsilon), rough) for epsilon in points])
        # delta is convex in e^epsilon: between two points it is below their chord.
        above = np.clip(np.searchsorted(points, epsilons), 1, max(points.size - 1, 1))
        low, high = points[above - 1], points[np.minimum(above, points.size - 1)]
        length = np.expm1(np.maximum(high - low, 1e-300))
        share = np.clip(np.expm1(np.clip(epsilons - low, 0.0, high - low)) / length, 0.0, 1.0)
        upper = values[above - 1] * (1.0 - share) + values[np.minimum(above, points.size - 1)] * share
        upper = upper * (1.0 + 1e-13)
        return upper * (0.5 if rough else 1.0 - 1e-9), upper

    def nearest(self, kinds: Kinds, epsilon: float, unseen: float) -> float:
        """The largest distance in the list below which one report alone has a delta of at most
        ``unseen``, or the least in the list.
        """
        places = [kinds.nearest, *np.unique(kinds.apart).tolist()]
        hidden, _ = halve(
            lambda at: self.randomizer.delta_apart(places[at], epsilon) <= unseen, 0, len(places) - 1, middle=whole
        )
        return float(places[hidden])


@lru_cache(maxsize=4096)
def _bound(swap: LocationSwap, epsilon: float, rough: bool) -> float:
    alone = min(swap.randomizer.delta_apart(1.0, epsilon), 1.0)
    kinds = kinds_of_users(swap.randomizer, swap.n) if swap.worthwhile and alone > 0.0 and epsilon < FARTHEST else None
    if kinds is None:
        return alone
    growth = math.exp(epsilon) * (1.0 - 2.0 * UNIT) if epsilon else 1.0
    laws = kinds.laws(growth)
    # Inputs so close that one report alone hides them need no others, and no cells.
    caps = _caps(laws, swap.n)
    farthest = _View.of(swap.randomizer, laws.rows(kinds.apart == 1.0), swap.n, growth, caps[len(caps) // 2])
    nearest = swap.nearest(kinds, epsilon, UNSEEN * farthest.crude)
    laws = laws.rows(kinds.apart > nearest)
    cap = min(caps, key=lambda cap: _crude(*_capped(laws, cap), swap.n, farthest.c)) if len(caps) > 1 else caps[0]
    view = _View.of(swap.randomizer, laws, swap.n, growth, cap)
    needed = math.log(alone) - math.log(min(max(view.crude, 1e-300), alone)) + SLACK
    q = _levels(min(needed, swap.last))
    weights = np.exp(-q[:-1]) * -np.expm1(-np.diff(q))
    thinned = -np.expm1(-q[1:] / swap.n) / swap.randomizer.gamma * (1.0 + 1e-13)
    swapped = float(weights @ view.shares(thinned, rough)) + math.exp(-q[-1]) * alone
    close = swap.randomizer.delta_apart(nearest, epsilon)
    return min(max(swapped * (1.0 + 1e-11), close), alone)


def _levels(last: float) -> Floats:
    """0 = q_0 < ... < q_J = ``last``: dense where many views are, then sparser."""
    share, most = np.arange(LEVELS + 1) / LEVELS, min(last, 120.0)
    return np.asarray(-4.0 * last / most * np.log1p(share * math.expm1(-0.25 * most)))


def _blocks(count: int) -> Integers:
    """Where blocks of so many nodes begin: single ones first, then longer and longer ones."""
    far = np.geomspace(SINGLE, max(count, SINGLE + 1), BLOCKS).astype(np.int64)
    starts = np.unique(np.concatenate([np.arange(SINGLE), far]))
    return starts[starts < count]


class _Tilted(NamedTuple):
    """Kinds under the tilt e^(cG): log phi(c), and mean and variance."""

    log_phi: Floats
    mean: Floats
    variance: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Scores of all kinds at one epsilon, capped, with the line to integrate along."""

    randomizer: ScaledNoise
    n: int
    growth: float
    mass: Floats
    score: Floats
    jumps: float
    c: float
    crude: float

    @classmethod
    def of(cls, randomizer: ScaledNoise, laws: SlotLaws, n: int, growth: float, cap: float) -> _View:
        """With the line through the saddle point of the largest kind."""
        mass, score, jumps = _capped(laws, cap)
        c = _saddle(mass, score, n)
        return cls(randomizer, n, growth, mass, score, jumps, c, _crude(mass, score, jumps, n, c))

    def shares(self, thinned: Floats, rough: bool) -> Floats:
        """F at every level u', from above."""
        n, c = self.n, self.c
        tilted = _tilt(self.mass, self.score, c)
        log_phi = tilted.log_phi + self._drift(tilted)
        top = int(log_phi.argmax())
        width = math.sqrt(n * float(tilted.variance[top]) + 2.0 / c**2)
        tau = SMOOTHING / c
        step = 2.0 * math.pi / (PERIOD * min(width, WIDEST / c))
        count = min(math.ceil(CUT / (tau * step)), MOST_NODES)
        y: Floats = step * np.arange(count + 1.0)
        weights = step / math.pi * np.exp(0.5 * tau**2 * (c * c - y * y)) / (c * c + y * y)
        weights[0] *= 0.5
        tail = math.exp(0.5 * SMOOTHING**2 - 0.5 * (tau * y[-1]) ** 2) / (math.pi * tau**2 * y[-1] ** 3)

        keep = 1.0 - thinned
        base = np.log1p(keep * np.expm1(log_phi)[:, None])  # kinds by levels
        power = np.exp(np.minimum((n - 1.0) * base, HOPELESS))
        share = keep * np.exp(log_phi[:, None] - base)  # phi(t) / phi(c) - 1 shrinks by this
        lines = self._at_most(tilted, y, weights, float(share.min())) + tail
        values = power * lines[:, None]
        seen = set()
        for _ in range(FEW_LINES if rough else MOST_LINES):
            kind = int(values.max(axis=1).argmax())
            if kind in seen:
                break
            seen.add(kind)
            along = self._along(kind, log_phi[kind], y, share[kind]) @ weights + tail
            values[kind] = np.minimum(values[kind], power[kind] * along)
        largest = values.max(axis=0) * (1.0 + 1e-11)
        scores = self.randomizer.first_scores(self.growth)
        first = [self._first(scores, c * k, crude) for k, crude in zip(keep, largest / (n * keep), strict=True)]
        return np.array(
            [
                value / (n * k) * factor + seen + self.jumps
                for value, k, (factor, seen) in zip(largest, keep, first, strict=True)
            ]
        )

    def _first(self, scores: FirstScores, c: float, value: float) -> tuple[float, float]:
        """E e^(cG) of slot 1, capped, and what the cap leaves out, over n: for about the least sum
        if the rest is ``value``.
        """
        top = float(scores.score.max())
        found = []
        for cap in (*(share / c for share in FIRST_CAPS), top):
            over = float(np.maximum(scores.score - cap, 0.0) @ scores.mass)
            exponent = np.minimum(c * np.minimum(scores.score, cap), HOPELESS)
            factor = float(np.exp(exponent) @ scores.mass) * (1.0 + 1e-9)
            found.append((factor * value + (over + scores.seen) / self.n, factor, (over + scores.seen) / self.n))
        _, factor, seen = min(found)
        return factor, seen * (1.0 + 1e-9)

    def _drift(self, tilted: _Tilted) -> Floats:
        """How far log phi(c) may be off by rounding."""
        exponent = self.c * self.score
        moved = self.mass * np.abs(np.expm1(exponent)) + self.mass * np.abs(exponent) * np.exp(exponent)
        return np.asarray(UNIT * (16.0 + self.mass.shape[1]) * moved.sum(axis=1) * np.exp(-tilted.log_phi))

    def _at_most(self, tilted: _Tilted, y: Floats, weights: Floats, share: float) -> Floats:
        """The weighted sum of |phi|^(n-1) / phi(c)^(n-1) for every kind, by two moments."""
        law = self.mass * np.exp(self.c * self.score - tilted.log_phi[:, None])
        law[law < 1e-200] = 0.0  # leaving some out is no error here, and tiny numbers are slow
        off = np.abs(self.score - tilted.mean[:, None])
        starts = _blocks(y.size)  # far out one value, the larger of both ends', does for many nodes
        square = (y[np.append(starts, np.append(starts[1:], y.size) - 1)] ** 2)[None, :]
        fall = np.zeros((law.shape[0], starts.size))
        deviation = np.sqrt(tilted.variance)[:, None]
        for core in CORES:
            inside = law * (off <= core * deviation)
            weight = np.maximum(inside.sum(axis=1), 1e-300)
            centre = (inside * self.score).sum(axis=1) / weight
            away = self.score - centre[:, None]
            second, fourth = (inside * away**2).sum(axis=1), (inside * away**4).sum(axis=1)
            falling = weight * second * (1.0 - 1e-9)
            rising = (weight * fourth + 3.0 * second**2) / 12.0 * (1.0 + 1e-9)
            ends = square * (falling[:, None] - square * rising[:, None])
            np.maximum(fall, np.minimum(ends[:, : starts.size], ends[:, starts.size :]), out=fall)
        return np.asarray(np.exp(-0.5 * (self.n - 1.0) * share * fall) @ np.add.reduceat(weights, starts))

    def _along(self, kind: int, log_phi: float, y: Floats, share: Floats) -> Floats:
        """|phi / phi(c)|^(n-1) at the nodes, a row for every level."""
        law = self.mass[kind] * np.exp(self.c * self.score[kind] - log_phi)
        order = np.argsort(law)
        total = np.cumsum(law[order])
        few = int(np.searchsorted(total, DROPPED / self.n))  # scores that together do not matter
        law, score, dropped = law[order[few:]], self.score[kind][order[few:]], float(total[few - 1]) if few else 0.0
        outer = math.isqrt(y.size) + 1
        inner = -(-y.size // outer)
        turn = y[1] * score
        fine, coarse = turned(np.outer(np.arange(inner), turn)), turned(np.outer(inner * np.arange(outer), turn))
        moved = (coarse * law) @ fine.T + (coarse @ law)[:, None] + (fine @ law)[None, :]
        moved = moved.ravel()[: y.size]
        size = np.abs(moved)
        slack = float((law * np.abs(score) * (24.0 + 2.0 * law.size + 3.0 * np.abs(self.c * score))).sum())
        error = 4.0 * UNIT * (slack * y + size) * (1.0 + size) + 8.0 * dropped
        change = 2.0 * share[:, None] * moved.real + (share[:, None] * size) ** 2 + error
        change = np.clip(change, UNIT - 1.0, 0.0)
        return np.asarray(np.exp(0.5 * (self.n - 1.0) * np.log1p(change)))


def _caps(laws: SlotLaws, n: int) -> list[float]:
    """Caps to try: none, if no score is far beyond a deviation of the sum."""
    top = float(laws.score.max())
    variance = float((laws.mass * laws.score**2).sum(axis=1).max())
    for _ in range(4):
        reach = 4.0 * math.sqrt(n * variance)
        variance = float((laws.mass * np.minimum(laws.score, reach) ** 2).sum(axis=1).max())
    deviation = math.sqrt(n * variance)
    below = [share * deviation for share in CAPS if share * deviation < top]
    return [*below, top] if top < 2.0 * CAPS[-1] * deviation else below


def _capped(laws: SlotLaws, cap: float) -> tuple[Floats, Floats, float]:
    """Masses, scores up to the cap, and E(G - cap)_+ of the worst kind with what is seen anyway."""
    over = np.where(laws.score > cap, laws.mass * (laws.score - cap), 0.0)
    return laws.mass, np.minimum(laws.score, cap), float((over.sum(axis=1) + laws.seen).max()) * (1.0 + 1e-11)


def _crude(mass: Floats, score: Floats, jumps: float, n: int, c: float) -> float:
    """About E(S)_+ / n of the worst kind, if the sum is nearly normal under the tilt."""
    c = min(c, 500.0 / max(float(score.max()), 1e-12))
    tilted = _tilt(mass, score, c)
    kind = int(tilted.log_phi.argmax())
    decay = float(erfcx(c * math.sqrt(0.5 * n * float(tilted.variance[kind]))))
    log_m = (n - 1.0) * float(tilted.log_phi[kind])
    return math.exp(min(log_m - math.log(2.0 * c * n), HOPELESS)) * decay + jumps


def _tilt(mass: Floats, score: Floats, c: float) -> _Tilted:
    exponent = c * score
    excess = (mass * np.expm1(exponent)).sum(axis=1)
    log_phi = np.log1p(np.maximum(excess, UNIT - 1.0))
    law = mass * np.exp(exponent - log_phi[:, None])
    mean = (law * score).sum(axis=1)
    return _Tilted(log_phi, mean, np.maximum((law * score**2).sum(axis=1) - mean**2, 0.0))


def _saddle(mass: Floats, score: Floats, n: int) -> float:
    """Near the c > 0 with the least largest (n-1) log phi(c) - 2 log c; any is valid."""
    top = max(float(score.max()), 1e-12)
    low, high = 1e-6 / (n * top), 500.0 / top
    mean = n * float((mass * score).sum(axis=1).max())
    variance = n * float((mass * score**2).sum(axis=1).max())
    c = min(max((-mean + math.sqrt(mean**2 + 8.0 * variance)) / (2.0 * variance), low), high)
    for attempt in range(STEPS):
        tilted = _tilt(mass, score, c)
        kind = int(tilted.log_phi.argmax())
        slope = (n - 1.0) * float(tilted.mean[kind]) - 2.0 / c
        curvature = (n - 1.0) * float(tilted.variance[kind]) + 2.0 / c**2
        if abs(slope) <= 0.03 * math.sqrt(curvature) or high < 1.002 * low:
            break
        low, high = (c, high) if slope < 0.0 else (low, c)
        newton = c - slope / curvature
        c = newton if low < newton < high and attempt % 3 < 2 else math.sqrt(low * high)
    return c
