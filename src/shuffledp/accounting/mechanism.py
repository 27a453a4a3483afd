"""``shuffle(...)``: users who send one report each through a shuffler, as a round."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from shuffledp._types import Adversary
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.explanation import Row
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.reductions import ADVERSARIES, Reduction, reduce
from shuffledp.accounting.rounds import Round
from shuffledp.accounting.sampled import Sampled
from shuffledp.errors import InvalidInput, called_as, check_users
from shuffledp.randomizers.randomizer import Randomizer

__all__ = ["Shuffled", "shuffle", "shuffled_parts"]


@dataclass(frozen=True, eq=False, repr=False)
class Shuffled(Round):
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
    def key(self) -> Hashable:
        return self.randomizer, self.n, self.adversary, self.honest

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
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        """What must hold for the answers to hold."""
        some = (
            ()
            if self.honest == self.n
            else (f"at least {self.honest} of the {self.n} users, the target among them, follow the protocol",)
        )
        return self.reduction.assumptions + some

    @called_as("survey.sampled(users=100_000)")
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
                f"users must be at least n = {self.n}, those of them who report, got {users}. It counts all from whom "
                f"the sample is drawn."
            )
        if self.adversary != "shuffled" or self.honest < self.n:
            raise InvalidInput(
                f"a sample must be of honest users, and the adversary the usual one, got {self!r}. Leave out honest "
                f"and adversary, and count the honest users only."
            )
        return Sampled(self, self.randomizer, self.n, users)

    def local_rdp(self, order: float) -> float:
        # Shuffling is post-processing. The strong adversary also sees what no report tells.
        return math.inf if self.adversary == "strong" else self.randomizer.local_rdp(order=order)

    def local_delta(self, epsilon: float) -> float:
        return 1.0 if self.adversary == "strong" else self.randomizer.local_delta(epsilon=epsilon)

    def beside(self, whole: Guarantee, delta: float, bound: Bound) -> list[Row]:
        """What the proven bounds of the literature say of the same."""
        from shuffledp.literature.comparison import proven_beside  # a door

        if self.ceiling == 0.0:  # nothing leaks: there is nothing to bound
            return []
        return [Row(row.side, row.epsilon, row.citation) for row in proven_beside(whole, delta, bound)]


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
            f"guarantee must be made of shuffled rounds only, got {guarantee!r}. Build it with shuffle(...), "
            f"compose(...) or an Accountant of those."
        )
    return parts
