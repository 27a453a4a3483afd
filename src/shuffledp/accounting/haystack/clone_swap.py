"""The first-clone swap: an upper end for laws fixed in advance (theory, same title).

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

*The first-clone swap for a table of laws: any two rows as the target's inputs, any rows as those of
the others.*

Every ordered pair has an omega of its own. A crude bound of all pairs, one level of u and
Chernoff's inequality, says which of them can be the largest; only those are looked at closely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, MANY_POINTS_GAP, ROUGH_GAP
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.haystack.description import Haystack
from shuffledp.accounting.haystack.moduli import SlotSums, chernoff_bound, moduli_integral
from shuffledp.randomizers.randomizer import Atoms, proportional, rounded

ROUNDED = 16.0 * UNIT  # how far, relatively, a mass that is given may be off
SMALLEST, LARGEST = 1e-290, 1e290  # less hay is none, and no score is larger
FARTHEST = 1e300
TINY = 1e-320  # more than a product of tiny numbers may be off
REACH = 12.0  # in deviations of the sum: a larger score counts by itself
SLACK = 8.0  # swaps rarer than e^-SLACK of delta do not matter
FEWEST = 0.5  # where hardly anybody is swapped, nothing is gained
LAST = (0.35, 0.5, 0.65, 0.8, 0.9)  # shares of the levels after which the rest may be left to the blanket
LEAST = 1e-320
WORTH = 1.001
CRUDE = 30.0
CHUNK = 1 << 13  # masses that crude swaps look at together
FEW_CLONES = 500.0  # from here on fewer levels are as good


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

    def table(self, place: int) -> Floats:
        """One of the four tables."""
        return (self.needle0, self.needle1, self.hay, self.taken)[place]

    def tiled(self, times: int) -> Slots:
        """The same ``times`` times, one after the other, where there is a table for every row."""
        return Slots(*(np.tile(self.table(place), (times, 1, 1)) for place in range(4)))

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

    @property
    def variances(self) -> Floats:
        """The sum of (m_0 - m_1)^2 / hay of every kind, in floating point."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(np.nansum((self.needle0 - self.needle1) ** 2 / self.hay, axis=1))

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
        least = None if self.least is None else self.least.swapped()
        return replace(self, first=self.first.swapped(), others=self.others.swapped(), least=least)

    @property
    def worthwhile(self) -> bool:
        """Whether this can be below the haystack of ``least``: for many users that leaks as much as
        a kind of hay whose sum of (m_0 - m_1)^2 / hay is the same.
        """
        if self.least is None:
            return True
        return bool(self.least.variances.max() > WORTH * self.others.variances.max())

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """The bound at every epsilon >= 0, and before it about how low more care could bring it:
        that is no bound, and only says where to look.
        """
        epsilons = np.asarray(epsilons, dtype=np.float64)
        effort = _Effort.of(gap, self.n * self.kappa)
        upper = np.minimum(self.first.alone(epsilons)[:, 0], 1.0)
        rows = np.flatnonzero(upper > 0.0)
        most = -self.n * float(np.log1p(-self.last_u))  # e^-most of all views are without a swap
        if rows.size and self.n > 1 and most > FEWEST:
            upper[rows] = np.minimum(upper[rows], self._swapped_ends(epsilons[rows], upper[rows], most, effort))
        return upper * (1.0 - effort.loss), upper

    def _swapped_ends(self, epsilons: Floats, alone: Floats, most: float, effort: _Effort) -> Floats:
        """The sum over levels, which may end at any of them."""
        start = np.full(epsilons.size, min(1.0, 0.5 * most))
        rough = self.shares(epsilons, -np.expm1(-start / self.n), ROUGHLY.blur)
        needed = np.log(alone) - np.log(np.clip(rough, LEAST, alone)) + SLACK
        q = _levels(np.minimum(needed, most), effort.levels)
        u = np.minimum(-np.expm1(-q / self.n), self.last_u)
        points = np.repeat(epsilons, effort.levels)
        shares = self.shares(points, u[:, 1:].ravel(), effort.blur).reshape(-1, effort.levels)
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
    def last_u(self) -> float:
        """A level that is certainly not above kappa."""
        return self.kappa * (1.0 - 4.0 * ROUNDED)

    def _blanket(self, epsilons: Floats, u: float) -> Floats:
        """delta of the haystack below all laws, given that nobody below u was swapped."""
        assert self.least is not None
        hay = self.least.left(np.array([u]))[0, 0] / (1.0 - u) * (1.0 - 4.0 * UNIT)
        atoms = Atoms("what is left", hay, self.least.needle0[0], self.least.needle1[0])
        return Haystack.of(atoms, self.n).bounds(epsilons, ROUGH_GAP)[1]

    def shares(self, epsilons: Floats, u: Floats, blur: float) -> Floats:
        """F at every epsilon and u, from above."""
        scored = self.scored(epsilons, u)
        return scored.share(moduli_integral(scored.capped, blur))

    def scored(self, epsilons: Floats, u: Floats) -> Scored:
        """What F is made of at every epsilon and u."""
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
        return Scored(capped, cap[:, 0, 0], added)

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


class CrudeSwaps:
    """Upper ends of several swaps with the same n (rows) by one level of u and Chernoff's
    inequality: a few times too large, and cheap.
    """

    def __init__(self, swaps: Sequence[FirstClone]) -> None:
        kinds, classes = np.max([swap.others.hay.shape for swap in swaps], axis=0)
        n = swaps[0].n
        others = (np.stack([_widened(swap.others.table(i), kinds, classes) for swap in swaps]) for i in range(4))
        first = (np.stack([_widened(swap.first.table(i), 1, classes) for swap in swaps]) for i in range(4))
        self._all = FirstClone("", n, 0.0, Slots(*first), Slots(*others))
        self._q = np.minimum(CRUDE, -n * np.log1p([-swap.last_u for swap in swaps]))

    def bounds(self, epsilons: Floats) -> Floats:
        """A row for every swap, a column for every epsilon."""
        together = max(1, CHUNK // self._all.others.hay.size)
        parts = [epsilons[start : start + together] for start in range(0, epsilons.size, together)]
        return np.concatenate([self._columns(part) for part in parts], axis=1)

    def _columns(self, epsilons: Floats) -> Floats:
        """A few of them at once: a situation for every epsilon and every swap."""
        swaps, times = self._q.size, epsilons.size
        points, q = np.repeat(epsilons, swaps), np.tile(self._q, times)
        tiled = replace(self._all, first=self._all.first.tiled(times), others=self._all.others.tiled(times))
        scored = tiled.scored(points, -np.expm1(-q / self._all.n))
        rest = np.exp(-q) * (1.0 + 1e-12) * tiled.first.alone(points)[:, 0]
        found = np.minimum(scored.share(chernoff_bound(scored.capped)) + rest, 1.0)
        return np.asarray(found.reshape(times, swaps).T)


def _widened(table: Floats, kinds: int, classes: int) -> Floats:
    """With its last kind repeated, and empty classes."""
    wide = np.zeros((kinds, classes))
    wide[: len(table), : table.shape[1]] = table
    wide[len(table) :] = wide[len(table) - 1]
    return wide


class Scored(NamedTuple):
    """Rows of sums of scores in units of ``cap``, and what is seen besides."""

    capped: SlotSums
    cap: Floats
    seen: Floats

    def share(self, log_ramp: Floats) -> Floats:
        """F, given a bound on log E S_+."""
        with np.errstate(under="ignore"):
            ramp = np.exp(np.minimum(log_ramp + np.log(self.cap / self.capped.n), 700.0))
        return np.asarray((ramp + TINY + self.seen) * (1.0 + 1e-12))


class _Effort(NamedTuple):
    """How closely to look: levels of u, the smoothing, and about what a closer look could gain."""

    levels: int
    blur: float
    loss: float

    @classmethod
    def of(cls, gap: float, clones: float) -> _Effort:
        """``clones`` is n kappa: L levels raise epsilon by a share of about 1.3 / (L n kappa)."""
        most = ROUGHLY if gap >= ROUGH_GAP else CURVES if gap >= MANY_POINTS_GAP else CLOSELY
        return most._replace(levels=int(min(max(most.levels * FEW_CLONES / max(clones, SMALLEST), 5.0), most.levels)))


ROUGHLY, CURVES, CLOSELY = _Effort(8, 0.05, 0.03), _Effort(14, 0.03, 0.01), _Effort(28, 0.007, 1e-9)


def _levels(last: Floats, count: int) -> Floats:
    """0 = q_0 < ... < q_J = ``last``, a row each: dense where many views are, then sparser."""
    share, rate = np.arange(count + 1) / count, np.minimum(0.25, 8.0 / last)[:, None]
    return np.asarray(-np.log((1.0 - share) + share * np.exp(-rate * last[:, None])) / rate)


def _stacked(kinds: Floats, first: Floats) -> Floats:
    """Two tables of kinds below each other, filled up with empty classes."""
    rows, several, classes = kinds.shape
    stacked = np.zeros((rows, several + 1, max(classes, first.shape[2])))
    stacked[:, :several, :classes] = kinds
    stacked[:, several:, : first.shape[2]] = first
    return stacked


FEW_INPUTS = 4  # of which all pairs are looked at closely, even at many points
MANY_CLONES = 100.0  # n kappa; for more of them omega need not differ from the hay
WORST = 0.9  # kinds that leak nearly as much as the worst share in omega
BITS, SORTED = 51, 40  # of numbers that are the same up to rounding, and of those that are put in order


@dataclass(frozen=True, slots=True)
class SwapFamily:
    """The largest swap bound of all ordered pairs of different rows of ``table``."""

    name: str
    n: int
    table: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, table: Floats, n: int) -> SwapFamily:
        """Equal rows once, and outputs that are proportional in all rows as one."""
        rows = np.unique(table[:, table.any(axis=0)], axis=0)
        return cls("first-clone swap", n, tuple(map(tuple, proportional(rows, BITS).tolist())))

    def swapped(self) -> SwapFamily:
        """The same: every pair is there in both orders."""
        return self

    @property
    def slow(self) -> bool:
        """Whether there are so many pairs that curves of many points would take long."""
        return len(self.table) > FEW_INPUTS

    @property
    def worthwhile(self) -> bool:
        """Whether some pair can be below its blanket."""
        return any(member.worthwhile for member in self.members())

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        epsilons = np.asarray(epsilons, dtype=np.float64)
        members = self.members()
        if not members:
            return np.zeros_like(epsilons), np.zeros_like(epsilons)
        crude = _crude(self).bounds(epsilons)
        low, best = np.zeros_like(epsilons), np.zeros_like(epsilons)
        open_ = np.ones_like(crude, dtype=bool)
        for place in np.argsort(-crude.max(axis=1)):
            rows = np.flatnonzero(crude[place] > best)
            if rows.size:
                lower, upper = members[place].bounds(epsilons[rows], gap)
                low[rows], best[rows] = np.maximum(low[rows], lower), np.maximum(best[rows], upper)
                open_[place, rows] = False
        left = np.where(open_, crude, 0.0).max(axis=0)  # none of them is above the best
        return np.minimum(np.maximum(low, left), best), np.maximum(best, left)

    def members(self) -> tuple[FirstClone, ...]:
        """One for every pair that is different from those before; made once."""
        return _members(self)


def swaps_of_pair(table: Floats, n: int, i: int, j: int) -> tuple[FirstClone, FirstClone]:
    """The swap of the rows i and j of ``table``, in both orders."""
    rows = proportional(table, BITS)
    family = SwapFamily("first-clone swap", n, tuple(map(tuple, rows.tolist())))
    return _member(family, rows, i, j, False), _member(family, rows, j, i, False)


@lru_cache(maxsize=16)
def _members(family: SwapFamily) -> tuple[FirstClone, ...]:
    table = np.array(family.table)
    pairs = [(i, j) for i in range(len(table)) for j in range(len(table)) if i != j]
    alike = bool(np.all(np.sort(table, axis=1) == np.sort(table[0])))
    members = [_member(family, table, i, j, alike) for i, j in pairs]
    return tuple({_key(member): member for member in reversed(members)}.values()) if alike else tuple(members)


@lru_cache(maxsize=16)
def _crude(family: SwapFamily) -> CrudeSwaps:
    return CrudeSwaps(_members(family))


def _member(family: SwapFamily, table: Floats, i: int, j: int, alike: bool) -> FirstClone:
    """The swap of inputs i and j. Where rows are ``alike`` up to the order of outputs, kinds of
    users may be, too, and equal ones are kept once.
    """
    blanket, n = table.min(axis=0), family.n
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        leaks = np.nansum((table[i] - table[j]) ** 2 / table, axis=1)
    near = table[leaks >= WORST * leaks.max()].mean(axis=0)
    omega, kappa = _swapped_law(near, blanket, n)
    kinds = np.stack([np.broadcast_to(each, table.shape) for each in (table[i], table[j], table, omega)])
    others = kinds.swapaxes(0, 1)
    if alike:
        others = np.unique([_packed(kind) for kind in others], axis=0)
    first = Slots(table[i], table[j], omega, 0.0 * omega)
    least = Slots(table[i], table[j], blanket, omega)
    name = f"first-clone swap; inputs {i} and {j}"
    return FirstClone(name, n, kappa, first, Slots(*others.transpose(1, 0, 2)), least)


def _swapped_law(near: Floats, blanket: Floats, n: int) -> tuple[Floats, float]:
    """omega, the smaller of ``near`` and s times the blanket, normalised, and its kappa: the
    largest s that leaves enough clones.
    """
    if not blanket.any():
        return near, 0.0
    held = blanket > 0.0
    with np.errstate(over="ignore"):
        low, high = 1.0, min(float((near[held] / blanket[held]).max()), FARTHEST)
    for _ in range(50):
        middle = np.sqrt(low * high)
        enough = np.minimum(near, high * blanket).sum() / high * n >= MANY_CLONES
        if enough:
            break
        small = np.minimum(near, middle * blanket).sum() / middle * n >= MANY_CLONES
        low, high = (middle, high) if small else (low, middle)
    law = np.minimum(near, high * blanket)
    omega = law / law.sum()
    return omega, float((blanket[omega > 0.0] / omega[omega > 0.0]).min()) * (1.0 - 8.0 * UNIT)


def _packed(kind: Floats) -> Floats:
    """The classes of one kind, proportional ones together, in an order that tells nothing."""
    merged = proportional(kind, BITS)
    order = np.lexsort(rounded(merged, SORTED))
    return np.pad(rounded(merged[:, order], BITS), ((0, 0), (0, kind.shape[1] - merged.shape[1])))


def _key(member: FirstClone) -> bytes:
    """What two pairs share if they leak the same."""
    kinds = np.stack([member.others.needle0, member.others.needle1, member.others.hay, member.others.taken])
    first = _packed(np.stack([member.first.needle0[0], member.first.needle1[0], member.first.hay[0]]))
    assert member.least is not None
    least = _packed(np.stack([member.least.table(place)[0] for place in range(4)]))
    return b"".join(rounded(each, BITS).tobytes() for each in (kinds, first, least))
