"""Messages +1 and -1: a count nearly as accurate as a curator's (Ghazi et al. 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput, check_count
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.messages.message import SharedNoise, words_of
from shuffledp.randomizers.parameters import checked
from shuffledp.randomizers.randomizer import Form, Ints
from shuffledp.sampling import Source, Table
from shuffledp.sampling.tables import (
    filled,
    geometric_none,
    geometric_share,
    joined,
    joined_cut,
    poisson_none,
    poisson_share,
    ratio_of,
)

BLANK, PLUS, MINUS = 0, 1, 2


class Added(NamedTuple):
    """How many +1 and -1 a person adds, cell by cell; weights out of 2^128."""

    cells: NDArray[np.int64]
    weights: tuple[int, ...]
    table: Table


def _check_two(value: object) -> int:
    if value != 2:
        raise InvalidInput(f"k must be 2 for +1 and -1 messages, got {value!r}. Somebody holds the value, or does not.")
    return 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedUnits(SharedNoise):
    """Who holds the value (input 1) sends +1. Everybody adds A messages +1, B messages -1 and C
    pairs of both; blanks fill up to ``messages``, so that all send as many.

    The C add up to a Poisson variable of mean ``pairs``: they cancel in the answer, and hide how
    many messages there are. The analyst sees the totals, (count + A + C, B + C).

    What runs is one table of (A + C, B + C); whoever would need more messages than there are adds
    nothing, which is counted in ``cut``.

    >>> law = SignedUnits(honest=10_000, decay=0.9, pairs=2_000, messages=24)
    >>> law.tally(law.randomize([0, 1, 1]))[0].item()
    72
    >>> float(law.cut) * law.honest < 1e-6
    True
    """

    hidden_by = "pairs of +1 and -1"

    pairs: int = field(
        metadata=checked(
            lambda value: check_count("pairs", value, least=0, remedy="It is the mean number of pairs in all.")
        )
    )
    k: int = field(default=2, metadata=checked(_check_two))

    @property
    def integers(self) -> tuple[int, ...]:
        """q out of 2^64, and the chances that a person adds no noise of one sign, and no pair, out
        of 2^128 as two words: the table follows from these by whole-number arithmetic.
        """
        ratio, none, no_pair = _begin(self)
        return (ratio, *words_of(none), *words_of(no_pair))

    @property
    def weights(self) -> tuple[int, ...]:
        """The table that runs: of each of the ``cells``, out of 2^128."""
        return _added(self).weights

    @property
    def cells(self) -> NDArray[np.int64]:
        """What a person may add: rows of how many +1 and how many -1."""
        return _added(self).cells

    @property
    def cut(self) -> Fraction:
        return joined_cut(*_parts(self), self.messages - 1)

    @property
    def message(self) -> Form:
        return Form(np.dtype(np.uint8), outputs=3)

    def adds_up(self, tally: Ints, reports: int) -> bool:
        sent, plus, minus = tally.tolist()
        return bool(sent == reports * self.messages and min(plus, minus) >= 0 and plus + minus <= sent)

    @property
    def influence(self) -> float:
        """All messages of a malicious person may be +1, or all -1."""
        return 2.0 * self.messages

    def expected_stderr(self, people: int) -> float:
        return math.sqrt(self.noise_variance(people))

    def describe(self) -> dict[str, object]:
        return self._described("signed", "honest", "decay", "pairs", "messages")

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        added = _added(self)
        plus, minus = added.cells[added.table.draw(source, len(values))].T
        place, own = np.arange(self.messages), plus + (values != 0)
        rows = np.where(place < own[:, None], PLUS, np.where(place < (own + minus)[:, None], MINUS, BLANK))
        return rows.astype(np.uint8)

    def _tally(self, messages: NDArray[Any]) -> Ints:
        return np.array([np.count_nonzero(messages == PLUS), np.count_nonzero(messages == MINUS)], dtype=np.int64)


def _begin(law: SignedUnits) -> tuple[int, int, int]:
    ratio = ratio_of(law.decay)
    return ratio, geometric_none(ratio, law.honest), poisson_none(law.pairs, law.honest)


def _parts(law: SignedUnits) -> tuple[list[int], list[int]]:
    """The chances of noise of one sign, and those of pairs."""
    most = law.messages - 1  # one is for the person's own
    ratio, none, no_pair = _begin(law)
    return geometric_share(none, ratio, law.honest, most), poisson_share(no_pair, law.pairs, law.honest, most // 2)


@lru_cache(maxsize=64)
def _added(law: SignedUnits) -> Added:
    """The table of a law, worked out once."""
    most = law.messages - 1
    cells = [(plus, minus) for plus in range(most + 1) for minus in range(most + 1 - plus)]
    weights = filled(joined(*_parts(law), cells))
    return Added(np.array(cells, dtype=np.int64), weights, Table(weights))


register(Family(make=SignedUnits, law="signed", parameters=("k", "epsilon0", "honest", "decay", "pairs", "messages")))
