"""The first-clone swap: an upper end for users whose laws are fixed in advance (theory, "The
first-clone swap").

Let m_0, m_1 be the target's laws, h_2, ..., h_n those of the others, omega a law with kappa omega
<= h_i for all i, x = e^eps and w = m_0 - x m_1. Every user, the target too, draws U_i uniformly
from [0, 1]; user i >= 2 reports a draw from omega if U_i < kappa, else one from what is left of
h_i. The user I of the smallest U is uniform on 1, ..., n and independent of U. Given U = u < kappa
the target swaps places with I: its report is in a uniformly random slot, and the others have fixed
laws, omega in slot 1 and h_i - u omega, normalised, in slot i. Hence, for 0 = u_0 < ... < u_J <=
kappa,

    delta  <=  sum over j of [(1-u_j)^n - (1-u_(j+1))^n] F_(j+1)  +  (1-u_J)^n D,
    F_j = 1/n E( G_* + G_2 + ... + G_n )_+ ,      slot i of mass h_i - u_j omega and score w / mass,

an empty slot has score 0, and what a slot leaves without hay adds the integral of w_+ there, over
n. F grows with u: less hay is a thinned view. D bounds delta given that nobody was swapped: the
integral of w_+, or the blanket of what is left of the laws.

``haystack.moduli`` bounds F for all compositions at once, by the kinds of users that there are.

*Rounding.* All of it goes one way. Less hay, and a larger w, can only raise F, so masses are
rounded down and w up, by more than a float can be off; what the integral is computed of are then
exact numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, MANY_POINTS_GAP, ROUGH_GAP
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.haystack.description import Haystack
from shuffledp.accounting.haystack.moduli import SlotSums, moduli_integral
from shuffledp.randomizers.randomizer import Atoms

__all__ = ["FirstClone", "Slots"]

ROUNDED = 16.0 * UNIT  # how far, relatively, a mass that is given may be off
SMALLEST, LARGEST = 1e-290, 1e290  # less hay is none, and no score is larger
FARTHEST = 1e300
TINY = 1e-320  # more than a product of tiny numbers may be off
REACH = 12.0  # in deviations of the sum: a larger score counts by itself
SLACK = 8.0  # swaps rarer than e^-SLACK of delta do not matter
FEWEST = 0.5  # where hardly anybody is swapped, nothing is gained
LAST = (0.35, 0.5, 0.65, 0.8, 0.9)  # shares of the levels after which the rest may be left to the blanket
LEAST = 1e-320


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """Kinds of slots (rows), by classes of outputs (columns): the target's laws there, the hay at u
    = 0, and ``taken``, how fast it shrinks: a slot has hay - u taken.

    Rows need not have the same classes; a class without any mass does nothing.
    """

    needle0: Floats
    needle1: Floats
    hay: Floats
    taken: Floats

    def __post_init__(self) -> None:
        for field in ("needle0", "needle1", "hay", "taken"):
            object.__setattr__(self, field, np.atleast_2d(np.asarray(getattr(self, field), dtype=np.float64)))
        if not self.needle0.shape == self.needle1.shape == self.hay.shape == self.taken.shape:
            raise AssertionError("the four tables of slots must have one shape")

    def swapped(self) -> Slots:
        """The target's two inputs exchanged."""
        return replace(self, needle0=self.needle1, needle1=self.needle0)

    def left(self, u: Floats) -> Floats:
        """The hay that is certainly left at every u; 0 where that is hardly any."""
        low = self.hay * (1.0 - ROUNDED) - u[:, None, None] * (self.taken * (1.0 + ROUNDED))
        return np.where(low > np.maximum(SMALLEST, ROUNDED * self.hay), low, 0.0)

    def gain(self, epsilons: Floats) -> Floats:
        """w = needle0 - e^eps needle1, from above."""
        growth = np.expm1(epsilons)[:, None, None]
        size = self.needle0 + (growth + 1.0) * self.needle1
        return np.asarray((self.needle0 - self.needle1) - growth * self.needle1 + ROUNDED * size + TINY * (size > 0.0))

    def alone(self, epsilons: Floats) -> Floats:
        """The integral of w_+, a column for every kind: what is seen of a target without hay."""
        return np.asarray(self.gain(epsilons).clip(min=0.0).sum(axis=2) * (1.0 + 1e-13))


@dataclass(frozen=True, slots=True, eq=False)
class FirstClone:
    """The swap's upper end for one ordered pair of the target's inputs.

    ``first`` is slot 1, with hay omega; ``others`` are the kinds of slots that the other users may
    be, in any composition; ``least`` is a slot below all of them, whose haystack bounds what is
    left if nobody is swapped.

    Masses may be off by a relative 16 * 2^-52, and omega's by that from a law.
    """

    name: str
    n: int
    kappa: float
    first: Slots
    others: Slots
    least: Slots | None = None

    def swapped(self) -> FirstClone:
        """The same with the target's two inputs exchanged."""
        least = None if self.least is None else self.least.swapped()
        return replace(self, first=self.first.swapped(), others=self.others.swapped(), least=least)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """The bound at every epsilon >= 0, and before it about how low more care could bring it:
        that is no bound, and only says where to look.
        """
        epsilons = np.asarray(epsilons, dtype=np.float64)
        effort = _Effort.of(gap)
        upper = np.minimum(self.first.alone(epsilons)[:, 0], 1.0)
        rows = np.flatnonzero(upper > 0.0)
        most = -self.n * float(np.log1p(-self._last_u))  # e^-most of all views are without a swap
        if rows.size and self.n > 1 and most > FEWEST:
            upper[rows] = np.minimum(upper[rows], self._swapped_ends(epsilons[rows], upper[rows], most, effort))
        return upper * (1.0 - effort.loss), upper

    def _swapped_ends(self, epsilons: Floats, alone: Floats, most: float, effort: _Effort) -> Floats:
        """The sum over levels, which may end at any of them."""
        start = np.full(epsilons.size, min(1.0, 0.5 * most))
        rough = self.shares(epsilons, -np.expm1(-start / self.n), _Effort.of(1.0).smoothing)
        needed = np.log(alone) - np.log(np.clip(rough, LEAST, alone)) + SLACK
        q = _levels(np.minimum(needed, most), effort.levels)
        u = np.minimum(-np.expm1(-q / self.n), self._last_u)
        points = np.repeat(epsilons, effort.levels)
        shares = self.shares(points, u[:, 1:].ravel(), effort.smoothing).reshape(-1, effort.levels)
        shares = np.minimum(np.minimum.accumulate(shares[:, ::-1], axis=1)[:, ::-1], 1.0)  # F grows with u

        q = -self.n * np.log1p(-u)
        weights = np.exp(-q[:, :-1]) * -np.expm1(-np.diff(q, axis=1))
        sums, unswapped = np.cumsum(weights * shares, axis=1), np.exp(-q[:, 1:])
        best = (sums + unswapped * alone[:, None]).min(axis=1)
        short = np.flatnonzero(needed >= most)  # these rows have the same levels
        if self.least is not None and short.size:
            for place in sorted({int(share * effort.levels) for share in LAST}):
                hidden = self._blanket(epsilons[short], float(u[short[0], place + 1]))
                best[short] = np.minimum(best[short], sums[short, place] + unswapped[short, place] * hidden)
        return np.asarray(best * (1.0 + 1e-9))

    @property
    def _last_u(self) -> float:
        """A level that is certainly not above kappa."""
        return self.kappa * (1.0 - 4.0 * ROUNDED)

    def _blanket(self, epsilons: Floats, u: float) -> Floats:
        """delta of the haystack whose hay is below all laws given that nobody below u was
        swapped.
        """
        assert self.least is not None
        hay = self.least.left(np.array([u]))[0, 0] / (1.0 - u) * (1.0 - 4.0 * UNIT)
        atoms = Atoms("what is left", hay, self.least.needle0[0], self.least.needle1[0])
        return Haystack.of(atoms, self.n).bounds(epsilons, ROUGH_GAP)[1]

    def shares(self, epsilons: Floats, u: Floats, smoothing: float) -> Floats:
        """F at every epsilon and u, from above."""
        nothing = np.zeros_like(u)
        hay = _stacked(self.others.left(u), self.first.left(nothing))
        gain = _stacked(self.others.gain(epsilons), self.first.gain(epsilons))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            score = np.where(hay > 0.0, gain / hay, 0.0).clip(-FARTHEST, FARTHEST)
        score += 2.0 * UNIT * np.abs(score)
        cap = self._cap(hay, score)[:, None, None]

        # What is larger than the cap jumps, and what has no hay is seen.
        beyond = score > cap
        seen = np.where(beyond | (hay == 0.0), gain - np.where(beyond, cap * hay, 0.0) * (1.0 - ROUNDED), 0.0)
        seen = seen.clip(min=0.0).sum(axis=2) * (1.0 + 1e-13)
        added = (1.0 - 1.0 / self.n) * seen[:, :-1].max(axis=1) + seen[:, -1] / self.n

        with np.errstate(over="ignore"):
            capped = SlotSums(self.n, hay, np.clip(score / cap + TINY, -2.0 * self.n, 1.0))
        log_ramp = moduli_integral(capped, smoothing) + np.log(cap[:, 0, 0] / self.n)
        with np.errstate(under="ignore"):
            return np.asarray((np.exp(np.minimum(log_ramp, 700.0)) + TINY + added) * (1.0 + 1e-12))

    def _cap(self, hay: Floats, score: Floats) -> Floats:
        """What a single score may at most add to the sum that is integrated: larger ones are rare,
        and are counted by themselves.
        """
        top = np.clip(score.max(axis=(1, 2)), SMALLEST, LARGEST)
        with np.errstate(over="ignore"):
            tame = np.clip(score / top[:, None, None], -self.n, 1.0)
        mean = -self.n * (tame * hay).sum(axis=2)[:, :-1].min(axis=1)
        deviation = np.sqrt(self.n * (tame**2 * hay).sum(axis=2)[:, :-1].max(axis=1))
        for _ in range(3):
            cap = np.maximum(mean, 0.0) + REACH * deviation
            deviation = np.sqrt(
                self.n * (np.minimum(tame, cap[:, None, None]) ** 2 * hay).sum(axis=2)[:, :-1].max(axis=1)
            )
        return np.asarray(top * np.clip(np.maximum(mean, 0.0) + REACH * deviation, 1e-250, 1.0))


@dataclass(frozen=True, slots=True)
class _Effort:
    """How closely to look: levels of u, tau c, and about what a closer look could gain."""

    levels: int
    smoothing: float
    loss: float

    @classmethod
    def of(cls, gap: float) -> _Effort:
        if gap >= ROUGH_GAP:
            return cls(8, 0.2, 0.05)
        return cls(16, 0.08, 0.01) if gap >= MANY_POINTS_GAP else cls(28, 0.025, 1e-9)


def _levels(last: Floats, count: int) -> Floats:
    """0 = q_0 < ... < q_J = ``last``, a row each: dense where views of weight e^-q are many, ever
    sparser beyond.
    """
    share = np.arange(count + 1) / count
    return np.asarray(-4.0 * np.log1p(share * np.expm1(-0.25 * last)[:, None]))


def _stacked(first: Floats, second: Floats) -> Floats:
    """Two tables of kinds below each other, filled up with empty classes."""
    width = max(first.shape[2], second.shape[2])
    padded = [np.pad(table, ((0, 0), (0, 0), (0, width - table.shape[2]))) for table in (first, second)]
    return np.concatenate(padded, axis=1)
