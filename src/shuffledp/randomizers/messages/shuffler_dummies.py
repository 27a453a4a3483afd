"""Dummies from the shuffler: people send one message each, and the shuffler keeps some of them and
adds messages of its own, as many for each value as a table says (Murakami et al. 2025).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput, check_count, check_finite, check_probability
from shuffledp.randomizers.family import EPSILON0, Family, K, Named, Parameter, Way, register
from shuffledp.randomizers.messages.faked_values import FakedValues, check_light
from shuffledp.randomizers.parameters import check_domain, checked
from shuffledp.randomizers.reporting import Form, Ints
from shuffledp.randomizers.votes import chunks
from shuffledp.sampling import WORD, KeyedSource, Replayable, Rng, Source, bernoulli, smallest_dtype, source_of
from shuffledp.sampling.count_tables import CountTable, geometric_table, poisson_table

__all__ = ["DummiesKind", "ShufflerDummies"]

DummiesKind = Literal["geometric", "poisson"]


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
    for known in ("geometric", "poisson"):
        if value == known:
            return known
    raise InvalidInput(f"kind of dummies must be geometric or poisson, got {value!r}. geometric adds less noise.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShufflerDummies(FakedValues):
    """One message per person: the true value, lightly randomized by k-ary randomized response of
    ``epsilon0`` unless that is infinite. The shuffler hands each on with probability ``keep``, and
    adds a random number of dummies for every value.

    ``kind`` "geometric": ``center`` is the likeliest number, and its probability falls by ``left``
    with every step below and by ``right`` above. "poisson": a Poisson number of mean ``rate``. A
    tally begins with the number of people, which the shuffler says apart from the messages.

    >>> law = ShufflerDummies(k=3, kind="geometric", center=28, left=0.6, right=0.6)
    >>> sent = law.tally([0, 2, 2])
    >>> sent.tolist(), law.mixed(sent, rng=np.random.default_rng(2)).tolist()
    ([3, 1, 0, 2], [3, 28, 30, 23])
    """

    k: int = field(metadata=checked(check_domain))
    keep: float = field(default=1.0, metadata=checked(check_keep))
    kind: DummiesKind = field(default="geometric", metadata=checked(check_dummies_kind))
    center: int = field(default=0, metadata=checked(check_center))
    left: float = field(default=0.0, metadata=checked(check_factor("left")))
    right: float = field(default=0.0, metadata=checked(check_factor("right")))
    rate: float = field(default=0.0, metadata=checked(check_rate))
    epsilon0: float = field(default=math.inf, metadata=checked(check_light))

    def __post_init__(self) -> None:
        super(ShufflerDummies, self).__post_init__()  # a class with slots is made twice
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
        return Form(smallest_dtype(self.k), outputs=self.k)

    @property
    def kept(self) -> float:
        return self.kept_threshold / WORD

    @property
    def kept_threshold(self) -> int:
        """Out of 2^64: how likely a message is handed on."""
        return round(Fraction(self.keep) * WORD)

    @property
    def numbers(self) -> CountTable:
        """How many dummies a value gets."""
        if self.kind == "poisson":
            return poisson_table(self.rate)
        return geometric_table(self.center, self.left, self.right)

    @property
    def integers(self) -> tuple[int, ...]:
        """Of the light randomizer, 0 without one; how likely a message is kept; the least number of
        dummies, and the weights of that one and the next.
        """
        return (self.light_integer, self.kept_threshold, self.numbers.first, *self.numbers.weights)

    def describe(self) -> dict[str, object]:
        own: tuple[str, ...] = ("rate",) if self.kind == "poisson" else ("center", "left", "right")
        own += () if self.light is None else ("epsilon0",)
        return {"randomizer": "dummies", **{name: getattr(self, name) for name in ("k", "keep", "kind", *own)}}

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        return self._true(source, values).astype(self.message.dtype, copy=False)

    def adds_up(self, tally: Ints, reports: int) -> bool:
        """As far as sums of messages that were mixed, or were not, can tell."""
        votes = tally[1:]
        most = reports + self.numbers.last
        if tally[0] != reports or votes.min() < 0 or votes.max() > most:
            return False
        return bool(sum(votes.tolist()) <= reports + self.k * self.numbers.last)

    @property
    def mixes(self) -> bool:
        return True

    def mixed(self, tally: Ints, *, rng: Rng = None) -> Ints:
        return self.mixed_part(tally, first=True, rng=rng)

    def mixed_part(self, tally: Ints, *, first: bool, rng: Rng = None) -> Ints:
        """Messages are kept part by part, and the dummies come with the first."""
        source = _fresh(rng)
        handed = np.array([self._kept(source, votes) for votes in tally[1:].tolist()], dtype=np.int64)
        return np.concatenate([tally[:1], handed + self._dummies(source) if first else handed])

    def mixed_messages(self, messages: NDArray[Any], *, rng: Rng = None) -> NDArray[Any]:
        source = _fresh(rng)
        kept = np.concatenate(
            [bernoulli(source, self.kept_threshold, part.stop - part.start) for part in chunks(len(messages))]
        )
        dummies = np.repeat(np.arange(self.k, dtype=self.message.dtype), self._dummies(source))
        return np.concatenate([messages[kept], dummies])

    def most_messages(self, people: int) -> int:
        return people + self.k * self.numbers.last

    def dummies(self, *, rng: Rng = None) -> Ints:
        """How many dummies each value gets, for a shuffler that seals them itself."""
        return self._dummies(_fresh(rng))

    def _kept(self, source: Source, votes: int) -> int:
        """How many of so many messages are handed on."""
        if self.kept_threshold == WORD:
            return votes
        coins = (bernoulli(source, self.kept_threshold, part.stop - part.start) for part in chunks(votes))
        return sum(int(np.count_nonzero(each)) for each in coins)

    def _dummies(self, source: Source) -> Ints:
        """How many dummies each value gets."""
        return self.numbers.first + self.numbers.sampler.draw(source, self.k).astype(np.int64)

    def _fakes(self, size: int, people: int) -> tuple[float, float]:
        return float(size * self.numbers.mean), float(size * self.numbers.variance)


def _fresh(rng: Rng) -> Source:
    """A source for what the shuffler draws, once, for nobody's row."""
    if isinstance(rng, (Replayable, KeyedSource)):
        raise InvalidInput(
            "the shuffler's dummies must be drawn afresh, got keyed noise. They belong to no person whose id could "
            "name them: leave the secret out, or let people send fakes (fakes in place of dummies)."
        )
    return source_of(rng)


CENTER = Parameter("center", "count", "25", "the likeliest number of dummies of a value, where that is geometric")
LEFT = Parameter("left", "number", "0.6", "the factor by which smaller numbers of dummies get rarer, step by step")
RIGHT = Parameter("right", "number", "0.6", "the factor by which larger numbers of dummies get rarer, step by step")
RATE = Parameter("rate", "number", "43", "the mean number of dummies of a value, where that is a Poisson number")
KEEP = Parameter("keep", "number", "0.9", "how likely the shuffler hands a message on; if left out, always")
register(
    Family(
        make=ShufflerDummies,
        law="dummies",
        parameters=("k", "keep", "kind", "center", "left", "right", "rate", "epsilon0"),
        sentence="the true value is sent, and the shuffler adds dummies: messages of its own that nobody can tell from "
        "the others",
        names=(
            Named(
                name="dummies",
                title="true values among the shuffler's dummies",
                ways=(
                    Way((K, CENTER, LEFT, RIGHT), ShufflerDummies),
                    Way((K, RATE), partial(ShufflerDummies, kind="poisson")),
                ),
                optional=(KEEP, EPSILON0),
                solvable=False,
                several=True,
                growing=False,
            ),
        ),
    )
)
