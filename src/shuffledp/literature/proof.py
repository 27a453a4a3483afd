"""The two ends of one round, proven in ball arithmetic: by ``judge.balls``, which shares
no code with the accountant, from the law's own parameters wherever they say all.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from shuffledp._types import End
from shuffledp.accounting.curves import Bound, Proof, ProvenEnd
from shuffledp.accounting.guarantee import Goal
from shuffledp.accounting.haystack import (
    BinaryDataset,
    BinaryScan,
    FirstClone,
    Haystack,
    HaystackFamily,
    Slots,
    SwapFamily,
)
from shuffledp.accounting.reductions import Curve, Theorem
from shuffledp.accounting.rounds import Round
from shuffledp.accounting.shuffled import Shuffled
from shuffledp.errors import InvalidInput, Refusal
from shuffledp.wording import rounded

if TYPE_CHECKING:
    from flint import arb

    from shuffledp.judge.balls import Needle, SwappedClone

TOLERANCES = (1e-3, 1e-6, 1e-8, 1e-10)  # relative: as fine as it takes to decide
WHOLE = 1e-12  # hay of floats that misses no more of a law is one
SAME = 1e-9  # relative: masses that differ by no more are one mass, rounded
# Relative: how far beside an end the nearest proven one is looked for.
NUDGES = tuple(1e-9 * 8.0**step for step in range(9))
PARAMETERS = "the law in balls, from its parameters"
FARTHER = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # where another theorem is left
SWAP_TRIES: tuple[tuple[int | None, float | None], ...] = ((10, 0.1), (None, 0.03), (None, None))  # levels, and blur
TABLE = "the law's table, taken as exact"
CLASSES = (
    "the classes of outputs that the accountant made of the law, taken as exact: that they bound the law itself is not "
    "part of this proof"
)

Enclosure = Callable[[float, float], "arb"]


def prove(goal: Goal, bound: Bound) -> Proof:
    """The ends of ``bound``, or the nearest that can be proven."""
    try:
        from shuffledp.judge.balls.arithmetic import precision
    except ImportError:
        rule = "python-flint must be installed to prove a bound in ball arithmetic"
        raise InvalidInput(Refusal(rule, "no such package", "Install the extra: shuffledp[arb].")) from None
    mechanism = goal.guarantee
    if not isinstance(mechanism, Round):
        rule, got = "a bound must be of one round to be proven in ball arithmetic", f"one of {mechanism.describe()}"
        raise InvalidInput(Refusal(rule, got, "Prove the bound of a single round: survey.epsilon(delta=...).proven()."))
    began = time.process_time()
    users = mechanism.honest if isinstance(mechanism, Shuffled) else 1 << 40
    bits = 128 + 2 * users.bit_length()
    with precision(bits):
        prover = _Prover(mechanism)
        if goal.asked == "epsilon":
            upper, lower = prover.epsilon_upper(bound.upper, goal.at), prover.epsilon_lower(bound.lower, goal.at)
        else:
            upper, lower = prover.delta_upper(bound.upper, goal.at), prover.delta_lower(bound.lower, goal.at)
    words = _words(goal, bound, lower, upper, prover)
    return Proof(lower, upper, words, bits, time.process_time() - began)


def _words(goal: Goal, bound: Bound, lower: ProvenEnd, upper: ProvenEnd, prover: _Prover) -> str:
    name = goal.asked
    at = f"at {'delta' if name == 'epsilon' else 'epsilon'} = {goal.at:g}"
    ends = []
    for sign, given, proven in (("<=", bound.upper, upper), (">=", bound.lower, lower)):
        shown = f"{proven.value!r}"
        if math.isfinite(proven.value) and proven.value:
            shown = rounded(proven.value, up=sign == "<=")
        beside = "" if proven.as_given else f" (the nearest that is proven; {given!r} as given is not)"
        ends.append(f"{name} {sign} {shown}{beside}")
    bases = list(dict.fromkeys(prover.bases.values()))
    how = f"; {'; for the lower end, '.join(bases)}" if bases else ""
    beside = f"; not in balls: {prover.left_out}" if prover.left_out else ""
    return f"{' and '.join(ends)} {at}, proven in ball arithmetic by {prover.method}{how}{beside}"


class _Prover:
    """One round's theorems and datasets as functions of (epsilon, tolerance) that enclose delta."""

    def __init__(self, mechanism: Round) -> None:
        self.mechanism = mechanism
        self.ceiling = mechanism.ceiling
        self.method = mechanism.method
        self.laws = _laws(mechanism)
        self.bases: dict[End, str] = {}
        self.left_out = ""  # a theorem that has no balls yet

    # Upper ends: some theorem's every curve is at most the claim.

    def at_most(self, epsilon: float, claim: float) -> tuple[float, float]:
        """An enclosure of the best theorem's delta, as fine as it takes to tell whether that is at
        most ``claim``.
        """
        if epsilon >= self.ceiling:
            return 0.0, 0.0
        best, refused = (0.0, math.inf), None
        for theorem in self._theorems(epsilon):
            try:
                found = self._largest(theorem, epsilon, claim)
            except InvalidInput as error:
                self.left_out, refused = theorem.method, error
                continue
            if found[1] < best[1]:
                best, self.method = found, theorem.method
            if best[1] <= claim:
                break
        if best[1] == math.inf and refused is not None:
            raise refused
        return best

    def _theorems(self, epsilon: float) -> Sequence[Theorem]:
        """The likeliest first."""
        likely = self.mechanism._method_at(epsilon)
        return sorted(self.mechanism.reduction.theorems, key=lambda theorem: theorem.method != likely)

    def _largest(self, theorem: Theorem, epsilon: float, claim: float) -> tuple[float, float]:
        low, high = 0.0, 0.0
        for enclosure in self._uppers(theorem, claim):
            found = _decided(enclosure, epsilon, claim)
            low, high = max(low, found[0]), max(high, found[1])
            if low > claim:
                break
        return low, high

    def _uppers(self, theorem: Theorem, claim: float) -> list[Enclosure]:
        """What a theorem is made of; for the swap, if its parameters tell, the law's own,
        for every kind of pair in both orders.
        """
        curves = theorem.of(None)
        swaps = self._swaps() if any(isinstance(curve, FirstClone) for curve in curves) else []
        if swaps:
            self.bases.setdefault("upper", PARAMETERS)
            return swaps
        return [each for curve in curves for each in self._enclosures(curve, "upper", claim)]

    def _swaps(self) -> list[Enclosure]:
        from shuffledp.judge.balls import swaps_of

        if not isinstance(self.mechanism, Shuffled) or self.mechanism.adversary != "shuffled":
            return []
        users = self.mechanism.honest
        return [_swap(each, users) for each in swaps_of(self.mechanism.randomizer.describe())]

    def _enclosures(self, curve: Curve, end: End, claim: float) -> list[Enclosure]:
        """What a curve is made of, in balls: the laws that its parameters describe if they are its
        own, else its masses, taken as exact.
        """
        from shuffledp.judge.balls import TwoValues

        basis, found = PARAMETERS, []
        if isinstance(curve, BinaryScan):
            scan = TwoValues(curve.epsilon0, curve.n)
            upper: Enclosure = lambda epsilon, _: scan.at_most(epsilon, claim)  # noqa: E731
            lower: Enclosure = lambda epsilon, _: scan.at_least(epsilon)[0]  # noqa: E731
            found = [upper if end == "upper" else lower]
        elif isinstance(curve, BinaryDataset):
            pair = TwoValues(curve.epsilon0, curve.zeros + curve.ones + 1)
            found = [lambda epsilon, _: pair.dataset(curve.zeros, curve.ones, epsilon)]
        elif isinstance(curve, FirstClone):
            basis, found = CLASSES, [_swap(_clone(curve), curve.n)]
        elif isinstance(curve, SwapFamily):
            basis, found = CLASSES, [_swap(_clone(each), each.n) for each in curve.members()]
        elif isinstance(curve, HaystackFamily):
            basis, found = TABLE, [_needle(each, curve.n) for each in _family(curve)]
        elif isinstance(curve, Haystack):
            known = next((each for each in self.laws if _alike(curve, each)), None)
            basis = CLASSES if known is None else self._basis()
            found = [_needle(known or _haystack(curve), curve.n)]
        else:
            rule = "a bound must rest on haystacks to be proven in ball arithmetic"
            remedy = "Take it as it is certified, or ask for another randomizer or adversary."
            raise InvalidInput(Refusal(rule, curve.name, remedy))
        if self.bases.get(end) != CLASSES:
            self.bases[end] = basis
        return found

    def _basis(self) -> str:
        tabled = isinstance(self.mechanism, Shuffled) and self.mechanism.randomizer.table is not None
        return TABLE if tabled else PARAMETERS

    # Lower ends: some dataset's delta is at least the claim.

    def at_least(self, epsilon: float, claim: float) -> tuple[float, float]:
        """An enclosure of the delta of the dataset that leaks most, among those tried."""
        if epsilon >= self.ceiling:
            return 0.0, 0.0
        lowers = self.mechanism.reduction.lowers
        enclosures = [each for curve in lowers for each in self._enclosures(curve, "lower", claim)]
        if not enclosures:
            return 0.0, 0.0
        rough = [_ends(enclosure(epsilon, TOLERANCES[0])) for enclosure in enclosures]
        best = max(range(len(rough)), key=lambda place: rough[place][0])
        return _decided(enclosures[best], epsilon, claim)

    # The four questions.

    def epsilon_upper(self, given: float, delta: float) -> ProvenEnd:
        """delta at the end is at most the delta of the goal."""
        tried = 0.0
        for factor in (0.0, *NUDGES, *FARTHER):
            if 0.0 < factor < FARTHER[0] and self.left_out:  # another theorem's end is not that near
                continue
            value = given * (1.0 + factor)
            if value >= self.ceiling or math.isinf(value):
                break
            found = self.at_most(value, delta)
            if found[1] <= delta:
                return ProvenEnd(value, found, True) if not factor else self._nearer(given, delta, tried, factor)
            tried = factor
        return ProvenEnd(self.ceiling, (0.0, 0.0), given >= self.ceiling)

    def _nearer(self, given: float, delta: float, low: float, high: float) -> ProvenEnd:
        """The nearest upper end that is proven, between shares ``low`` and ``high`` beside the one
        given.
        """
        found = self.at_most(given * (1.0 + high), delta)
        while high - low > max(0.1 * high, NUDGES[0]):
            middle = 0.5 * (low + high)
            ends = self.at_most(given * (1.0 + middle), delta)
            low, high, found = (low, middle, ends) if ends[1] <= delta else (middle, high, found)
        return ProvenEnd(given * (1.0 + high), found, False)

    def epsilon_lower(self, given: float, delta: float) -> ProvenEnd:
        """Some dataset's delta exceeds the delta of the goal there."""
        for factor in (0.0, *NUDGES):
            value = given * (1.0 - factor)
            if value <= 0.0:
                break
            found = self.at_least(value, delta)
            if found[0] > delta:
                return ProvenEnd(value, found, not factor)
        return ProvenEnd(0.0, self.at_least(0.0, delta), given == 0.0)

    def delta_upper(self, given: float, epsilon: float) -> ProvenEnd:
        """The theorem's delta is at most the end."""
        found = self.at_most(epsilon, given)
        return ProvenEnd(given if found[1] <= given else min(found[1], 1.0), found, found[1] <= given)

    def delta_lower(self, given: float, epsilon: float) -> ProvenEnd:
        """Some dataset's delta is at least the end."""
        found = self.at_least(epsilon, given)
        return ProvenEnd(given if found[0] >= given else max(found[0], 0.0), found, found[0] >= given)


def _decided(enclosure: Enclosure, epsilon: float, claim: float) -> tuple[float, float]:
    """Finer and finer, until the claim is proven or refuted."""
    low, high = 0.0, math.inf
    for tolerance in TOLERANCES:
        found = _ends(enclosure(epsilon, tolerance))
        low, high = max(low, found[0]), min(high, found[1])
        if not low <= claim < high:
            break
    return low, high


def _ends(number: arb) -> tuple[float, float]:
    from shuffledp.judge.balls.arithmetic import ends

    return ends(number)


def _needle(needle: Needle, users: int) -> Enclosure:
    return lambda epsilon, tolerance: needle.delta(users, epsilon, tolerance)


def _swap(swap: SwappedClone, users: int) -> Enclosure:
    """Only its upper end is known; a few levels or much blur may be enough, and there are three
    tries.
    """
    found: dict[tuple[float, int], arb] = {}

    def enclosure(epsilon: float, tolerance: float) -> arb:
        asked = (epsilon, min(TOLERANCES.index(tolerance), len(SWAP_TRIES) - 1))
        if asked not in found:
            found[asked] = swap.at_most(users, epsilon, *SWAP_TRIES[asked[1]]).union(0)
        return found[asked]

    return enclosure


def _clone(curve: FirstClone) -> SwappedClone:
    """One of the accountant's own swaps, its masses taken as exact."""
    from flint import arb

    from shuffledp.judge.balls import Slot, SwappedClone

    def slots(table: Slots) -> list[Slot]:
        columns = [getattr(table, name) for name in ("needle0", "needle1", "hay", "taken")]
        made = []
        for row in range(table.hay.shape[0]):
            some = np.flatnonzero(np.any([column[row] != 0.0 for column in columns], axis=0))
            made.append(Slot(*(tuple(arb(float(column[row, i])) for i in some) for column in columns)))
        return made

    (first,), kinds = slots(curve.first), slots(curve.others)
    total = sum(first.hay, arb(0))
    first = dataclasses.replace(first, hay=tuple(each / total for each in first.hay))
    least = None if curve.least is None else slots(curve.least)[0]
    return SwappedClone(arb(curve.kappa * (1.0 - 1e-13)), first, tuple(kinds), least)


def _laws(mechanism: Round) -> tuple[Needle, ...]:
    """All haystacks of a law that its parameters, or its table, describe."""
    from shuffledp.judge.balls import kinds_of, kinds_of_table

    if not isinstance(mechanism, Shuffled):
        return ()
    kinds = kinds_of(mechanism.randomizer.describe())
    table = mechanism.randomizer.table
    if kinds is None and table is not None:
        kinds = kinds_of_table(table.tolist())
    return () if kinds is None else (*kinds.blankets, *kinds.datasets, *kinds.strong())


def _family(family: HaystackFamily) -> list[Needle]:
    """Every pair of a family, its masses taken as exact."""
    return [_haystack(family.member(i, j)) for i, j in family.pairs().tolist()]


def _alike(curve: Haystack, needle: Needle) -> bool:
    """Whether the needle is the curve, but for the rounding of its masses."""
    if len(needle.hay) != curve.hay.size + curve.exposed0.size:
        return False
    own = _columns(curve)
    other = [[float(each.mid()) for each in column] for column in (needle.hay, needle.needle0, needle.needle1)]
    rank = lambda row: [float(f"{each:.6g}") for each in row]  # noqa: E731
    rows, others = (np.array(sorted(zip(*each, strict=True), key=rank)) for each in (own, other))
    return bool(np.allclose(rows, others, rtol=SAME, atol=0.0))


def _columns(curve: Haystack) -> list[list[float]]:
    """The hay and the needles, what is exposed last."""
    columns = (
        (curve.hay, np.zeros(curve.exposed0.size)),
        (curve.needle0, curve.exposed0),
        (curve.needle1, curve.exposed1),
    )
    return [np.concatenate(each).tolist() for each in columns]


def _haystack(curve: Haystack) -> Needle:
    """One of the accountant's own haystacks, its masses taken as exact."""
    from shuffledp.judge.balls import Needle

    hay, *needles = _columns(curve)
    return Needle.of(hay, *needles, whole=abs(float(curve.hay.sum()) - 1.0) < WHOLE)
