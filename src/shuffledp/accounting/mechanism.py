"""shuffle(...), compose, Accountant: from a description to certified answers. The only room that
sees all the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp._types import Adversary, End, Floats
from shuffledp.accounting import renyi
from shuffledp.accounting.accuracy import CURVE_GAP, DEFAULT_GAP, FARTHEST_LOSS, RAREST_LOSS
from shuffledp.accounting.curves import Bound, Envelope
from shuffledp.accounting.explanation import Explanation, Row
from shuffledp.accounting.guarantee import Guarantee, check_order
from shuffledp.accounting.haystack import BinaryScan
from shuffledp.accounting.pld import (
    Composition,
    CurveBand,
    LossDistribution,
    Spread,
    common_spacing,
    knot_indices,
    optimistic,
    own_multiple,
    pessimistic,
)
from shuffledp.accounting.reductions import ADVERSARIES, Curve, Reduction, reduce
from shuffledp.errors import InvalidInput, called_as, check_delta, check_rounds, check_users
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.wording import statement

__all__ = ["Accountant", "Rounds", "Shuffled", "shuffle"]

PER_DEVIATION = 40  # grid points per typical loss


@dataclass(frozen=True, eq=False, repr=False)
class Shuffled(Guarantee):
    """One round: ``honest`` of ``n`` users send one report each through a shuffler. Build it with
    ``shuffle``.
    """

    randomizer: Randomizer
    n: int
    adversary: Adversary
    honest: int

    def __repr__(self) -> str:
        """What builds it.

        >>> from shuffledp import KRR
        >>> shuffle(KRR(k=16, epsilon0=4.0), n=10_000)
        shuffle(KRR(k=16, epsilon0=4.0), n=10000)
        """
        view = "" if self.adversary == "shuffled" else f", adversary={self.adversary!r}"
        honest = "" if self.honest == self.n else f", honest={self.honest}"
        return f"shuffle({self.randomizer!r}, n={self.n}{view}{honest})"

    @property
    def parts(self) -> tuple[tuple[Shuffled, int], ...]:  # type: ignore[override]
        """Itself, once."""
        return ((self, 1),)

    def describe(self) -> str:
        """The randomizer, the users and, if it is not the usual one, the adversary.

        >>> from shuffledp import KRR
        >>> shuffle(KRR(k=16, epsilon0=4.0), n=10_000, honest=9_000).describe()
        'krr, k = 16, epsilon0 = 4; 10,000 users, 9,000 of them honest'
        """
        users = f"{self.n:,} user{'s' * (self.n > 1)}"
        honest = "" if self.honest == self.n else f", {self.honest:,} of them honest"
        view = "" if self.adversary == "shuffled" else f"; {self.adversary} adversary"
        return f"{_law_in_words(self.randomizer)}; {users}{honest}{view}"

    @cached_property
    def reduction(self) -> Reduction:
        """The theorem in use, as curves."""
        return reduce(self.randomizer, self.honest, self.adversary)

    @property
    def method(self) -> str:  # type: ignore[override]
        """The theorem behind the upper end."""
        return self.reduction.method

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        """What must hold for the answers to hold."""
        some = (
            ()
            if self.honest == self.n
            else (f"at least {self.honest} of the {self.n} users, the target among them, follow the protocol",)
        )
        return self.reduction.assumptions + some

    @property
    def ceiling(self) -> float:
        return self.reduction.ceiling

    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        return self._envelope(end)(epsilons, gap)

    def _epsilon_end(self, end: End, delta: float) -> float:
        return self._envelope(end).meets(delta)

    def _envelope(self, end: End) -> Envelope:
        return Envelope(self.reduction.uppers if end == "upper" else self.reduction.lowers, end, self.ceiling)

    @called_as("survey.compose(30)")
    def compose(self, rounds: int) -> Guarantee:
        rounds = check_rounds(rounds)
        return self if rounds == 1 or self.ceiling == 0.0 else Rounds(((self, rounds),))

    @called_as("survey.rdp(order=8)")
    def rdp(self, *, order: float) -> Bound:
        order = check_order(order)
        if self.ceiling == 0.0:  # equal laws
            return self._bound(0.0, 0.0)
        # High orders look at rare, large losses, where another dataset may be worse than the one
        # that leaks most typically.
        typical, top = self.typical_loss, self.ceiling
        pairs = [
            self.sharpest(epsilon)
            for epsilon in ((typical, math.sqrt(typical * top), 0.8 * top) if math.isfinite(top) else (typical,))
        ]
        bands = [(self._band(pair), self._band(pair.swapped())) for pair in dict.fromkeys(pairs)]
        lower = max(renyi.divergence_at_least(*ends, top, order) for band in bands for ends in (band, band[::-1]))
        return self._bound(lower, self._rdp_at_most(order))

    def _rdp_at_most(self, order: float) -> float:
        if math.isfinite(self.ceiling):
            return renyi.divergence_at_most(lambda e: self._end("upper", e, CURVE_GAP), self.ceiling, order)
        alone = self.randomizer.local_rdp(order=order)
        if alone < math.inf and self.adversary != "strong":
            local = self.randomizer.local_delta  # shuffling is post-processing, so this bounds the far tail
            curve = renyi.divergence_at_most(
                lambda e: np.minimum(self._end("upper", e, CURVE_GAP), [local(epsilon=float(x)) for x in e]),
                math.inf,
                order,
            )
            return min(curve, alone)
        return math.inf

    @called_as("survey.explain(delta=1e-6)")
    def explain(self, *, delta: float) -> Explanation:
        delta = check_delta(delta)
        bound = self.epsilon(delta=delta)
        rows = [Row("upper", bound.upper, self.method), *_beside(self, delta, bound)]
        single = [Envelope([curve], "lower", self.ceiling) for curve in self.reduction.lowers]
        rows += [Row("lower", each.meets(delta), each.curves[0].name) for each in single]
        return Explanation(self.describe(), delta, bound, tuple(sorted(rows, key=lambda row: -row.epsilon)))

    @cached_property
    def typical_loss(self) -> float:
        """About the standard deviation of the privacy loss: that of the Gaussian mechanism with
        this total variation.
        """
        return float(math.sqrt(2.0 * math.pi) * self._end("upper", np.zeros(1), CURVE_GAP)[0])

    def sharpest(self, epsilon: float) -> Curve:
        """The single dataset and order that leaks most at epsilon, among those tried."""
        best = Envelope(self.reduction.lowers, "lower", self.ceiling).best(min(epsilon, 0.9 * self.ceiling))
        return best.worst(epsilon) if isinstance(best, BinaryScan) else best

    def spacing(self) -> float:
        """A loss grid fine enough for this round."""
        return min(self.typical_loss / PER_DEVIATION, self.ceiling / 400.0)

    def knots(self, spacing: float) -> Floats:
        """Where the curve is evaluated to make a PLD: densely where most losses are, then
        sparser.
        """
        reach, far = min(8.0 * self.typical_loss, self.ceiling), min(self.ceiling, FARTHEST_LOSS)
        probes = np.append(reach * 1.1 ** np.arange(math.log(max(far / reach, 1.0)) / math.log(1.1)), far)
        values = self._end("upper", probes, CURVE_GAP)
        last = np.flatnonzero((values <= RAREST_LOSS) | (probes == far))[0] + 1
        return knot_indices(spacing, reach, probes[:last], values[:last])

    def spread(self, rounds: int) -> Spread:
        """What a common grid has to know of so many rounds."""
        return Spread(self.typical_loss, self.spacing(), rounds)

    def pessimistic_loss(self, *, spacing: float) -> LossDistribution:
        if spacing not in self._worse:  # kept for the next question
            self._worse[spacing] = pessimistic(lambda e: self._end("upper", e, CURVE_GAP), self.knots(spacing), spacing)
        return self._worse[spacing]

    @cached_property
    def _worse(self) -> dict[float, LossDistribution]:
        return {}

    def optimistic_losses(self, *, spacing: float) -> tuple[LossDistribution, ...]:
        """PLDs that an explicit pair dominates in either order: one or two."""
        if spacing not in self._better:
            self._better[spacing] = self._new_better(spacing)
        return self._better[spacing]

    @cached_property
    def _better(self) -> dict[float, tuple[LossDistribution, ...]]:
        return {}

    def _new_better(self, spacing: float) -> tuple[LossDistribution, ...]:
        knots, (forward, backward) = self.knots(spacing), self._pair()
        there, back = forward(spacing * knots), backward(spacing * knots)
        symmetric = all(np.array_equal(a, b) for a, b in zip(there, back, strict=True))
        return tuple(
            optimistic(*ends, knots, spacing) for ends in ((there, back), (back, there))[: 1 if symmetric else 2]
        )

    def _pair(self) -> tuple[CurveBand, CurveBand]:
        """The band of an explicit pair that leaks much of what this mechanism leaks, and of the
        pair in the other order.
        """
        pair = self.sharpest(self.typical_loss)
        return self._band(pair), self._band(pair.swapped())

    def _band(self, curve: Curve) -> CurveBand:
        return lambda e: tuple(np.where(e < self.ceiling, side, 0.0) for side in curve.bounds(e, CURVE_GAP))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False, repr=False)
class Rounds(Guarantee):
    """Several rounds over the same users: each part is one round's mechanism and how often it is
    run.
    """

    parts: tuple[tuple[Shuffled, int], ...]

    def __repr__(self) -> str:
        """What builds it.

        >>> from shuffledp import KRR
        >>> shuffle(KRR(k=16, epsilon0=4.0), n=10_000).compose(30)
        shuffle(KRR(k=16, epsilon0=4.0), n=10000).compose(30)
        """
        if len(self.parts) > 1:
            return f"{Accountant(self.parts)!r}.total"
        ((part, rounds),) = self.parts
        return f"{part!r}.compose({rounds})"

    @property
    def rounds(self) -> int:
        """How many rounds in all."""
        return sum(rounds for _, rounds in self.parts)

    def describe(self) -> str:
        """Every mechanism and its rounds.

        >>> from shuffledp import KRR
        >>> shuffle(KRR(k=16, epsilon0=4.0), n=10_000).compose(30).describe()
        'krr, k = 16, epsilon0 = 4; 10,000 users; 30 rounds'
        """
        return " + ".join(
            part.describe() + (f"; {rounds:,} rounds" if rounds > 1 else "") for part, rounds in self.parts
        )

    @property
    def method(self) -> str:  # type: ignore[override]
        """The theorems behind the upper end."""
        theorems = " and ".join(dict.fromkeys(part.method for part, _ in self.parts))
        return theorems + statement("composed", rounds=self.rounds)

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of every round, and what joins them."""
        return (*dict.fromkeys(a for part, _ in self.parts for a in part.assumptions), statement("fresh rounds"))

    @property
    def ceiling(self) -> float:
        return sum(part.ceiling * rounds for part, rounds in self.parts)

    @cached_property
    def spacing(self) -> float:
        """The grid that all mechanisms share."""
        return common_spacing([part.spread(rounds) for part, rounds in self.parts])

    def dominating(self, spacing: float) -> Composition:
        """A composition that dominates this one: every mechanism as fine as it needs, on the grid
        of multiples of ``spacing``.
        """
        times = [own_multiple(part.spacing(), spacing) for part, _ in self.parts]
        laws = [
            part.pessimistic_loss(spacing=each * spacing).on_finer(each)
            for (part, _), each in zip(self.parts, times, strict=True)
        ]
        return Composition([(law, rounds) for law, (_, rounds) in zip(laws, self.parts, strict=True)])

    @cached_property
    def _worse(self) -> Composition:
        return self.dominating(self.spacing)

    @cached_property
    def _better(self) -> list[Composition]:
        """Compositions that this one dominates.

        Different mechanisms may look at one value of a user or at several; a lower end that holds
        either way composes the rounds of one mechanism at a time, on one dataset and on a grid of
        its own, and leaves the others out.
        """
        spacings = [common_spacing([part.spread(rounds)]) for part, rounds in self.parts]
        laws = [
            (part.optimistic_losses(spacing=spacing), rounds)
            for (part, rounds), spacing in zip(self.parts, spacings, strict=True)
        ]
        return [Composition([(law, rounds)]) for both, rounds in laws for law in both]

    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        del gap
        if end == "upper":
            values = self._worse.deltas(epsilons, "upper")
        else:
            values = np.max([part.deltas(epsilons, "lower") for part in self._better], axis=0)
        return np.where(epsilons < self.ceiling, values, 0.0)

    def _epsilon_end(self, end: End, delta: float) -> float:
        composed = [self._worse] if end == "upper" else self._better
        return min(max(part.epsilon(delta, end) for part in composed), self.ceiling)

    def pessimistic_loss(self, *, spacing: float) -> LossDistribution:
        return Composition([(part.pessimistic_loss(spacing=spacing), rounds) for part, rounds in self.parts]).law()

    @called_as("survey.compose(30)")
    def compose(self, rounds: int) -> Guarantee:
        rounds = check_rounds(rounds)
        return Rounds(tuple((part, check_rounds(times * rounds)) for part, times in self.parts))

    @called_as("survey.rdp(order=8)")
    def rdp(self, *, order: float) -> Bound:
        singles = [(part.rdp(order=order), rounds) for part, rounds in self.parts]
        return self._bound(
            max(b.lower * rounds for b, rounds in singles), sum(b.upper * rounds for b, rounds in singles)
        )

    @called_as("survey.explain(delta=1e-6)")
    def explain(self, *, delta: float) -> Explanation:
        delta = check_delta(delta)
        bound = self.epsilon(delta=delta)
        basic = sum(rounds * part.epsilon_at_most(delta=delta / self.rounds) for part, rounds in self.parts)
        rows = [
            Row("upper", basic, "basic composition of the rounds"),
            Row("upper", self._by_renyi(delta), "Renyi composition (Canonne et al. 2020, Prop. 12)"),
        ]
        rows += [Row("upper", bound.upper, self.method), Row("lower", bound.lower, "explicit pairs, composed")]
        rows += [
            Row("alone", part.epsilon_at_most(delta=delta), f"one round of mechanism {i}, by itself")
            for i, (part, _) in enumerate(self.parts, 1)
        ]
        if len(self.parts) == 1:
            rows += _beside(self, delta, bound)
        return Explanation(self.describe(), delta, bound, tuple(sorted(rows, key=lambda row: -row.epsilon)))

    def _by_renyi(self, delta: float) -> float:
        """The best epsilon from Renyi divergences at a few orders."""
        return renyi.best_epsilon(
            lambda order: sum(rounds * part._rdp_at_most(order) for part, rounds in self.parts), delta
        )


@called_as("shuffle(KRR(k=16, epsilon0=4.0), n=10_000)")
def shuffle(
    randomizer: Randomizer, *, n: int, adversary: Adversary = "shuffled", honest: int | None = None
) -> Shuffled:
    """One round in which n users each send one report through a shuffler.

    ``adversary`` is what the analyst sees: "shuffled", the multiset of reports and nothing else;
    "weak" and "strong" see more (Koskela et al. 2021). ``honest`` is how many of the n users follow
    the protocol; the others' reports hide nobody. By default, all.

    >>> from shuffledp import KRR
    >>> survey = shuffle(KRR(k=16, epsilon0=4.0), n=10_000)
    >>> bound = survey.epsilon(delta=1e-6)
    >>> round(bound.lower, 4), round(bound.upper, 4)
    (0.3616, 0.3616)
    """
    if not isinstance(randomizer, Randomizer):
        raise InvalidInput(
            f"randomizer must be a randomizer such as KRR(k=16, epsilon0=4.0), got {randomizer!r}. See "
            f"shuffledp.__all__ for the list."
        )
    declared = getattr(type(randomizer), "__dataclass_params__", None)
    if type(randomizer).__hash__ is None or (declared is not None and not declared.frozen):
        raise InvalidInput(
            f"a randomizer must not change once it is described, got {type(randomizer).__name__}, which may. Write "
            f"@dataclass(frozen=True) above its class."
        )
    n, honest = check_users(n, honest)
    if adversary not in ADVERSARIES:
        raise InvalidInput(
            f'adversary must be one of {", ".join(ADVERSARIES)}, got {adversary!r}. Use "shuffled" unless you compare '
            f"with other work."
        )
    return Shuffled(randomizer, n, adversary, honest)


def _beside(mechanism: Shuffled | Rounds, delta: float, bound: Bound) -> list[Row]:
    """What the proven bounds of the literature say of the same."""
    from shuffledp.literature.comparison import proven_beside  # a door

    if mechanism.ceiling == 0.0:  # nothing leaks: there is nothing to bound
        return []
    return [Row(row.side, row.epsilon, row.citation) for row in proven_beside(mechanism, delta, bound)]


def _law_in_words(randomizer: Randomizer) -> str:
    """Its name and its parameters."""
    facts = dict(randomizer.describe())
    name = str(facts.pop("randomizer"))
    shown = {key: f"{value:.6g}" if isinstance(value, float) else str(value) for key, value in facts.items()}
    return ", ".join([name, *(f"{key} = {value}" for key, value in shown.items())])


def _leaking(parts: tuple[tuple[Shuffled, int], ...]) -> tuple[tuple[Shuffled, int], ...]:
    """Without the mechanisms whose reports say nothing."""
    return tuple((part, rounds) for part, rounds in parts if part.ceiling > 0.0)


def _merged(parts: tuple[tuple[Shuffled, int], ...]) -> tuple[tuple[Shuffled, int], ...]:
    """Equal mechanisms counted together."""
    totals: dict[tuple[Randomizer, int, str, int], tuple[Shuffled, int]] = {}
    for part, rounds in parts:
        key = (part.randomizer, part.n, part.adversary, part.honest)
        first, before = totals.get(key, (part, 0))
        totals[key] = (first, check_rounds(before + rounds))
    return tuple(totals.values())


class Accountant:
    """Adds up different mechanisms over the same users.

    >>> from shuffledp import KRR, RR
    >>> survey, vote = (
    ...     shuffle(KRR(k=16, epsilon0=4.0), n=10_000),
    ...     shuffle(RR(epsilon0=1.0), n=10_000),
    ... )
    >>> total = Accountant().add(survey, rounds=30).add(vote)
    >>> 2.0 < total.epsilon(delta=1e-6).upper < 2.4
    True
    """

    def __init__(self, parts: tuple[tuple[Shuffled, int], ...] = ()) -> None:
        self._parts = parts

    def __repr__(self) -> str:
        """What builds it."""
        added = (f".add({part!r}{f', rounds={rounds}' if rounds > 1 else ''})" for part, rounds in self._parts)
        return f"Accountant(){''.join(added)}"

    @called_as("accountant.add(survey, rounds=30)")
    def add(self, mechanism: Guarantee, *, rounds: int = 1) -> Accountant:
        """A new accountant with ``rounds`` more rounds of ``mechanism``; this one stays as it
        is.
        """
        rounds = check_rounds(rounds)
        if isinstance(mechanism, Shuffled):
            return Accountant(_merged((*self._parts, (mechanism, rounds))))
        if isinstance(mechanism, Rounds):
            return Accountant(
                _merged((*self._parts, *((part, check_rounds(times * rounds)) for part, times in mechanism.parts)))
            )
        raise InvalidInput(
            f"mechanism must come from shuffle(...) or compose(...), got {mechanism!r}. Wrap the randomizer: "
            f"shuffle(randomizer, n=...)."
        )

    @property
    def total(self) -> Guarantee:
        """The guarantee of everything added so far."""
        if not self._parts:
            raise InvalidInput("the accountant must hold at least one mechanism, got none. Call add(...) first.")
        (first, rounds), *more = (
            self._parts if all(part.ceiling == 0.0 for part, _ in self._parts) else _leaking(self._parts)
        )
        return first if first.ceiling == 0.0 or (rounds == 1 and not more) else Rounds(_leaking(self._parts))

    @called_as("accountant.delta(epsilon=0.5)")
    def delta(self, *, epsilon: float) -> Bound:
        """See ``Guarantee.delta``."""
        return self.total.delta(epsilon=epsilon)

    @called_as("accountant.epsilon(delta=1e-6)")
    def epsilon(self, *, delta: float) -> Bound:
        """See ``Guarantee.epsilon``."""
        return self.total.epsilon(delta=delta)
