"""Randomizer + people + adversary -> curves that bound the leakage from both sides, by theorems.

The first-clone swap of a randomizer (``haystack.clone_swap``) needs the kinds of users that
there are, and the law omega that is swapped in. It may be any; what it costs is, for a kind of hay
h, about the mean of r + 1/r - 2 over the outputs that tell the target's inputs apart, r = omega /
h, divided by n. So omega should be near the hay of the kinds that leak most, and still leave a
large kappa.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from shuffledp._types import Adversary, Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, ROUGH_GAP
from shuffledp.accounting.haystack import (
    BinaryDataset,
    BinaryScan,
    FirstClone,
    Haystack,
    HaystackFamily,
    Slots,
    SwapFamily,
)
from shuffledp.accounting.haystack.location_swap import LocationSwap
from shuffledp.errors import InvalidInput
from shuffledp.randomizers import AnyDeletionLDP, AnyLDP
from shuffledp.randomizers.any_ldp import AnyRandomizer
from shuffledp.randomizers.location import ScaledNoise
from shuffledp.randomizers.parameters import LARGEST_EPSILON0
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.randomizers.support import Overlap, SupportRandomizer
from shuffledp.wording import statement

NEAR_HAY = 1.2  # omega / hay where the target's inputs are told apart, for a third value whose report supports neither


def support_swaps(randomizer: SupportRandomizer, n: int) -> tuple[FirstClone, ...]:
    """The swap for every kind of pair, one order of each: the other is the same by symmetry.

    omega is the base law, less by a factor theta where an output supports one of x0 and x1 only,
    and more by e^epsilon0 where it supports every input. Its ratio to the base law depends on who
    of x0 and x1 is supported, so a third value matters only by how its support overlaps with
    theirs: the users are of the kinds x0, x1 and those of ``overlaps()``.
    """
    pairs: dict[str, list[Overlap]] = {}
    for overlap in randomizer.overlaps():
        pairs.setdefault(overlap.pair, []).append(overlap)
    return tuple(_support_swap(randomizer, n, overlaps) for overlaps in pairs.values())


def _support_swap(randomizer: SupportRandomizer, n: int, overlaps: Sequence[Overlap]) -> FirstClone:
    growth, z = math.exp(randomizer.epsilon0), randomizer.normaliser
    universal = overlaps[0].universal
    two: dict[tuple[int, ...], float] = {}
    for pattern, base in overlaps[0].table.items():
        two[pattern[:2]] = two.get(pattern[:2], 0.0) + base
    agreed = two[0, 0] + two[1, 1] + universal * growth
    split = two[0, 1] + two[1, 0]
    theta = NEAR_HAY * agreed / max(z - NEAR_HAY * split, NEAR_HAY * agreed) if agreed > 0.0 else 1.0
    norm = agreed + theta * split

    def slots(table: dict[tuple[int, ...], float], holder: int | None) -> Floats:
        """The target's laws, the hay of ``holder`` (None: the blanket), and omega."""
        columns = []
        for pattern, base in table.items():
            favour = 0 if holder is None else pattern[holder]
            powers = (growth ** pattern[0] / z, growth ** pattern[1] / z, growth**favour / z)
            columns.append([base * each for each in (*powers, (theta if pattern[0] != pattern[1] else 1.0) / norm)])
        columns.append([universal * each for each in (growth / z, growth / z, growth / z, growth / norm)])
        return np.array(columns).T

    kinds = [slots(two, 0), slots(two, 1), *(slots(dict(o.table), 2) for o in overlaps if o.third is not None)]
    width = max(kind.shape[1] for kind in kinds)
    table = np.stack([np.pad(kind, ((0, 0), (0, width - kind.shape[1]))) for kind in kinds], axis=1)
    blanket = slots(two, None)
    return FirstClone(
        "; ".join(part for part in ("first-clone swap", overlaps[0].pair) if part),
        n,
        _kappa(table[2], table[3]),
        Slots(blanket[0], blanket[1], blanket[3], np.zeros(blanket.shape[1])),
        Slots(*table),
        Slots(*blanket),
    )


def _kappa(hay: Floats, omega: Floats) -> float:
    held = omega > 0.0
    return float((hay[held] / omega[held]).min())


def any_static_swap(epsilon0: float, n: int) -> FirstClone:
    """The swap for any epsilon0-LDP randomizer that is fixed in advance; E = e^epsilon0.

    omega = (m_0 + m_1) / 2 <= E h_i, so kappa = 1 / E. In slot 1 m_0 / omega lies between 2 / (E +
    1) and 2E / (E + 1) with mean 1, and the score is linear in it: no law is above the one on the
    two ends.

    Elsewhere let (a, b) = (m_0, m_1) / h_i. It lies in the hexagon with the vertices (E, 1), (E,
    E), (1, E), (1/E, 1), (1/E, 1/E), (1, 1/E) and has mean (1, 1) under h_i. A slot of mass h_i (1
    - u (a+b)/2) enters by the mean of the perspective l f((a - xb) / l) + (1 - l) f(0), l = 1 - u
    (a+b)/2, f convex, and that is convex in (a, b). So only laws on the vertices matter, and of
    those the extreme ones: on two vertices whose line goes through (1, 1), or on three that form a
    triangle around it. They are binary response with all others on x1 or on x0; the two vertices
    where a = b; ternary response with all others on a third value; and the other triangle. Where l
    vanishes, at u = kappa, a = b = E and w <= 0.
    """
    e = math.exp(epsilon0)
    up, down = (e, 1.0), (1.0, e)  # corners (a, b), which scaled by 1/E are three more
    kinds = (
        ((up, 1.0), (_scaled(down, 1.0 / e), e)),
        ((down, 1.0), (_scaled(up, 1.0 / e), e)),
        (((e, e), 1.0), ((1.0 / e, 1.0 / e), e)),
        ((up, 1.0), (down, 1.0), ((1.0 / e, 1.0 / e), e)),
        (((e, e), 1.0), (_scaled(down, 1.0 / e), e), (_scaled(up, 1.0 / e), e)),
    )
    table = np.zeros((4, len(kinds), 3))
    for row, kind in enumerate(kinds):
        total = math.fsum(weight for _, weight in kind)
        for column, ((a, b), weight) in enumerate(kind):
            table[:, row, column] = weight / total * np.array([a, b, 1.0, 0.5 * (a + b)])
    rare, common = 1.0 / (e + 1.0), 1.0 / (math.exp(-epsilon0) + 1.0)
    first = Slots(np.array([common, rare]), np.array([rare, common]), np.full(2, 0.5), np.zeros(2))
    return FirstClone("first-clone swap", n, math.exp(-epsilon0), first, Slots(*table))


def _scaled(corner: tuple[float, float], factor: float) -> tuple[float, float]:
    return corner[0] * factor, corner[1] * factor


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
    "every person applies an epsilon0-LDP randomizer: the same for all or, where a secret, uniformly random order of "
    "people is drawn first, one that belongs to the position and may depend on earlier reports"
)
REFERENCE = (
    "every report's distribution, whatever its input, is (epsilon0, delta0)-close to one reference distribution: the "
    "randomizer and its reference are the same for all people or, where a secret, uniformly random order of people "
    "is drawn first, belong to the position and may depend on earlier reports"
)
STATIC = (
    "every person applies an epsilon0-LDP randomizer that is fixed in advance: the same for all, or such that any two "
    "laws of any two people are within a factor of e^epsilon0"
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
    """The first-clone swap, where kinds of people are known and it may gain something."""
    curves: tuple[FirstClone | SwapFamily | LocationSwap, ...] = ()
    if n > 1 and isinstance(randomizer, SupportRandomizer):
        curves = support_swaps(randomizer, n)
    elif n > 1 and (table := randomizer.table) is not None and len(table) ** 3 * table.shape[1] <= MOST_SWAPPED:
        curves = (SwapFamily.of(table, n),)
    elif n > 1 and isinstance(randomizer, ScaledNoise):
        curves = (LocationSwap(randomizer, n),)
    return worthwhile(*curves)


def worthwhile(*curves: FirstClone | SwapFamily | LocationSwap) -> tuple[Theorem, ...]:
    """The swap by these ``curves``, if it can gain something."""
    return (Theorem(SWAP, curves),) if any(curve.worthwhile for curve in curves) else ()


def _leakiest(families: Sequence[HaystackFamily], epsilon0: float) -> tuple[Haystack, ...]:
    """Single pairs and datasets that leak most somewhere; any choice is valid."""
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
            f'the adversary "{adversary}" is defined by a law, got {type(randomizer).__name__}. Name a randomizer.'
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
    """A randomizer that shows its input with probability delta0, else pure: a lower bound.

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
