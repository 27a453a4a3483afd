"""What laws have in common whose shuffler adds messages of its own, dummies, to those of people: a
random number for everything that a message can name, as a table says.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput, check_count, check_finite, check_probability
from shuffledp.randomizers.messages.faked_values import FakedValues
from shuffledp.randomizers.reporting import Form, Ints
from shuffledp.randomizers.votes import chunks
from shuffledp.sampling import WORD, Rng, Source, bernoulli, smallest_dtype, source_of
from shuffledp.sampling.count_tables import CountTable, geometric_table, poisson_table

__all__ = [
    "DUMMIES_KINDS",
    "AddedDummies",
    "DummiesKind",
    "check_center",
    "check_dummies_kind",
    "check_factor",
    "check_keep",
    "check_rate",
]

DummiesKind = Literal["geometric", "poisson"]
DUMMIES_KINDS: tuple[DummiesKind, ...] = ("geometric", "poisson")


def check_keep(value: object) -> float:
    """Return ``value`` as the probability that the shuffler hands a message on."""
    remedy = "It is the probability that the shuffler hands a person's message on; 1 keeps all."
    keep = check_probability("keep", value, one=True, remedy=remedy)
    if round(Fraction(keep) * WORD) == 0:
        raise InvalidInput(f"keep must be at least 2**-64, got {keep!r}. {remedy}")
    return keep


def check_factor(name: str) -> Any:
    """The rule of a factor from one count to the next."""
    remedy = "It is the factor by which the probability of a number of dummies falls from one to the next."
    return lambda value: check_probability(name, value, zero=True, remedy=remedy)


def check_center(value: object) -> int:
    """Return ``value`` as a number of dummies."""
    return check_count("center", value, least=0, remedy="It is the likeliest number of dummies for a value.")


def check_rate(value: object) -> float:
    """Return ``value`` as a mean number of dummies; 0 where there is a table of another kind."""
    rate = check_finite("rate", value, remedy="It is the mean number of dummies for a value.")
    if rate < 0.0:
        raise InvalidInput(f"rate must be at least 0, got {rate!r}. It is the mean number of dummies for a value.")
    return rate


def check_dummies_kind(value: object) -> DummiesKind:
    """Return ``value`` as the law of the number of dummies."""
    for known in DUMMIES_KINDS:
        if value == known:
            return known
    raise InvalidInput(f"kind of dummies must be geometric or poisson, got {value!r}. geometric adds less noise.")


class AddedDummies(FakedValues):
    """The shuffler hands messages on, all or some of them, and adds dummies.

    ``kind`` "geometric": ``center`` is the likeliest number, and its probability falls by ``left``
    with every step below and by ``right`` above. "poisson": a Poisson number of mean ``rate``. A
    tally begins with the number of people's messages, which the shuffler says apart.
    """

    __slots__ = ()

    kind: DummiesKind
    center: int
    left: float
    right: float
    rate: float

    @property
    @abstractmethod
    def places(self) -> int:
        """How many different things a message can name; each gets its dummies."""

    def _check_numbers(self) -> None:
        """Refuse what describes no number of dummies, or two."""
        geometric = self.kind == "geometric"
        idle = ("rate",) if geometric else ("center", "left", "right")
        if given := [name for name in idle if getattr(self, name)]:
            raise InvalidInput(
                f"{given[0]} must be left out of {self.kind} dummies, got {getattr(self, given[0])!r}. Give what "
                f"describes their number: {'center, left and right' if geometric else 'rate'}."
            )
        if not (self.center or self.right if geometric else self.rate):
            raise InvalidInput(
                f"{self.kind} dummies must be some, got none. Without dummies the shuffler hides nothing."
            )
        _ = self.numbers  # which refuses what is too long to be written down

    @property
    def message(self) -> Form:
        return Form(smallest_dtype(self.places), outputs=self.places)

    @property
    def tally_size(self) -> int:
        return 1 + self.places

    @property
    def kept(self) -> float:
        return self.kept_threshold / WORD

    @property
    def kept_threshold(self) -> int:
        """Out of 2^64: how likely a message is handed on; by default it always is."""
        return WORD

    @property
    def numbers(self) -> CountTable:
        """How many dummies a place gets."""
        if self.kind == "poisson":
            return poisson_table(self.rate)
        return geometric_table(self.center, self.left, self.right)

    @property
    def integers(self) -> tuple[int, ...]:
        """Of the light randomizer, 0 without one; how likely a message is kept; the least number of
        dummies, and the weights of that one and the next.
        """
        return (self.light_integer, self.kept_threshold, self.numbers.first, *self.numbers.weights)

    @property
    def _describing(self) -> tuple[str, ...]:
        """The parameters that describe the number of dummies."""
        return ("kind", "rate") if self.kind == "poisson" else ("kind", "center", "left", "right")

    def adds_up(self, tally: Ints, reports: int) -> bool:
        """As far as sums of messages that were mixed, or were not, can tell."""
        votes, sent = tally[1:], reports * self.messages
        most = sent + self.numbers.last
        if tally[0] != sent or votes.min() < 0 or votes.max() > most:
            return False
        return bool(sum(votes.tolist()) <= sent + self.places * self.numbers.last)

    @property
    def mixes(self) -> bool:
        return True

    def mixed(self, tally: Ints, *, rng: Rng = None) -> Ints:
        return self.mixed_part(tally, first=True, rng=rng)

    def mixed_part(self, tally: Ints, *, first: bool, rng: Rng = None) -> Ints:
        """Messages are kept part by part, and the dummies come with the first."""
        source = source_of(rng)
        handed = np.array([self._kept(source, votes) for votes in tally[1:].tolist()], dtype=np.int64)
        return np.concatenate([tally[:1], handed + self._dummies(source) if first else handed])

    def mixed_messages(self, messages: NDArray[Any], *, rng: Rng = None) -> NDArray[Any]:
        source = source_of(rng)
        kept = np.concatenate(
            [bernoulli(source, self.kept_threshold, part.stop - part.start) for part in chunks(len(messages))]
        )
        dummies = np.repeat(np.arange(self.places, dtype=self.message.dtype), self._dummies(source))
        return np.concatenate([messages[kept], dummies])

    def most_messages(self, people: int) -> int:
        return people * self.messages + self.places * self.numbers.last

    def dummies(self, *, rng: Rng = None) -> Ints:
        """How many dummies each place gets, for a shuffler that seals them itself."""
        return self._dummies(source_of(rng))

    def _kept(self, source: Source, votes: int) -> int:
        """How many of so many messages are handed on."""
        if self.kept_threshold == WORD:
            return votes
        coins = (bernoulli(source, self.kept_threshold, part.stop - part.start) for part in chunks(votes))
        return sum(int(np.count_nonzero(each)) for each in coins)

    def _dummies(self, source: Source) -> Ints:
        """How many dummies each place gets."""
        return self.numbers.first + self.numbers.sampler.draw(source, self.places).astype(np.int64)

    def _fakes(self, size: int, people: int) -> tuple[float, float]:
        return float(size * self.numbers.mean), float(size * self.numbers.variance)
