"""The first-clone swap for a table of laws: any two rows as the target's inputs, any rows as those
of the others.

Every ordered pair has an omega of its own. A crude bound of all pairs, one level of u and
Chernoff's inequality, says which of them can be the largest; only those are looked at closely.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.haystack.swapped_slots import CrudeSwaps, FirstClone, Slots

__all__ = ["SwapFamily", "swaps_of_pair"]

FEW_INPUTS = 4  # of which all pairs are looked at closely, even at many points
MANY_CLONES = 100.0  # n kappa; for more of them omega need not differ from the hay
WORST = 0.9  # kinds that leak nearly as much as the worst share in omega
FARTHEST = 1e300
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
        return cls("first-clone swap", n, tuple(map(tuple, _merged(rows).tolist())))

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
        """As of ``FirstClone``."""
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
    rows = _merged(table)
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
    merged = _merged(kind)
    order = np.lexsort(_rounded(merged, SORTED))
    return np.pad(_rounded(merged[:, order]), ((0, 0), (0, kind.shape[1] - merged.shape[1])))


def _merged(rows: Floats) -> Floats:
    """Columns that are proportional up to rounding, together: that changes nothing but the last
    digits, and those by less than is allowed for.
    """
    rows = rows[:, rows.any(axis=0)]
    _, label = np.unique(_rounded(rows / rows.sum(axis=0)), axis=1, return_inverse=True)
    merged = np.zeros((len(rows), label.max() + 1))
    np.add.at(merged.T, label.ravel(), rows.T)
    return merged


def _rounded(values: Floats, bits: int = BITS) -> Floats:
    mantissa, exponent = np.frexp(values * (1.0 + 2.0 ** -(bits + 2)))
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits))


def _key(member: FirstClone) -> bytes:
    """What two pairs share if they leak the same."""
    kinds = np.stack([member.others.needle0, member.others.needle1, member.others.hay, member.others.taken])
    first = _packed(np.stack([member.first.needle0[0], member.first.needle1[0], member.first.hay[0]]))
    assert member.least is not None
    least = _packed(np.stack([member.least.table(place)[0] for place in range(4)]))
    return b"".join(_rounded(each).tobytes() for each in (kinds, first, least))
