"""Fakes from users: everybody sends the true value and, in further slots, uniformly random values
or blanks. The fakes of all people together hide each person's value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import check_count
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.messages.message import FakedValues, check_coin, check_kind, check_light
from shuffledp.randomizers.parameters import check_domain, checked
from shuffledp.randomizers.randomizer import Form, Ints
from shuffledp.sampling import WORD, Source, bernoulli, smallest_dtype, uniform
from shuffledp.sampling.tables import CountTable, poisson_table

FakesKind = Literal["bernoulli", "poisson"]
MOST_SLOTS = 1 << 12  # more messages than that are nobody's to send


def check_slots(value: object) -> int:
    """Return ``value`` as the number of fakes that a person can send."""
    remedy = "It is how many fakes each person can send; one is usual."
    return check_count("slots", value, least=1, most=MOST_SLOTS, remedy=remedy, beyond="Ask about fewer values.")


check_chance = check_coin("chance", "It is the probability that a slot holds a fake; without fakes nothing is hidden.")
check_fakes_kind = check_kind("fakes", get_args(FakesKind), "bernoulli needs fewer slots.")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFakes(FakedValues):
    """The true value, lightly randomized by k-ary randomized response of ``epsilon0`` unless that
    is infinite, and ``slots`` further messages, each a fake or a blank.

    A fake is a uniformly random value. Each slot holds one with probability ``chance``; or, if
    ``kind`` is "poisson", a person sends a Poisson number of fakes with mean slots * chance, and
    never more than ``slots``. A blank is the number k, which an analyst drops.

    >>> law = UserFakes(k=4, slots=1, chance=0.25)
    >>> law.messages, law.randomize([3], rng=np.random.default_rng(5)).tolist()
    (2, [[3, 4]])
    """

    hidden_by = "people's fakes"

    k: int = field(metadata=checked(check_domain))
    slots: int = field(metadata=checked(check_slots))
    chance: float = field(metadata=checked(check_chance))
    epsilon0: float = field(default=math.inf, metadata=checked(check_light))
    kind: FakesKind = field(default="bernoulli", metadata=checked(check_fakes_kind))

    @property
    def messages(self) -> int:
        return 1 + self.slots

    @property
    def message(self) -> Form:
        return Form(smallest_dtype(self.k + 1), outputs=self.k + 1)

    @property
    def kept(self) -> float:
        return 1.0

    @property
    def threshold(self) -> int:
        """Out of 2^64: how likely a slot holds a fake, where each has a coin of its own."""
        return round(Fraction(self.chance) * WORD)

    @property
    def numbers(self) -> CountTable | None:
        """How many fakes a person sends, where that is drawn for all slots at once."""
        return None if self.kind == "bernoulli" else poisson_table(self.slots * self.chance, self.slots)

    @property
    def integers(self) -> tuple[int, ...]:
        """Of the light randomizer, 0 without one; then of the fakes: a slot's coin, or the least
        number of them and the weights of that one and the next.
        """
        numbers = self.numbers
        fakes = (self.threshold,) if numbers is None else (numbers.first, *numbers.weights)
        return (self.light_integer, *fakes)

    def describe(self) -> dict[str, object]:
        light = () if self.light is None else ("epsilon0",)
        return self._described("fakes", "k", "slots", "chance", *light, "kind")

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        people = len(values)
        rows = np.full((people, self.messages), self.k, dtype=self.message.dtype)
        rows[:, 0] = self._true(source, values)
        if (numbers := self.numbers) is None:
            sent = bernoulli(source, self.threshold, people * self.slots)
        else:
            drawn = numbers.first + numbers.sampler.draw(source, people)
            sent = (np.arange(self.slots) < drawn[:, None]).ravel()
        places = np.flatnonzero(sent)
        fakes = uniform(source, self.k, len(places))
        rows[:, 1:].flat[places] = fakes
        return rows

    def adds_up(self, tally: Ints, reports: int) -> bool:
        """Nobody names more values than messages; whoever breaks the rules may name none."""
        votes = tally[1:]
        if tally[0] != reports * self.messages or votes.min() < 0 or votes.max() > tally[0]:
            return False
        return bool(sum(votes.tolist()) <= tally[0])

    def _fakes(self, size: int, people: int) -> tuple[float, float]:
        share = Fraction(size, self.k)
        if (numbers := self.numbers) is None:
            named = Fraction(self.threshold, WORD) * share
            slots = people * self.slots
            return float(slots * named), float(slots * named * (1 - named))
        mean = numbers.mean * share
        variance = numbers.mean * share * (1 - share) + numbers.variance * share**2
        return float(people * mean), float(people * variance)


register(Family(make=UserFakes, law="fakes", parameters=("k", "slots", "chance", "epsilon0", "kind")))
