"""What the analyst is given: whole reports, or only how often each bit of them was set.

Given the data, the sums of the k bits of a unary encoding are independent, and replacing one
user's value changes the laws of two of them: the old value's bit loses a holder, and the new
value's bit gains one. So the view is a product of two pairs, one in each order, and each of them
is a bit on top of everybody else's bits (``haystack.bits``). Dominating pairs multiply (Zhu, Dong
and Wang 2022, Thm 10), so the product of what dominates each over all datasets is an upper end;
every single dataset is a lower one (docs/theory.md). Sums can be computed from the reports, so what
bounds those bounds them, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from shuffledp._types import End, Floats, View
from shuffledp.accounting.accuracy import DEFAULT_GAP, ROUGH_GAP, SOLVE_GAP
from shuffledp.accounting.haystack import BitDataset, BitScan
from shuffledp.accounting.pld import Composition, LossDistribution, chosen_knots, optimistic, pessimistic_orders
from shuffledp.accounting.reductions import MODEL, Curve, Reduction, Theorem, reduce
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.randomizers.unary import BitLaw, UnaryEncoding
from shuffledp.wording import statement

VIEWS: tuple[View, ...] = ("reports", "sums")

PER_DEVIATION, PER_DEVIATION_ROUGHLY = 40, 10  # grid points per typical loss of one sum
LEAST_TYPICAL = 1e-30  # no grid is finer for losses smaller than that
LARGEST_INDEX = 1 << 19  # of a loss on the grid: the whole product fits into one transform
BitCurve: TypeAlias = BitDataset | BitScan
FEW_USERS = 6  # every dataset of so few is looked at by itself
CELLS = (0.0, 2.0**-10, 2.0**-8, 2.0**-6, 2.0**-4, 0.25, 0.5)  # shares of holders, and as many from above


def reduce_sums(randomizer: Randomizer, n: int) -> Reduction:
    """What is proven about the sums of the bits of ``n`` honest users (the target among them)."""
    if not isinstance(randomizer, UnaryEncoding):
        raise InvalidInput(
            f'the view "sums" must be of reports that are bits, got {type(randomizer).__name__}. Use unary encoding.'
        )
    law, third = randomizer.bit, randomizer.k > 2
    ends = sorted({(0, n - 1), (n - 1, 0), ((n - 1) // 2, n - 1 - (n - 1) // 2)})
    named = [(0, 0), *ends] if third and n > 1 else ends
    curves: tuple[Curve, ...]
    if n <= FEW_USERS:
        every = [(a, b) for a in range(n) for b in range(n - a) if third or a + b == n - 1]
        curves = lowers = tuple(SumsCurve.of(law, n, each) for each in every)
    else:
        curves = _cells(law, n, third)
        lowers = tuple(SumsCurve.of(law, n, each) for each in named)
    assumptions = tuple(statement("sums only") if each == statement("shuffler") else each for each in MODEL)
    theorems: tuple[Theorem, ...] = (Theorem(statement("sums"), curves),)
    if n > FEW_USERS and len(curves) > 1:  # what bounds the reports may be smaller than coarse cells
        theorems += reduce(randomizer, n, "shuffled").theorems
    return Reduction(theorems, assumptions + randomizer.assumptions, lowers, randomizer.epsilon0)


def _cells(law: BitLaw, n: int, third: bool) -> tuple[SumsCurve, ...]:
    """Every dataset is in a cell.

    Where a holder adds no less noise than another user, few holders of both values leak about
    most, and one cell of all pairs of numbers is close. Otherwise, or where everybody holds one of
    the two values, it would have more holders than there are users: cells keep their sum in bounds.
    """
    everybody = (0, n - 1)
    if third and law.p * law.not_p >= law.q * law.not_q * (1.0 - 1e-9):
        symmetric = law == law.flipped()
        return (SumsCurve(law, n, everybody, everybody, (n - 1, 0) if symmetric else (0, 0)),)
    edges = sorted({round(share * n) for share in CELLS} | {n - round(share * n) for share in CELLS})
    cells = []
    for least, after in pairwise(edges):
        most = after - 1
        second = (0 if third else n - 1 - most, n - 1 - least)
        example = (most, n - 1 - most) if 2 * most >= n - 1 else (least, n - 1 - least)
        cells.append(SumsCurve(law, n, (least, most), second, example))
    return tuple(cells)


@dataclass(frozen=True)
class SumsCurve:
    """Two bits' sums on all datasets whose numbers of holders lie from the least to the most in
    ``first`` and in ``second``; ``example`` is one of them, and gives the lower end.
    """

    law: BitLaw
    n: int
    first: tuple[int, int]
    second: tuple[int, int]
    example: tuple[int, int]

    @classmethod
    def of(cls, law: BitLaw, n: int, holders: tuple[int, int]) -> SumsCurve:
        """One dataset: so many of the others hold the target's value in either world."""
        first, second = holders
        return cls(law, n, (first, first), (second, second), holders)

    @property
    def name(self) -> str:
        if self._example is not self:
            first, second = (f"{least} to {most}" for least, most in (self.first, self.second))
        elif sum(self.example) == 0:
            return "sums; all others hold a third value"
        else:
            first, second = map(str, self.example)
        return f"sums; of the others, {first} hold x0 and {second} hold x1"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """The lower end is that of the example, the upper end holds for every dataset."""
        lower = self._example.product.deltas(epsilons, "lower", gap)
        return lower, self.product.deltas(epsilons, "upper", gap)

    def swapped(self) -> SumsCurve:
        return SumsCurve(self.law, self.n, self.second, self.first, self.example[::-1])

    @cached_property
    def _example(self) -> SumsCurve:
        alone = SumsCurve.of(self.law, self.n, self.example)
        return self if self == alone else alone

    @cached_property
    def product(self) -> SumsProduct:
        """The pair of sums, or what dominates it."""
        one, two = (
            BitDataset(self.law, holders, self.n - 1 - holders, place == 0)
            for place, holders in enumerate(self.example)
        )
        sides: tuple[BitCurve, BitCurve] = (one, two)
        if self._example is not self:
            sides = BitScan(self.law, self.n, *self.first, True), BitScan(self.law, self.n, *self.second, False)
        return SumsProduct(*sides, one, max(self.law.up, self.law.down))


class SumsProduct:
    """The product of two independent sums' pairs, by their loss distributions; knots are chosen by
    what is ``likely``.
    """

    def __init__(self, first: BitCurve, second: BitCurve, likely: BitDataset, ceiling: float) -> None:
        orders = likely, likely.swapped()

        def larger(epsilons: Floats) -> Floats:
            return np.asarray(np.max([order.bounds(epsilons)[1] for order in orders], axis=0))

        self.sides, self.larger, self.ceiling = (first, second), larger, ceiling
        self._grids: dict[bool, _Grid] = {}

    def deltas(self, epsilons: Floats, end: End, gap: float) -> Floats:
        """One end of delta at every epsilon >= 0."""
        rough = gap >= ROUGH_GAP
        if rough not in self._grids:
            self._grids[rough] = _Grid(
                self, *((ROUGH_GAP, PER_DEVIATION_ROUGHLY) if rough else (SOLVE_GAP, PER_DEVIATION))
            )
        return self._grids[rough].composition(end).deltas(epsilons, end)


class _Grid:
    """The product on one grid of losses."""

    def __init__(self, product: SumsProduct, gap: float, per_deviation: int) -> None:
        self.sides, self.gap, larger = product.sides, gap, product.larger
        typical = max(float(np.sqrt(2.0 * np.pi) * larger(np.zeros(1))[0]), LEAST_TYPICAL)
        self.spacing = typical / per_deviation
        knots = chosen_knots(larger, typical, product.ceiling, self.spacing)
        if knots[-1] > LARGEST_INDEX:  # losses of very different sizes
            self.spacing *= float(knots[-1]) / LARGEST_INDEX
            knots = chosen_knots(larger, typical, product.ceiling, self.spacing)
        place = np.arange(knots.size)  # beyond five typical losses every second will do: delta is small
        self.knots = knots[(knots <= 5 * per_deviation) | (place % 2 == 0) | (place == place[-1])]
        self._bands: dict[BitCurve, tuple[Floats, Floats]] = {}
        self._composed: dict[End, Composition] = {}

    def composition(self, end: End) -> Composition:
        """A composition that is dominated by the product, or that dominates it."""
        if end not in self._composed:
            self._composed[end] = Composition([(self._law(side, end), 1) for side in self.sides])
        return self._composed[end]

    def _law(self, side: BitCurve, end: End) -> LossDistribution:
        there, back = self._band(side), self._band(side.swapped())
        if end == "lower":
            return optimistic(there, back, self.knots, self.spacing)
        return pessimistic_orders(there[1], back[1], self.knots, self.spacing)[0]

    def _band(self, curve: BitCurve) -> tuple[Floats, Floats]:
        known = curve.mirrored()
        if known not in self._bands:
            self._bands[known] = known.bounds(self.spacing * self.knots, self.gap)
        return self._bands[known]
