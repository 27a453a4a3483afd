"""Randomizer + number of users + adversary -> curves that bound the leakage from both sides: each
one a theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from shuffledp._types import Adversary, Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, ROUGH_GAP
from shuffledp.accounting.haystack import BinaryDataset, BinaryScan, FirstClone, Haystack, HaystackFamily, SwapFamily
from shuffledp.accounting.haystack.location_swap import LocationSwap
from shuffledp.accounting.swapping import any_static_swap, support_swaps
from shuffledp.errors import InvalidInput
from shuffledp.randomizers import AnyDeletionLDP, AnyLDP
from shuffledp.randomizers.any_ldp import AnyRandomizer
from shuffledp.randomizers.parameters import LARGEST_EPSILON0
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.randomizers.scaled_noise import ScaledNoise
from shuffledp.randomizers.support import SupportRandomizer
from shuffledp.wording import statement

__all__ = [
    "ADVERSARIES",
    "SILENT",
    "Curve",
    "Reduction",
    "Scanned",
    "Theorem",
    "reduce",
    "swaps",
    "worthwhile",
]

ADVERSARIES: tuple[Adversary, ...] = ("shuffled", "weak", "strong")

MODEL = (statement("replace one"), statement("shuffler"), statement("fresh randomness"))
BLANKET = statement("blanket")
THEOREM = "any-randomizer theorem (docs/theory.md)"
DELETION = "deletion theorem (docs/theory.md)"
THM_3_8 = "clones with approximate local privacy (Feldman et al. 2020, Thms 3.2 and 3.8)"
LEMMA_3_7 = "deletion theorem with approximate local privacy (docs/theory.md; Feldman et al. 2020, Lemma 3.7)"
SCAN = statement("scan")
SWAP = statement("swap")
WEAK = "exact view of the weak adversary (Koskela et al. 2021; Balle et al. 2019, Lemma 8)"
SILENT = "equal laws: a report says nothing about its sender"
STRONG = "exact view of the strong adversary (docs/theory.md)"
ADAPTIVE = (
    "every user applies an epsilon0-LDP randomizer: the same for all or, where a secret, uniformly random order of the "
    "users is drawn first, one that belongs to the position and may depend on earlier reports"
)
REFERENCE = (
    "every report's distribution, whatever its input, is (epsilon0, delta0)-close to one reference distribution: the "
    "randomizer and its reference are the same for all users or, where a secret, uniformly random order of the users "
    "is drawn first, belong to the position and may depend on earlier reports"
)
STATIC = (
    "every user applies an epsilon0-LDP randomizer that is fixed in advance: the same for all, or such that any two "
    "laws of any two users are within a factor of e^epsilon0"
)

MOST_SWAPPED = 1 << 17  # pairs times kinds times outputs: larger tables are left to the blanket
FEW_INPUTS = 3  # matrices with more are searched for the pairs that leak most


class Curve(Protocol):
    """delta(eps) of one ordered pair of laws, or of several at once, known between two ends."""

    @property
    def name(self) -> str:
        """What the pair is, in words."""

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Lower and upper ends at every epsilon >= 0, about a relative ``gap`` apart."""

    def swapped(self) -> Curve:
        """The curve of the pair in the other order."""


@runtime_checkable
class Scanned(Protocol):
    """A curve that is the largest of several pairs, and knows which one is at an epsilon."""

    def worst(self, epsilon: float) -> Curve:
        """The single pair that leaks most."""


@dataclass(frozen=True, slots=True)
class Theorem:
    """An upper end: at every epsilon >= 0 delta is at most the largest upper end of ``curves``.

    They cover both orders of every pair of neighbors; unless ``backward`` is given, which covers
    the other order then.
    """

    method: str
    curves: tuple[Curve, ...]
    backward: tuple[Curve, ...] = ()

    def of(self, order: int | None) -> tuple[Curve, ...]:
        """The curves of one order, 0 or 1, or of both."""
        if order is None or not self.backward:
            return self.curves + self.backward
        return self.backward if order else self.curves


@dataclass(frozen=True, slots=True)
class Reduction:
    """What is proven about one round.

    At every epsilon >= 0 the mechanism's delta is at most what each of the ``theorems`` says, and
    at least every lower end of ``lowers``; from ``ceiling`` on it is 0.
    """

    theorems: tuple[Theorem, ...]
    assumptions: tuple[str, ...]
    lowers: tuple[Curve, ...]
    ceiling: float

    @property
    def orders(self) -> int:
        """2 if a theorem treats the two orders of the target's inputs differently, else 1."""
        return 2 if any(theorem.backward for theorem in self.theorems) else 1

    @property
    def uppers(self) -> tuple[Curve, ...]:
        """Every curve of every theorem."""
        return tuple(curve for theorem in self.theorems for curve in theorem.of(None))


def reduce(randomizer: Randomizer, n: int, adversary: Adversary) -> Reduction:
    """The best proven reduction for ``n`` honest users (the target among them)."""
    assumptions = MODEL + randomizer.assumptions
    if isinstance(randomizer, AnyRandomizer):
        return _any(randomizer, n, adversary, assumptions)
    ceiling = randomizer.epsilon0 if randomizer.delta0 == 0.0 else math.inf
    if ceiling == 0.0:
        return Reduction((Theorem(SILENT, ()),), assumptions, (), 0.0)
    if adversary == "weak":
        view = "the analyst also learns which of the other reports depend on their senders' data, and discards them"
        return _blanket_view(Haystack.of, randomizer, n, WEAK, (*assumptions, view), ceiling)
    if adversary == "strong":
        view = "as the weak adversary, and the analyst also learns whether the target's own report depends on its data"
        return _blanket_view(Haystack.strong, randomizer, n, STRONG, (*assumptions, view), math.inf)
    if randomizer.binary:
        scan = (BinaryScan(randomizer.epsilon0, n),)
        return Reduction((Theorem(SCAN, scan),), assumptions, scan, randomizer.epsilon0)
    table = randomizer.table
    if table is not None and len(table) > FEW_INPUTS:
        everybody = [HaystackFamily(f"all others hold {x}", n, row, table) for x, row in enumerate(table)]
        upper = HaystackFamily("blanket", n, table.min(axis=0), table)
        theorems = (Theorem(BLANKET, (upper,)), *swaps(randomizer, n))
        return Reduction(theorems, assumptions, _leakiest(everybody, ceiling), ceiling)
    uppers = tuple(Haystack.of(atoms, n) for atoms in randomizer.blankets("upper"))
    lowers = tuple(Haystack.of(atoms, n) for atoms in randomizer.datasets())
    theorems = (Theorem(BLANKET, uppers), *swaps(randomizer, n))
    return Reduction(theorems, assumptions, lowers, ceiling)


def swaps(randomizer: Randomizer, n: int) -> tuple[Theorem, ...]:
    """The first-clone swap, where the kinds of users are known and the blanket leaves something to
    gain.
    """
    table = randomizer.table
    curves: tuple[FirstClone | SwapFamily | LocationSwap, ...] = ()
    if n > 1 and isinstance(randomizer, SupportRandomizer):
        curves = support_swaps(randomizer, n)
    elif n > 1 and table is not None and len(table) ** 3 * table.shape[1] <= MOST_SWAPPED:
        curves = (SwapFamily.of(table, n),)
    elif n > 1 and isinstance(randomizer, ScaledNoise):
        curves = (LocationSwap(randomizer, n),)
    return worthwhile(*curves)


def worthwhile(*curves: FirstClone | SwapFamily | LocationSwap) -> tuple[Theorem, ...]:
    """The swap by these ``curves``, if it can gain something."""
    return (Theorem(SWAP, curves),) if any(curve.worthwhile for curve in curves) else ()


def _leakiest(families: Sequence[HaystackFamily], epsilon0: float) -> tuple[Haystack, ...]:
    """Single pairs and datasets that leak most somewhere between small and large epsilons; any
    choice is a valid lower bound.
    """
    members: dict[tuple[int, int, int], Haystack] = {}
    typical = float(families[0].bounds(np.zeros(1), ROUGH_GAP)[1][0])
    reach = min(epsilon0, LARGEST_EPSILON0)
    probes = np.unique(
        np.clip(
            [0.0, typical, 3.0 * typical, 6.0 * typical, 12.0 * typical, *(reach * share for share in (0.3, 0.6, 0.9))],
            0.0,
            0.95 * reach,
        )
    )
    for place, family in enumerate(families):
        members |= {(place, i, j): family.member(i, j) for i, j in family.likely(probes).tolist()}
    chosen = list(members.values())
    values = np.array([member.bounds(probes, ROUGH_GAP)[0] for member in chosen])
    return tuple(chosen[best] for best in dict.fromkeys(values.argmax(axis=0).tolist()))


def _blanket_view(
    view: Callable[[Atoms, int], Haystack],
    randomizer: Randomizer,
    n: int,
    method: str,
    assumptions: tuple[str, ...],
    ceiling: float,
) -> Reduction:
    table = randomizer.table
    if table is not None and len(table) > FEW_INPUTS:
        family = HaystackFamily("blanket", n, table.min(axis=0), table, strong=view == Haystack.strong)
        lowers: tuple[Curve, ...] = _leakiest([family], randomizer.epsilon0)
        return Reduction((Theorem(method, (family,)),), assumptions, lowers, ceiling)
    uppers = tuple(view(atoms, n) for atoms in randomizer.blankets("upper"))
    lowers = tuple(view(atoms, n) for atoms in randomizer.blankets("lower"))
    return Reduction((Theorem(method, uppers),), assumptions, lowers, ceiling)


def _any(randomizer: AnyRandomizer, n: int, adversary: Adversary, assumptions: tuple[str, ...]) -> Reduction:
    if adversary == "strong" or (adversary == "weak" and randomizer.delta0 > 0.0):
        raise InvalidInput(
            f'the adversary "{adversary}" is defined by the blanket of a known randomizer, got '
            f"{type(randomizer).__name__}. "
            'Name the randomizer, or use adversary="shuffled".'
        )
    deletion = isinstance(randomizer, AnyDeletionLDP)
    static = isinstance(randomizer, AnyLDP) and not randomizer.adaptive
    assumptions = (*assumptions[:-1], REFERENCE if deletion else STATIC if static else ADAPTIVE)
    ceiling = randomizer.replaced[0]
    uppers = tuple(Haystack.of(atoms, n) for atoms in randomizer.blankets("upper"))
    theorem = Theorem(DELETION if deletion else THEOREM, uppers)
    if adversary == "weak":  # there is a randomizer that attains the theorem's bound in the weak view
        return Reduction((theorem,), assumptions, uppers, ceiling)
    lowers: tuple[Curve, ...] = tuple(Haystack.of(atoms, n) for atoms in randomizer.datasets())
    if randomizer.delta0 > 0.0:
        name, clones = LEMMA_3_7 if deletion else THM_3_8, Haystack.of(randomizer.clones(), n)
        leaking = _LeakyClones(name, clones, *randomizer.replaced, randomizer.distance(n))
        *_, third = randomizer.datasets()  # all others hold a value that the target cannot have
        leaky = _Leaky(Haystack.of(third, n), randomizer.delta0)
        return Reduction((Theorem(name, (leaking,)),), assumptions, (leaky,), math.inf)
    if not deletion:
        binary = (BinaryDataset(ceiling, n - 1 - ones, ones) for ones in sorted({0, (n - 1) // 2, n - 1}))
        lowers = (*binary, *lowers)
    swap = (Theorem(SWAP, (any_static_swap(ceiling, n),)),) if static and n > 1 else ()
    return Reduction((theorem, *swap), assumptions, lowers, ceiling)


@dataclass(frozen=True, slots=True)
class _LeakyClones:
    """Clones of reports that are only within a ``distance``, in total variation, of those that make
    them; never worse than the local guarantee.

    delta(eps) <= clones(eps') + (e^eps' + 1) distance for every eps' <= eps. The local guarantee of
    the target's own report is the dominating pair of (eps0, delta0)-DP: delta0 + (1 - delta0)
    (e^eps0 - e^eps)_+ / (e^eps0 + 1).
    """

    name: str
    clones: Haystack
    epsilon0: float
    delta0: float
    distance: float

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        # The bound is convex in e^eps', so it is used up to about where it is least and kept from
        # there on; any turning point is valid.
        grid = self.epsilon0 * np.linspace(0.0, 1.0, 65)
        turning = grid[np.argmin(self.clones.bounds(grid, ROUGH_GAP)[1] + self._leak(grid))]
        at = np.minimum(epsilons, turning)
        local = self.delta0 - (1.0 - self.delta0) * np.expm1(np.minimum(epsilons - self.epsilon0, 0.0)) / (
            1.0 + math.exp(-self.epsilon0)
        )
        lower, upper = self.clones.bounds(at, gap)
        return np.minimum(lower + self._leak(at), local), np.minimum(upper + self._leak(at), local)

    def _leak(self, epsilons: Floats) -> Floats:
        return np.asarray((np.exp(epsilons) + 1.0) * self.distance)

    def swapped(self) -> _LeakyClones:
        return self


@dataclass(frozen=True, slots=True)
class _Leaky:
    """A randomizer that shows its input with probability delta0 and is pure otherwise: (eps0,
    delta0)-LDP, so a lower bound.

    All others hold a value that the target cannot have, so their leaks only thin the hay.
    """

    pure: Haystack
    delta0: float

    @property
    def name(self) -> str:
        return f"leaky randomized response, {self.pure.name}"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        lower, upper = self.pure.bounds(epsilons, gap)
        return self.delta0 + (1.0 - self.delta0) * lower, self.delta0 + (1.0 - self.delta0) * upper

    def swapped(self) -> _Leaky:
        return _Leaky(self.pure.swapped(), self.delta0)
