"""Everybody sends the true place and, in further slots, fakes: random places, or blanks."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.mechanism import Messages, Target, Voting
from shuffledp.randomizers.messages import UserFakes
from shuffledp.randomizers.messages.fakes import FakesKind, check_fakes_kind, check_slots
from shuffledp.randomizers.messages.message import FakedValues, check_light
from shuffledp.randomizers.randomizer import Ints
from shuffledp.sampling import WORD

if TYPE_CHECKING:
    from shuffledp.mechanisms.exact_limits import FakeVotes

SURE = 1e-9  # a shuffler, or people, who did their part are told that they did not so rarely


class Expected(NamedTuple):
    """Fakes that must be among the messages of some people: of ``honest`` ones, who send ``many``
    numbers of them, each with the law ``each``; all others may have added ``free`` messages.
    """

    honest: int
    free: int
    each: FakeVotes
    many: int
    name: str
    who: str


@dataclass(frozen=True, eq=False)
class Faked(Messages, Voting):
    """True messages among fakes."""

    law: FakedValues

    @abstractmethod
    def _expected(self, people: int, honest: int) -> Expected:
        """The fakes that must be there where ``people`` reported."""

    def check(self, counts: Ints, honest: int) -> None:
        """Refuse votes that are too few, or too many, to hold the fakes of the law, by a test that
        an honest collection fails with a probability of at most 1e-9 on either side (Chernoff's
        inequality for the exact law). What those send who are not honest may be anything.
        """
        from scipy.optimize import minimize_scalar

        from shuffledp.mechanisms.exact_limits import FakeVotes

        law, (people, _, votes) = self.law, self.law.opened(counts)
        total, (honest, free, each, many, name, who) = sum(votes.tolist()), self._expected(people, honest)
        true, sent = FakeVotes(0, np.array([1.0 - law.kept, law.kept])), honest * law.true_messages

        def unlikely(slope: float, seen: int) -> float:
            """The logarithm of a bound on the probability of so many, or more; with a negative
            slope, or fewer.
            """
            return sent * true.log_mean(slope) + many * each.log_mean(slope) - slope * seen

        for sign, seen, wrong in ((-1.0, total, "few"), (1.0, total - free, "many")):
            found = minimize_scalar(
                lambda power, sign=sign, seen=seen: unlikely(sign * math.exp(power), seen),
                bounds=(-25.0, 5.0),
                method="bounded",
            )
            if found.fun < math.log(SURE):
                numbers = each.first + np.arange(len(each.chances))
                usual = sent * law.kept + many * float(numbers @ each.chances)
                raise InvalidInput(
                    f"messages must hold the {name} that hide people's values, got too {wrong}: {total:,} that name a "
                    f"value, where about {usual:,.0f} were expected of {people:,} people. {who}."
                )


@dataclass(frozen=True, eq=False)
class Fakes(Faked):
    """Messages must be sealed to the analyst, since a true one says what its sender holds.
    ``light_epsilon0`` has it randomized a little before it is sent, so that even whoever links a
    message to its sender learns no more than that allows.
    """

    title = "fakes by users (sealed)"

    law: UserFakes

    @classmethod
    def calibrate(
        cls,
        question: Any,
        target: Target,
        name: str,
        *,
        slots: int | None = None,
        kind: FakesKind = "bernoulli",
        light_epsilon0: float = math.inf,
    ) -> Self:
        from shuffledp.mechanisms.noise_search import fewest_fakes

        slots = None if slots is None else check_slots(slots)
        kind, light = check_fakes_kind(kind), check_light(light_epsilon0)
        return cls(fewest_fakes(question.size, *target.terms, slots=slots, kind=kind, epsilon0=light))

    def _fakes(self, size: int, people: int) -> FakeVotes:
        """How many fakes name one of ``size`` values, where ``people`` reported.

        >>> both = Fakes(UserFakes(k=2, slots=1, chance=0.5))._fakes(1, 2)
        >>> both.first, both.chances.tolist()
        (0, [0.5625, 0.375, 0.0625])
        """
        from shuffledp.mechanisms.exact_limits import FakeVotes

        law, share = self.law, size / self.law.k
        if law.numbers is None:
            named = law.threshold / WORD * share
            return FakeVotes(0, np.array([1.0 - named, named])).times(people * law.slots)
        mine = np.zeros(law.numbers.last + 1)  # of one person: of m fakes, a binomial number name the group
        one = FakeVotes(0, np.array([1.0 - share, share]))
        for many, chance in enumerate(law.numbers.chances, start=law.numbers.first):
            named_of = one.times(many)
            mine[named_of.first : named_of.first + len(named_of.chances)] += chance * named_of.chances
        return FakeVotes(0, mine).times(people)

    def _expected(self, people: int, honest: int) -> Expected:
        honest, others = min(honest, people), max(people - honest, 0)
        who = "Ask whether clients run the design as it is written; leave out those that do not"
        return Expected(honest, others * self.law.messages, self._fakes(self.size, 1), honest, "fakes", who)
