"""Dummies: messages that the shuffler adds to those of people, a random number for everything that
a message can name, as a table says.

``ShufflerDummies`` (Murakami et al. 2025): people send one message each, and the shuffler keeps
some of them and adds as many dummies for each value as the table says.

``TreeDummies``: dummies in all levels of a tree. Of a value that is one of many in a row, such as
the bin of a number, people send where it lies coarsely, finely, and in between.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput, check_count, check_finite, check_probability
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.messages.message import (
    FakedValues,
    MessageLaw,
    check_coin,
    check_kind,
    check_light,
    check_no_epsilon0,
)
from shuffledp.randomizers.parameters import check_domain, checked
from shuffledp.randomizers.randomizer import Form, Ints
from shuffledp.randomizers.support import chunks, histogram
from shuffledp.sampling import WORD, Rng, Source, bernoulli, smallest_dtype, source_of
from shuffledp.sampling.tables import CountTable, geometric_table, poisson_table

MOST_LEVELS = 16
DummiesKind = Literal["geometric", "poisson"]
check_keep = check_coin("keep", "It is the probability that the shuffler hands a person's message on; 1 keeps all.")
check_dummies_kind = check_kind("dummies", get_args(DummiesKind), "geometric adds less noise.")


def _counted(name: str, least: int, remedy: str, most: float = math.inf) -> Any:
    """A field that is a whole number."""
    return checked(lambda value: check_count(name, value, least=least, most=most, remedy=remedy))


def _factor(name: str) -> Any:
    """A field that is a factor from one count to the next."""
    remedy = "It is the factor by which the probability of a number of dummies falls from one to the next."
    return checked(lambda value: check_probability(name, value, zero=True, remedy=remedy))


def _check_rate(value: object) -> float:
    rate = check_finite("rate", value, remedy="It is the mean number of dummies for a value.")
    if rate < 0.0:
        raise InvalidInput(f"rate must be at least 0, got {rate!r}. It is the mean number of dummies for a value.")
    return rate


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedDummies(FakedValues):
    """The shuffler hands messages on, all or some of them, and adds dummies.

    ``kind`` "geometric": ``center`` is the likeliest number, and its probability falls by ``left``
    with every step below and by ``right`` above. "poisson": a Poisson number of mean ``rate``. A
    tally begins with the number of people's messages, which the shuffler says apart.
    """

    hidden_by = "dummies"

    k: int = field(metadata=checked(check_domain))
    kind: DummiesKind = field(default="geometric", metadata=checked(check_dummies_kind))
    center: int = field(default=0, metadata=_counted("center", 0, "It is the likeliest number of dummies for a value."))
    left: float = field(default=0.0, metadata=_factor("left"))
    right: float = field(default=0.0, metadata=_factor("right"))
    rate: float = field(default=0.0, metadata=checked(_check_rate))

    def __post_init__(self) -> None:
        """Refuse what describes no number of dummies, or two."""
        FakedValues.__post_init__(self)
        geometric = self.kind == "geometric"
        idle = ("rate",) if geometric else ("center", "left", "right")
        if given := [name for name in idle if getattr(self, name)]:
            raise InvalidInput(
                f"{given[0]} must be left out of {self.kind} dummies, got {getattr(self, given[0])!r}. Drop it."
            )
        if not (self.center or self.right if geometric else self.rate):
            raise InvalidInput(f"{self.kind} dummies must be some, got none. Raise their number.")
        _ = self.numbers  # which refuses what is too long to be written down

    @property
    @abstractmethod
    def places(self) -> int:
        """How many different things a message can name; each gets its dummies."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ShufflerDummies(AddedDummies):
    """One message per person: the true value, lightly randomized by k-ary randomized response of
    ``epsilon0`` unless that is infinite. The shuffler hands each on with probability ``keep``, and
    adds a random number of dummies for every value.

    >>> import numpy as np
    >>> law = ShufflerDummies(k=3, kind="geometric", center=28, left=0.6, right=0.6)
    >>> sent = law.tally([0, 2, 2])
    >>> sent.tolist(), law.mixed(sent, rng=np.random.default_rng(2)).tolist()
    ([3, 1, 0, 2], [3, 28, 30, 23])
    """

    keep: float = field(default=1.0, metadata=checked(check_keep))
    epsilon0: float = field(default=math.inf, metadata=checked(check_light))

    @property
    def places(self) -> int:
        return self.k

    @property
    def kept_threshold(self) -> int:
        return round(Fraction(self.keep) * WORD)

    @property
    def loss_step(self) -> float:
        """1 / right above the center and left below, of two counts that are compared."""
        exact = self.keep == 1.0 and self.epsilon0 == math.inf and 0.0 < self.left * self.right < 1.0
        return -math.log(self.left) - math.log(self.right) if exact else 0.0

    def describe(self) -> dict[str, object]:
        light = () if self.light is None else ("epsilon0",)
        names = ("k", "keep", *self._describing, *light)
        return self._described("dummies", *names)

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        return self._true(source, values).astype(self.message.dtype, copy=False)


register(
    Family(
        make=ShufflerDummies,
        law="dummies",
        parameters=("k", "keep", "kind", "center", "left", "right", "rate", "epsilon0"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDummies(AddedDummies):
    """A message for each of ``levels`` levels: which of its nodes holds the value. A node of the
    last level is a value, one of any other level is ``branches`` nodes of the next in a row, and
    the last of a level may be of fewer. The shuffler adds a random number of dummies for every node
    of every level (see ``ShufflerDummies``), and mixes the messages of all levels and people, so
    that nobody can tell which came from one person.

    Nodes are numbered through all levels, coarse ones first.

    >>> law = TreeDummies(k=16, levels=2, branches=4, center=28, left=0.6, right=0.6)
    >>> law.sizes, law.randomize([0, 7, 15]).tolist()
    ((4, 16), [[0, 4], [1, 11], [3, 19]])
    """

    hidden_by = "dummies in a tree"

    levels: int = field(metadata=_counted("levels", 1, "It counts the messages of a person.", MOST_LEVELS))
    branches: int = field(metadata=_counted("branches", 2, "So many nodes make one of the next coarser level."))
    epsilon0: float = field(default=math.inf, metadata=checked(check_no_epsilon0))

    def __post_init__(self) -> None:
        AddedDummies.__post_init__(self)  # super() does not work in a class with slots
        if self.branches ** (self.levels - 1) >= self.k:
            raise InvalidInput(
                f"every level must have two nodes or more, got {self.levels} levels for {self.k:,} values. Use fewer."
            )

    @property
    def messages(self) -> int:
        return self.levels

    @property
    def true_messages(self) -> int:
        return self.levels

    @property
    def widths(self) -> tuple[int, ...]:
        """How many values a node of each level holds."""
        return tuple(self.branches**up for up in reversed(range(self.levels)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes each level has."""
        return tuple(-(-self.k // width) for width in self.widths)

    @property
    def firsts(self) -> tuple[int, ...]:
        """The first node of each level."""
        return tuple(sum(self.sizes[:level]) for level in range(self.levels))

    @property
    def places(self) -> int:
        return sum(self.sizes)

    @property
    def seen_as(self) -> tuple[MessageLaw, int]:
        """Given the data the counts of the levels are independent, and values that differ on the
        coarsest level already differ on all: each level is like a round of its own. How many nodes
        it has makes no difference to what it hides.
        """
        numbers = {name: getattr(self, name) for name in self._describing}
        return ShufflerDummies(k=self.sizes[0], **numbers), self.levels

    def describe(self) -> dict[str, object]:
        return self._described("tree", "k", "levels", "branches", *self._describing)

    def nodes(self, values: NDArray[Any]) -> Ints:
        """The node of each value in each level: a row per value."""
        nodes: Ints = values.astype(np.int64)[:, None] // np.array(self.widths) + np.array(self.firsts)
        return nodes

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        nodes = self.nodes(values).astype(self.message.dtype)
        return nodes[:, 0] if self.levels == 1 else nodes

    def _tally(self, messages: NDArray[Any]) -> Ints:
        return histogram(messages, self.places)


register(
    Family(
        make=TreeDummies,
        law="tree",
        parameters=("k", "levels", "branches", "kind", "center", "left", "right", "rate", "epsilon0"),
    )
)
