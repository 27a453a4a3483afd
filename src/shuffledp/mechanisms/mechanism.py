"""How reports hide: what runs at clients and at the shuffler, and what a tally says of people.

A mechanism wraps one law of ``randomizers``, which says how a report is drawn, and adds what needs
all reports: estimates with their errors, the errors to expect, and how far a false report moves
them. What SciPy or the accountant are needed for is loaded when it is called.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import Floats, View
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.results import Tally
from shuffledp.mechanisms.shuffler import Bag, as_tally, check_most
from shuffledp.randomizers.family import family_of
from shuffledp.randomizers.randomizer import GroupLaw, Ints, Randomizer
from shuffledp.sampling import Rng
from shuffledp.workload import Each, Workload

if TYPE_CHECKING:
    from shuffledp.accounting.guarantee import Guarantee
    from shuffledp.mechanisms.estimate import Estimate
    from shuffledp.mechanisms.exact_limits import FakeVotes
    from shuffledp.mechanisms.rows import Rows

SEALED = "shuffler, sealed"  # messages are the truth, so that nobody but the analyst may read them
ADDING = "shuffler adds noise"


@dataclass(frozen=True)
class Target:
    """Who reports, how often, and what each of them is promised for all rounds together; or, in
    place of a promise, the noise of one message, ``epsilon0``.
    """

    n: int
    epsilon: float | None
    delta: float | None
    honest: int
    rounds: int = 1
    epsilon0: float | None = None

    @property
    def terms(self) -> tuple[int, float, float, int]:
        """Honest people, epsilon, delta and rounds of the promise."""
        if self.epsilon is None or self.delta is None:
            raise InvalidInput("epsilon0 must be the noise of one message, got it for several. Promise an epsilon.")
        return self.honest, self.epsilon, self.delta, self.rounds


def keeps(law: Randomizer, honest: int, epsilon: float, delta: float, rounds: int) -> bool:
    """Whether a law keeps these terms, as it is certified, in all rounds together."""
    from shuffledp.accounting.shuffled import shuffle

    return shuffle(law, n=honest).compose(rounds).delta_at_most(epsilon=epsilon) <= delta


@dataclass(frozen=True, eq=False)
class Mechanism(ABC):
    """A way to hide; each names the workloads that it ``answers``. ``view`` is what the shuffler
    hands on, ``trust`` whom people trust, ``title`` what it is called beside others.
    """

    trust: ClassVar[str] = SEALED
    title: ClassVar[str]

    law: Any
    view: View = "reports"

    @classmethod
    def calibrate(cls, question: Any, target: Target, name: str) -> Self:
        """The least noise with which the mechanism of this name answers ``question`` and meets the
        target. A mechanism's choices are further arguments. One that only another chooses, such as
        levels of bins, is not asked for by name.
        """
        raise InvalidInput(f"the mechanism of a {question} must be one of its choices, got {name!r}. Leave it out.")

    @classmethod
    def variants(cls, question: Any, name: str) -> dict[str, dict[str, Any]]:
        """The choices that a plan compares, by what they are called."""
        return {cls.title: {}}

    @classmethod
    def has_sums(cls, name: str) -> bool:
        """Whether the shuffler can add up the reports of the mechanism of this name, and hand on no
        report.
        """
        return False

    def named(self, name: str) -> str:
        """What it is called where its kind is called ``name``."""
        return name

    def answering(self, question: Any, n: int) -> Self:
        """The same as it runs, if it answers the question of ``n`` people."""
        return self.checked(question)

    def checked(self, question: Any) -> Self:
        """The same, if its law is about the question's places, and says something of its rows."""
        if self.view == "sums" and not self.adds_up(question):
            raise InvalidInput(
                f'the view "sums" must be of reports that are bits, one for each category, got {self.law!r}. Use OUE, '
                f"RAPPOR or Unary."
            )
        self.check_answers(question.workload(self.size))
        if question.size not in (None, self.size):
            raise InvalidInput(
                f"the randomizer must have k = {question.size}, as many as there are categories, got k = {self.size}. "
                f"Build it for these categories."
            )
        return self

    def adds_up(self, question: Any) -> bool:
        """Whether a shuffler may hand on no more than sums of its reports."""
        return False

    @property
    def size(self) -> int:
        """How many places its reports are about."""
        return int(self.law.k)

    def answers(self, workload: Workload) -> bool:
        """Whether its reports say something of these rows."""
        return workload.counts

    def estimate(self, tally: Tally, workload: Workload, *, notes: tuple[str, ...] = ()) -> Estimate:
        """Unbiased numbers for every row, with errors and limits."""
        from shuffledp.mechanisms.estimate import Estimate

        return Estimate(workload.labels, tally.people, self.rows(tally, workload), tally.secure, notes)

    def rows(self, tally: Tally, workload: Workload) -> Rows:
        """The law of what is estimated; of several rounds that is the mean."""
        from shuffledp.mechanisms.rows import Scaled

        self.check_answers(workload)
        rows, rounds = self._rows(tally, workload), len(tally.rounds)
        return rows if rounds == 1 else Scaled(rows, 1.0 / rounds)

    def check_answers(self, workload: Workload) -> None:
        """Refuse rows of which its reports say nothing."""
        if not self.answers(workload):
            rule = "count groups of values" if workload.counts else "add up numbers: each report must name one point"
            raise InvalidInput(
                f"the mechanism must be able to {rule}, got {self.law.describe()['randomizer']}. Use k-ary randomized "
                f"response."
            )

    @abstractmethod
    def _rows(self, tally: Tally, workload: Workload) -> Rows:
        """The law of the sum over all rounds: people count once for each report."""

    @abstractmethod
    def predicted(self, workload: Workload, held: Any) -> Floats:
        """The exact standard error of every row if ``held`` people are in each place."""

    def worst(self, workload: Workload, people: int) -> float:
        """The largest standard error that any row can have, whatever ``people`` hold. A variance is
        linear in how many hold each value, so it is largest where all hold the same one.
        """
        together = np.zeros(self.size)
        together[0] = people
        return float(self.predicted(workload, together).max())

    def influence(self, workload: Workload) -> Floats:
        """How far one false report moves each row at most; ``math.inf`` where there is no limit."""
        return np.full(len(workload), self.law.influence * workload.spread)

    def bag(self, description: Mapping[str, object], rows: NDArray[Any], *, secure: bool, rng: Rng = None) -> Bag:
        """What the shuffler hands on of everybody's reports."""
        return Bag(description, rows, secure)

    def counted(self, bag: Bag) -> Tally:
        """The tally of a bag."""
        return Tally.handed_on(self.law, self.law.of_people(self.law.tally(bag.rows), len(bag)), secure=bag.secure)

    def received(self, given: Tally | ArrayLike, n: int, honest: int) -> Tally:
        """A tally, or the numbers of one that was mixed, or refused if no bag of ``n`` people could
        have it.
        """
        if isinstance(given, Tally):
            given.check_law(self.law)
        numbers = given.checked().numbers if isinstance(given, Tally) else as_tally(given)
        self.check_numbers(numbers, n, honest)
        return given if isinstance(given, Tally) else Tally.handed_on(self.law, numbers.astype(np.int64))

    def check_numbers(self, seen: NDArray[Any], n: int, honest: int) -> None:
        """Refuse what is not how often each report was sent."""
        # no entry above n is summed, so that the sum does not wrap
        if (
            seen.shape != (self.law.tally_size,)
            or seen.dtype.kind not in "iu"
            or seen.min() < 0
            or seen.max() > n
            or not 1 <= seen.sum(dtype=np.float64) <= n
        ):
            raise InvalidInput(
                f"counts must be {self.law.tally_size} whole numbers that sum to the reports, from 1 to n = {n}, got "
                f"{seen!r}. Count the bag's reports."
            )

    def check(self, counts: Ints, honest: int) -> None:
        """Refuse a tally that cannot hold the noise of ``honest`` people, or of the shuffler, where
        the law lets that be seen.
        """
        return

    def guarantee(self, crowd: int, *, rounds: int = 1, colluding: int = 0) -> Guarantee:
        """What all rounds together leak with ``crowd`` honest reports beside ``colluding`` ones."""
        from shuffledp.accounting.shuffled import shuffle

        return shuffle(self.law, n=crowd + colluding, honest=crowd, view=self.view).compose(rounds)


class Messages(Mechanism):
    """Reports of several messages, or dummies of the shuffler. A bag holds messages, not reports:
    those of one person do not lie together.
    """

    def answering(self, question: Any, n: int) -> Self:
        family = family_of(self.law)
        if family is None or family.law not in question.mechanisms or question.size not in (None, self.size):
            raise InvalidInput(
                f"the randomizer must be a law that answers a {question}, got {self.law!r}. Leave it out, and promise "
                f"an epsilon."
            )
        return self.checked(question)

    def bag(self, description: Mapping[str, object], rows: NDArray[Any], *, secure: bool, rng: Rng = None) -> Bag:
        """Message by message; a law that gives the shuffler something to do has it done."""
        messages = self.law.mixed_messages(rows.ravel(), rng=rng)
        return Bag(description, messages, secure and rng is None, people=len(rows))

    def check_numbers(self, seen: NDArray[Any], n: int, honest: int) -> None:
        law = self.law
        whole = seen.shape == (law.tally_size,)
        if not whole or seen.dtype.kind not in "iu" or seen.min() < 0:
            found = repr(seen.tolist())[:60] if whole else f"shape {seen.shape}"
            raise InvalidInput(
                f"counts must be the {law.tally_size} whole numbers of tally(...), none below 0, got {found}. Add up "
                f"the tallies of a bag."
            )
        check_most(law.opened(seen)[0], n)
        self.check(seen, honest)


class Voting(Mechanism):
    """A mechanism whose messages name a place: what votes say of a group of places depends on how
    many places it has alone.
    """

    def _group(self, size: int, people: int) -> GroupLaw:
        law: GroupLaw = self.law.group_law(size, people)
        return law

    def _fakes(self, size: int, people: int) -> FakeVotes | None:
        """How many votes of nobody's a group of places has, where there are any."""
        return None

    def _rows(self, tally: Tally, workload: Workload) -> Rows:
        from shuffledp.mechanisms.rows import Parts, TwoCoins

        people, votes, rounds = tally.people, tally.votes, len(tally.rounds)

        def coins(size: int, seen: Ints) -> TwoCoins:
            law, fakes = self._group(size, people), self._fakes(size, people)
            if rounds > 1:
                law, fakes = law.times(rounds), fakes and fakes.times(rounds)
            return TwoCoins(seen, people * rounds, law, fakes)

        if isinstance(workload, Each):
            return coins(1, votes)
        seen, parts = workload.apply(votes), []
        for size, turned, places in self._sizes(workload):
            mine = int(votes.sum()) - seen[places] if turned else seen[places]
            parts.append((places, turned, coins(size, mine)))
        return Parts(tuple(parts), len(workload), people * rounds)

    def _sizes(self, workload: Workload) -> list[tuple[int, bool, Ints]]:
        """The rows that have the same law. A group of more than half of the places is counted by
        the others: votes are rare on one side or the other, and the exact law is needed there.
        """
        sizes = workload.apply(np.ones(self.size, dtype=np.int64))
        turned = 2 * sizes > self.size
        small = np.where(turned, self.size - sizes, sizes)
        found: dict[tuple[int, bool], list[int]] = {}
        for place, key in enumerate(zip(small.tolist(), turned.tolist(), strict=True)):
            found.setdefault(key, []).append(place)
        return [(size, other, np.array(places)) for (size, other), places in found.items()]

    def predicted(self, workload: Workload, held: Any) -> Floats:
        inside = np.asarray(held, dtype=np.float64)
        people = round(float(inside.sum()))
        if isinstance(workload, Each):
            return np.asarray(np.sqrt(self._group(1, people).variance(inside, people)))
        errors, inside = np.zeros(len(workload)), workload.apply(inside)
        for size, turned, places in self._sizes(workload):
            mine = people - inside[places] if turned else inside[places]
            errors[places] = np.sqrt(self._group(size, people).variance(mine, people))
        return errors

    def worst(self, workload: Workload, people: int) -> float:
        sizes = {1} if isinstance(workload, Each) else {size for size, _, _ in self._sizes(workload)}
        laws = [self._group(size, people) for size in sizes]
        return math.sqrt(max(float(law.variance(held, people)) for law in laws for held in (0, people)))
