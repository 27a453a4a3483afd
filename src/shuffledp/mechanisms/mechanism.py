"""How reports hide: what runs at clients and at the shuffler, and what a tally says of people.

A mechanism wraps one law of ``randomizers``, which says how a report is drawn, and adds what needs
all reports: estimates with their errors, the errors to expect, and how far a false report moves
them. What SciPy or the accountant are needed for is loaded when it is called.
"""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp._types import Floats, View
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.randomizer import GroupLaw, Ints, Opened
from shuffledp.workload import Each, Workload

if TYPE_CHECKING:
    from shuffledp.accounting.guarantee import Guarantee
    from shuffledp.mechanisms.estimate import Estimate
    from shuffledp.mechanisms.exact_limits import FakeVotes
    from shuffledp.mechanisms.rows import Rows

__all__ = ["Mechanism", "Target", "Voting"]


@dataclass(frozen=True)
class Target:
    """Who reports, how often, and what each of them is promised for all rounds together."""

    n: int
    epsilon: float
    delta: float
    honest: int
    rounds: int = 1


@dataclass(frozen=True, eq=False)
class Mechanism(ABC):
    """A way to hide; each names the workloads that it ``answers``."""

    law: Any

    @property
    def size(self) -> int:
        """How many places its reports are about."""
        return int(self.law.k)

    def answers(self, workload: Workload) -> bool:
        """Whether its reports say something of these rows."""
        return workload.counts

    def estimate(
        self, tally: Opened, workload: Workload, *, secure: bool = True, notes: tuple[str, ...] = ()
    ) -> Estimate:
        """Unbiased numbers for every row, with errors and limits."""
        from shuffledp.mechanisms.estimate import Estimate

        return Estimate(workload.labels, tally.people, self.rows(tally, workload), secure, notes)

    def rows(self, tally: Opened, workload: Workload) -> Rows:
        """The law of what is estimated."""
        if not self.answers(workload):
            raise InvalidInput(
                f"the mechanism must be able to count groups of values for this question, got "
                f"{self.law.describe()['randomizer']}. Use k-ary randomized response, fakes or dummies."
            )
        return self._rows(tally, workload)

    def _rows(self, tally: Opened, workload: Workload) -> Rows:
        raise NotImplementedError

    def predicted(self, workload: Workload, held: Any) -> Floats:
        """The exact standard error of every row if ``held`` people are in each place."""
        raise NotImplementedError

    def worst(self, workload: Workload, people: int) -> float:
        """The largest standard error that any row can have, whatever ``people`` hold. A variance is
        linear in how many hold each value, so it is largest where all hold the same one.
        """
        together = np.zeros(self.size)
        together[0] = people
        return float(self.predicted(workload, together).max())

    def influence(self, workload: Workload) -> Floats:
        """How far one false report moves each row at most; ``math.inf`` where there is no limit."""
        return np.full(len(workload), self.law.sway * workload.spread)

    def check(self, counts: Ints, honest: int) -> None:
        """Refuse a tally that cannot hold the noise of ``honest`` people, or of the shuffler, where
        the law lets that be seen.
        """
        return

    def guarantee(self, crowd: int, *, rounds: int = 1, colluding: int = 0, view: View = "reports") -> Guarantee:
        """What all rounds together leak with ``crowd`` honest reports beside ``colluding`` ones."""
        from shuffledp.accounting.shuffled import shuffle

        return shuffle(self.law, n=crowd + colluding, honest=crowd, view=view).compose(rounds)


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

    def _rows(self, tally: Opened, workload: Workload) -> Rows:
        from shuffledp.mechanisms.rows import Parts, TwoCoins

        people, _, votes = tally

        def coins(size: int, seen: Ints) -> TwoCoins:
            return TwoCoins(seen[None], people, self._group(size, people), self._fakes(size, people))

        if isinstance(workload, Each):
            return coins(1, votes)
        seen, parts = workload.apply(votes), []
        for size, turned, places in self._sizes(workload):
            mine = int(votes.sum()) - seen[places] if turned else seen[places]
            parts.append((places, turned, coins(size, mine)))
        return Parts(tuple(parts), len(workload), people)

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
