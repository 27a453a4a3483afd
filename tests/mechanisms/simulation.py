"""Reports drawn at the level of counts: one multinomial per value instead of n reports, so that
10,000 repetitions take a second.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp.mechanisms import mechanism_of
from shuffledp.mechanisms.estimate import Interval
from shuffledp.mechanisms.rows import Rows, TwoCoins
from shuffledp.randomizers import KRR
from shuffledp.randomizers.randomizer import GroupLaw
from shuffledp.workload import Each

REPETITIONS = 10_000


class Pooled(NamedTuple):
    """A tally whose rounds are added up already, as enumeration and simulation make them."""

    people: int
    blocks: NDArray[Any]
    votes: NDArray[Any]
    rounds: tuple[None, ...]
    secure: bool = True

    @property
    def reports(self) -> int:
        return self.people * len(self.rounds)


def pooled(people: int, votes: Any, blocks: object = (), rounds: int = 1) -> Any:
    return Pooled(people, np.asarray(blocks, dtype=np.int64), np.asarray(votes), (None,) * rounds)


def rows_of(randomizer: KRR) -> NDArray[np.float64]:
    """The law of one report, by input."""
    law = np.full((randomizer.k, randomizer.k), randomizer.miss)
    np.fill_diagonal(law, randomizer.hit)
    return law / law.sum(axis=1, keepdims=True)


def coins(votes: object, n: int, hit: float, miss: float, contrast: float | None = None) -> TwoCoins:
    """What so many votes say of values that each of n people supports by one of two coins."""
    law = GroupLaw(hit, miss, hit - miss if contrast is None else contrast)
    return TwoCoins(np.asarray(votes), n, law)


def rows_of_votes(law: object, votes: NDArray[np.int64], people: int, blocks: object = (), rounds: int = 1) -> Rows:
    """What votes for every value say under a law."""
    return mechanism_of(law).rows(pooled(people, votes, blocks, rounds), Each(tuple(range(len(votes)))))


def ends(rows: Rows, tail: float) -> Interval:
    """Limits as estimates have them."""
    low, high = rows.limits(tail)
    return Interval(np.minimum(low, rows.values), np.maximum(high, rows.values))


def counts_of(
    randomizer: KRR, held: NDArray[np.int64], rng: np.random.Generator, repetitions: int = REPETITIONS
) -> NDArray[np.int64]:
    """How often each value is reported, once per repetition, when held[x] users hold x."""
    return sum(
        rng.multinomial(int(users), row, size=repetitions) for users, row in zip(held, rows_of(randomizer), strict=True)
    )  # type: ignore[return-value]


def grid_counts(
    randomizer: KRR, groups: list[tuple[float, int]], rng: np.random.Generator, repetitions: int = REPETITIONS
) -> NDArray[np.int64]:
    """The same for numbers that are first rounded at random to a grid: groups of (number in [0, 1],
    users).
    """
    rows, k = rows_of(randomizer), randomizer.k - 1
    total = np.zeros((repetitions, randomizer.k), dtype=np.int64)
    for number, users in groups:
        below = min(int(number * k), k - 1)
        part = number * k - below
        total += rng.multinomial(users, (1.0 - part) * rows[below] + part * rows[below + 1], size=repetitions)
    return total
