"""Everybody sends the true place, and the shuffler adds a random number of dummies to every place
before it hands messages on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.fakes import Expected, Faked
from shuffledp.mechanisms.mechanism import ADDING, Target
from shuffledp.randomizers.messages.dummies import AddedDummies, DummiesKind, check_dummies_kind, check_keep
from shuffledp.randomizers.messages.message import check_light

if TYPE_CHECKING:
    from shuffledp.mechanisms.exact_limits import FakeVotes


@dataclass(frozen=True, eq=False)
class Dummies(Faked):
    """It takes the most trust: messages must be sealed to the analyst, and the shuffler must add
    its dummies. In return the noise is as small as a curator's.
    """

    trust = ADDING
    title = "shuffler's dummies (sealed)"
    poisson = "shuffler's Poisson dummies (sealed)"  # which err less over many rounds

    law: AddedDummies

    @classmethod
    def calibrate(
        cls,
        question: Any,
        target: Target,
        name: str,
        *,
        keep: float = 1.0,
        kind: DummiesKind | None = None,
        light_epsilon0: float = math.inf,
        levels: int | None = None,
        branches: int | None = None,
    ) -> Dummies:
        """The shuffler may ``keep`` a share of the messages. Bins may be nodes of a tree, in so
        many ``levels`` and ``branches``; the best shape is chosen, if these are left out.
        """
        from shuffledp.mechanisms.noise_search import fewest_dummies
        from shuffledp.mechanisms.tree import Tree

        keep, light = check_keep(keep), check_light(light_epsilon0)
        kind = None if kind is None else check_dummies_kind(kind)
        flat = not question.ordered or keep != 1.0 or light < math.inf  # one shape is left
        given = [each for each in (levels, branches) if each is not None]
        if given and (flat or len(given) == 1):
            raise InvalidInput(
                f"levels and branches must be given together, of bins, and without keep or light_epsilon0, got levels "
                f"= {levels} and branches = {branches}. Leave them out to have a shape chosen."
            )
        if flat:
            return Dummies(fewest_dummies(question.size, *target.terms, keep=keep, kind=kind, epsilon0=light))
        if levels is not None and branches is not None:
            return Tree.of_shape(target, question.size, (levels, branches), kind=kind)
        return Tree.best(target, question.size, question.workload(question.size), kind=kind)

    def named(self, name: str) -> str:
        """With the kind of dummies that was chosen."""
        return name.replace(self.title, self.poisson) if self.law.kind == "poisson" else name

    @property
    def _numbers(self) -> FakeVotes:
        """How many dummies a place has."""
        from shuffledp.mechanisms.exact_limits import FakeVotes

        return FakeVotes(self.law.numbers.first, self.law.numbers.chances)

    def _fakes(self, size: int, people: int) -> FakeVotes:
        return self._numbers.times(size)

    def _expected(self, people: int, honest: int) -> Expected:
        who = "Ask the shuffler whether it added them, and whether it is the one that the design names"
        return Expected(people, 0, self._numbers, self.law.places, "dummies", who)
