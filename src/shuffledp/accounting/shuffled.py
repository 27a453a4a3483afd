"""``shuffle(...)``: users who send one report each through a shuffler, as a round."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from shuffledp._types import Adversary, End, Floats, View
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Guarantee, Row
from shuffledp.accounting.messages.reductions import ComposedLevels, reduce_levels, reduce_messages
from shuffledp.accounting.pairs import check_pair, reduce_pair
from shuffledp.accounting.reductions import ADVERSARIES, Reduction, reduce
from shuffledp.accounting.rounds import Parts, Round
from shuffledp.accounting.subsampling import Sampled
from shuffledp.accounting.views import VIEWS, reduce_sums
from shuffledp.errors import InvalidInput, check_users
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.randomizer import Randomizer, check_randomizer
from shuffledp.wording import people


@dataclass(frozen=True, eq=False, repr=False)
class Shuffled(Round):
    """One round of ``n`` people, ``honest`` of them honest, built with ``shuffle``."""

    randomizer: Randomizer
    n: int
    adversary: Adversary
    honest: int
    view: View = "reports"

    def __repr__(self) -> str:
        """What builds it.

        >>> from shuffledp import KRR
        >>> shuffle(KRR(k=16, epsilon0=4.0), n=10_000)
        shuffle(KRR(k=16, epsilon0=4.0), n=10000)
        """
        adversary = "" if self.adversary == "shuffled" else f", adversary={self.adversary!r}"
        honest = "" if self.honest == self.n else f", honest={self.honest}"
        view = "" if self.view == "reports" else f", view={self.view!r}"
        return f"shuffle({self.randomizer!r}, n={self.n}{adversary}{honest}{view})"

    @property
    def key(self) -> Hashable:
        return self.randomizer, self.n, self.adversary, self.honest, self.view

    def between(self, a: float, b: float) -> ShuffledPair:
        """The same round for a target known to hold one of two inputs; others may hold anything.

        >>> from shuffledp import Laplace
        >>> survey = shuffle(Laplace(epsilon0=2.0), n=10_000)
        >>> survey.between(0.4, 0.6).epsilon(delta=1e-6).upper < 0.03
        True
        """
        if isinstance(self.randomizer, MessageLaw):
            raise InvalidInput(
                f"between is for one message of each person, got {_law_in_words(self.randomizer)}. Leave it out."
            )
        if self.adversary != "shuffled":
            raise InvalidInput(f'between is for adversary="shuffled", got {self.adversary!r}. Leave out one.')
        if self.view != "reports":
            raise InvalidInput(f'between is for view="reports", got {self.view!r}. Leave out one of the two.')
        return ShuffledPair(self, *check_pair(self.randomizer, (a, b)))

    def epsilon(self, *, delta: float, between: tuple[float, float] | None = None) -> Bound:
        """The smallest epsilon for which the mechanism is (epsilon, delta)-DP; for two inputs of
        the target only, if these are given: see ``between``.
        """
        if between is None:
            return super().epsilon(delta=delta)
        return self.between(*_two(between)).epsilon(delta=delta)

    def delta(self, *, epsilon: float, between: tuple[float, float] | None = None) -> Bound:
        """The smallest delta for which the mechanism is (epsilon, delta)-DP; for two inputs of the
        target only, if these are given: see ``between``.
        """
        if between is None:
            return super().delta(epsilon=epsilon)
        return self.between(*_two(between)).delta(epsilon=epsilon)

    def describe(self) -> str:
        """The randomizer, the people and, if they are not the usual ones, adversary and view.

        >>> from shuffledp import KRR
        >>> shuffle(KRR(k=16, epsilon0=4.0), n=10_000, honest=9_000).describe()
        'krr, k = 16, epsilon0 = 4; 10,000 people, 9,000 of them honest'
        """
        honest = "" if self.honest == self.n else f", {self.honest:,} of them honest"
        adversary = "" if self.adversary == "shuffled" else f"; {self.adversary} adversary"
        view = "" if self.view == "reports" else "; only sums of bits are released"
        return f"{_law_in_words(self.randomizer)}; {people(self.n)}{honest}{adversary}{view}"

    @cached_property
    def reduction(self) -> Reduction:
        if self._levels is not None:
            return reduce_levels(self.blocks[0][0].reduction, self._levels)
        if isinstance(self.randomizer, MessageLaw):
            return reduce_messages(self.randomizer, self.honest)
        if self.view == "sums":
            return reduce_sums(self.randomizer, self.honest)
        return reduce(self.randomizer, self.honest, self.adversary)

    @property
    def blocks(self) -> Parts:
        """Of a law that is seen as several rounds of another, those."""
        if not isinstance(self.randomizer, MessageLaw):
            return super().blocks
        law, times = self.randomizer.seen_as
        return super().blocks if law is self.randomizer else ((replace(self, randomizer=law), times),)

    @cached_property
    def _levels(self) -> ComposedLevels | None:
        """What its blocks are together, if they are others than itself."""
        ((block, times),) = self.blocks
        return None if block is self else ComposedLevels(block, times)

    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        return super()._end(end, epsilons, gap) if self._levels is None else self._levels.end(end, epsilons, gap)

    def _epsilon_end(self, end: End, delta: float) -> float:
        return super()._epsilon_end(end, delta) if self._levels is None else self._levels.epsilon(end, delta)

    def spacing(self) -> float:
        """Of a law whose losses are multiples of one, a grid that they lie on."""
        usual = super().spacing()
        step = self.randomizer.seen_as[0].loss_step if isinstance(self.randomizer, MessageLaw) else 0.0
        return step / math.ceil(step / usual) if step > 0.0 else usual

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.reduction.assumptions + self.some

    @property
    def some(self) -> tuple[str, ...]:
        """What is assumed of the honest users, if they are not all."""
        if self.honest == self.n:
            return ()
        return (f"at least {self.honest} of the {self.n} people, the target among them, follow the protocol",)

    def sampled(self, *, users: int) -> Sampled:
        """The same survey where the n who report are a random sample of ``users``, chosen without
        replacement, and who was chosen stays secret: it protects everybody among the users.

        >>> from shuffledp import KRR
        >>> survey = shuffle(KRR(k=16, epsilon0=4.0), n=10_000).sampled(users=100_000)
        >>> bound = survey.epsilon(delta=1e-6)
        >>> round(bound.lower, 4), round(bound.upper, 4)
        (0.0304, 0.0356)
        """
        users, _ = check_users(users)
        if users < self.n:
            raise InvalidInput(
                f"users must be at least n = {self.n}, those of them who report, got {users}. Count all of them."
            )
        plain = self.view == "reports" and not isinstance(self.randomizer, MessageLaw)
        if self.adversary != "shuffled" or self.honest < self.n or not plain:
            raise InvalidInput(
                f"a sample must be of honest people, seen as usual, got {self!r}. Leave out honest, view and adversary."
            )
        return Sampled(self, self.randomizer, self.n, users)

    def local_rdp(self, order: float) -> float:
        # Shuffling is post-processing. The strong adversary also sees what no report tells.
        return math.inf if self.adversary == "strong" else self.randomizer.local_rdp(order=order)

    def local_delta(self, epsilon: float) -> float:
        return 1.0 if self.adversary == "strong" else self.randomizer.local_delta(epsilon=epsilon)

    def beside(self, whole: Guarantee, delta: float, bound: Bound) -> tuple[list[Row], tuple[str, ...]]:
        """What the proven bounds of the literature say of the same."""
        from shuffledp.literature.comparison import proven_beside  # loaded when called

        if self.ceiling == 0.0 or isinstance(self.randomizer, MessageLaw):  # there is nothing to bound, or no bound
            return [], ()
        if self.view == "sums":  # published bounds are about reports, which say all that their sums do
            reports = shuffle(self.randomizer, n=self.n, honest=self.honest)
            rounds = sum(times for _, times in whole.parts)
            return [Row("upper", reports.compose(rounds).epsilon_at_most(delta=delta), "the reports themselves")], ()
        known, skipped = proven_beside(whole, delta, bound)
        return [Row(row.side, row.value, row.citation, not row.rests) for row in known], skipped


@dataclass(frozen=True, eq=False, repr=False)
class ShuffledPair(Round):
    """One round, for a target that holds ``a`` or ``b``. Build it with ``shuffle(...).between``."""

    whole: Shuffled
    a: float
    b: float

    def __repr__(self) -> str:
        return f"{self.whole!r}.between({self.a!r}, {self.b!r})"

    @property
    def key(self) -> Hashable:
        return self.whole.key, self.a, self.b

    def describe(self) -> str:
        return f"{self.whole.describe()}; a target that holds {self.a:g} or {self.b:g}"

    @cached_property
    def reduction(self) -> Reduction:
        return reduce_pair(self.whole.randomizer, self.whole.honest, self.a, self.b)

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.reduction.assumptions + self.whole.some

    def local_rdp(self, order: float) -> float:
        return self.whole.local_rdp(order)

    def local_delta(self, epsilon: float) -> float:
        return self.whole.local_delta(epsilon)


def _two(between: object) -> tuple[float, float]:
    if not isinstance(between, (tuple, list)) or len(between) != 2:
        raise InvalidInput(f"between must be two inputs, got {between!r}. Write between=(0, 1).")
    return between[0], between[1]


def shuffle(
    randomizer: Randomizer,
    *,
    n: int,
    adversary: Adversary = "shuffled",
    honest: int | None = None,
    view: View = "reports",
) -> Shuffled:
    """One round in which n users each send one report through a shuffler.

    ``adversary`` is what the analyst sees: "shuffled", the multiset of reports and nothing else;
    "weak" and "strong" see more (Koskela et al. 2021). ``honest`` is how many of the n users follow
    the protocol; the others' reports hide nobody. By default, all. ``view`` is what the shuffler
    releases: "reports", whole and shuffled; or, of a unary encoding, only "sums", how often each
    bit was set, which gives away less.

    >>> from shuffledp import KRR, OUE
    >>> survey = shuffle(KRR(k=16, epsilon0=4.0), n=10_000)
    >>> bound = survey.epsilon(delta=1e-6)
    >>> round(bound.lower, 4), round(bound.upper, 4)
    (0.3616, 0.3616)
    >>> sums = shuffle(OUE(k=16, epsilon0=4.0), n=10_000, view="sums").epsilon(delta=1e-6)
    >>> round(sums.upper, 2)
    0.2
    """
    check_randomizer(randomizer)
    n, honest = check_users(n, honest)
    if adversary not in ADVERSARIES:
        raise InvalidInput(
            f'adversary must be one of {", ".join(ADVERSARIES)}, got {adversary!r}. "shuffled" is usual.'
        )
    if view not in VIEWS:
        raise InvalidInput(f'view must be one of {", ".join(VIEWS)}, got {view!r}. "reports" is usual.')
    round_ = Shuffled(randomizer, n, adversary, honest, view)
    if isinstance(randomizer, MessageLaw) and (adversary, view) != ("shuffled", "reports"):
        raise InvalidInput(
            f'several messages must be seen as "reports", "shuffled", got {view!r} and {adversary!r}. Leave both out.'
        )
    if view == "sums":
        if adversary != "shuffled":
            raise InvalidInput(f'the view "sums" must face the adversary "shuffled", got {adversary!r}. Leave it out.')
        _ = round_.reduction  # refused now, if these reports have no bits to add up
    return round_


def _law_in_words(randomizer: Randomizer) -> str:
    """Its name and its parameters."""
    return _facts_in_words(randomizer.describe())


def _facts_in_words(described: Mapping[str, object]) -> str:
    facts = dict(described)
    name = str(facts.pop("randomizer"))
    return ", ".join([name, *(f"{key} = {_in_words(value)}" for key, value in facts.items())])


def _in_words(value: object) -> str:
    """A number to six digits; a randomizer within another one, and a list of them, in brackets."""
    if isinstance(value, Mapping):
        return f"({_facts_in_words(value)})"
    if isinstance(value, list):
        return f"[{', '.join(f'{count} x {each}' if count > 1 else each for each, count in _counted(value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _counted(values: list[object]) -> list[tuple[str, int]]:
    return [(words, len(list(run))) for words, run in groupby(map(_in_words, values))]


def shuffled_parts(guarantee: Guarantee) -> tuple[tuple[Shuffled, int], ...]:
    """The shuffled rounds in a guarantee that has no others."""
    parts = tuple((part, rounds) for part, rounds in guarantee.parts if isinstance(part, Shuffled))
    if len(parts) < len(guarantee.parts) or not parts:
        raise InvalidInput(
            f"guarantee must be made of shuffled rounds only, got {guarantee!r}. Build it with shuffle(...)."
        )
    return parts
