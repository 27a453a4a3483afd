"""Mistakes of the sampler, the random source and the analyst, for ``faults``. The first paragraph
of a docstring is the fault's description.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shuffledp import Poll
from shuffledp.audits.subject import Surveyed
from shuffledp.mechanisms.shuffler import Bag, Reports
from shuffledp.randomizers import KRR
from shuffledp.randomizers.randomizer import Floats
from shuffledp.sampling import WORD, Source, bernoulli, source_of, uniform

__all__ = [
    "Copied",
    "Doubled",
    "Echo",
    "ExtraBit",
    "Forked",
    "LowBit",
    "Modulo",
    "OffByOne",
    "Password",
    "Pinned",
    "QuietUsers",
    "QuietValue",
    "RareTruth",
    "Replayed",
    "Reseeded",
    "Right",
    "SameSeed",
    "SharedCoins",
    "SomeTruth",
    "Sticky",
    "Twice",
    "Wider",
    "WrongSign",
]

Rows = NDArray[Any]


class Planted(Surveyed):
    """A subject with a fault in it."""


class Right(Planted):
    """Nothing is wrong."""


class Resent(Planted):
    """Right reports, and then something else."""

    def encode(self, values: Rows, source: Source) -> Reports:
        reports = super().encode(values, source)
        return Reports(reports.description, self.changed(np.asarray(values), reports.rows, source), reports.secure)

    def changed(self, values: Rows, rows: Rows, source: Source) -> Rows:
        """What is sent instead."""
        return rows

    def users(self, rows: Rows) -> NDArray[np.intp]:
        """Who sent each."""
        return np.arange(len(rows)) % self.n


class Doubled(Planted):
    """The sampler is given twice the epsilon0 of the account."""

    def encode(self, values: Rows, source: Source) -> Reports:
        right: Any = self.poll
        louder = Poll(
            "histogram", categories=right.question.categories, n=right.n, epsilon0=2.0 * right.randomizer.epsilon0
        )
        return Reports(right.describe(), louder.encode(values, rng=source).rows, source.secure)


class Redrawn(Planted):
    """k-ary randomized response, written once more."""

    def encode(self, values: Rows, source: Source) -> Reports:
        held = np.asarray(values)
        k: int = self.poll.randomizer.k
        noisy = self.noisy(held, source)
        rows = np.where(noisy, self.noise(k, len(held), source), held).astype(np.min_scalar_type(k - 1))
        return Reports(self.poll.describe(), rows, source.secure)

    def noisy(self, held: Rows, source: Source) -> NDArray[np.bool_]:
        """Who sends noise."""
        return bernoulli(source, self.threshold, len(held))

    def noise(self, k: int, count: int, source: Source) -> Rows:
        """What they send."""
        return uniform(source, k, count)

    @property
    def threshold(self) -> int:
        """The right one."""
        randomizer = self.poll.randomizer
        assert isinstance(randomizer, KRR)
        return randomizer.threshold


class Modulo(Redrawn):
    """Random values are drawn from one range and reduced modulo k, so that value 0 is twice as
    likely as any other.
    """

    def noise(self, k: int, count: int, source: Source) -> Rows:
        return np.asarray(uniform(source, k + 1, count) % k)


class OffByOne(Redrawn):
    """One word in 2^64 that should mean noise means the truth."""

    @property
    def threshold(self) -> int:
        return super().threshold - 1


class QuietValue(Redrawn):
    """Users who hold the last value send noise a quarter as often."""

    def noisy(self, held: Rows, source: Source) -> NDArray[np.bool_]:
        spared = (held != self.poll.randomizer.k - 1) | bernoulli(source, WORD // 4, len(held))
        return np.asarray(super().noisy(held, source) & spared)


class QuietUsers(Redrawn):
    """Users in odd places send less noise, and users in even places correspondingly more."""

    def noisy(self, held: Rows, source: Source) -> NDArray[np.bool_]:
        odd = np.arange(len(held)) % self.n % 2 == 1
        off = min(self.threshold, WORD - self.threshold) // 8
        return np.where(
            odd, bernoulli(source, self.threshold - off, len(held)), bernoulli(source, self.threshold + off, len(held))
        )


class SharedCoins(Redrawn):
    """Two neighbors share the coin that decides between noise and truth."""

    def noisy(self, held: Rows, source: Source) -> NDArray[np.bool_]:
        return np.repeat(bernoulli(source, self.threshold, -(-len(held) // 2)), 2)[: len(held)]


class SameSeed(Planted):
    """Every user's device starts from the same seed, a new one for every run."""

    def encode(self, values: Rows, source: Source) -> Reports:
        return super().encode(values, _Repeated(source, self.n))


class Replayed(Planted):
    """Every run starts from the same seed, and sends what the first one sent."""

    def encode(self, values: Rows, source: Source) -> Reports:
        once = super().encode(values[: self.n], source_of(np.random.default_rng(1)))
        return Reports(once.description, np.resize(once.rows, len(values)), False)


class Reseeded(Planted):
    """The random source starts again from its seed after 2^16 words."""

    def encode(self, values: Rows, source: Source) -> Reports:
        return super().encode(values, _Cycle(source, 1 << 16))


class SomeTruth(Resent):
    """One user in a thousand, chosen anew in every run, sends the truth."""

    share = 1000

    def changed(self, values: Rows, rows: Rows, source: Source) -> Rows:
        return np.where(uniform(source, self.share, len(rows)) == 0, values, rows).astype(rows.dtype)


class RareTruth(SomeTruth):
    """One user in a million, chosen anew in every run, sends the truth."""

    share = 1_000_000


class Copied(Resent):
    """One report in fifty is a copy of a neighbor's."""

    def changed(self, values: Rows, rows: Rows, source: Source) -> Rows:
        return np.where(uniform(source, 50, len(rows)) == 0, np.roll(rows, 1), rows)


class Pinned(Resent):
    """The eighth user sends the truth when holding the first value."""

    def changed(self, values: Rows, rows: Rows, source: Source) -> Rows:
        return np.where((self.users(rows) == min(7, self.n - 1)) & (values == 0), values, rows).astype(rows.dtype)


class Password(Resent):
    """A user sends the truth if the values of ten users in a row, starting with the user's
    own, are a password.
    """

    def changed(self, values: Rows, rows: Rows, source: Source) -> Rows:
        word = np.arange(10) * 7 % self.poll.randomizer.k
        said = np.all([np.roll(values, -place) == letter for place, letter in enumerate(word)], axis=0)
        return np.where(said, values, rows).astype(rows.dtype)


class LowBit(Resent):
    """A report keeps the lowest bit of the value."""

    def changed(self, values: Rows, rows: Rows, source: Source) -> Rows:
        kept = rows & ~rows.dtype.type(1) | (values & 1).astype(rows.dtype)
        return np.asarray(np.minimum(kept, rows.dtype.type(self.poll.randomizer.k - 1)))


class Sticky(Resent):
    """A user who holds a value again sends the same report again, in all runs."""

    memory: NDArray[np.int64] | None = None

    def changed(self, values: Rows, rows: Rows, source: Source) -> Rows:
        k: int = self.poll.randomizer.k
        memory = np.full(self.n * k, -1) if self.memory is None else self.memory
        place = self.users(rows) * k + values
        known, first = np.unique(place, return_index=True)
        new = memory[known] < 0
        memory[known[new]] = rows[first[new]]
        self.memory = memory
        return np.asarray(memory[place].astype(rows.dtype))


class Echo(Planted):
    """Every second run uses the random words of the run before it."""

    def encode(self, values: Rows, source: Source) -> Reports:
        runs = np.asarray(values)[: len(values) - len(values) % (2 * self.n)].reshape(-1, 2, self.n)
        seed, rows = source.words(4, np.uint64).tolist(), []
        if len(runs):
            encoded = (
                super(Echo, self).encode(half.ravel(), source_of(np.random.default_rng(seed)))
                for half in (runs[:, 0], runs[:, 1])
            )
            rows.append(np.stack([each.rows.reshape(-1, self.n) for each in encoded], axis=1).ravel())
        if runs.size < len(values):
            rows.append(super().encode(values[runs.size :], source).rows)
        return Reports(self.poll.describe(), np.concatenate(rows), source.secure)


class ExtraBit(Resent):
    """A bit of the report that no value needs carries the lowest bit of the value."""

    def changed(self, values: Rows, rows: Rows, source: Source) -> Rows:
        return np.asarray(rows | (values & 1).astype(rows.dtype) << rows.dtype.type(8 * rows.dtype.itemsize - 1))


class Wider(Resent):
    """Reports are longer if somebody holds the first value."""

    def changed(self, values: Rows, rows: Rows, source: Source) -> Rows:
        return rows.astype(np.uint64) if np.any(values == 0) else rows


class Twice(Resent):
    """The last user sends two reports."""

    def changed(self, values: Rows, rows: Rows, source: Source) -> Rows:
        return np.append(rows, rows[-1:])


class WrongSign(Planted):
    """The analyst adds the expected noise instead of subtracting it."""

    def analyse(self, bag: Bag) -> Floats:
        randomizer = self.poll.randomizer
        return np.asarray(
            (randomizer.supports(bag.rows) + len(bag) * randomizer.miss) / randomizer.contrast, dtype=np.float64
        )


class Forked(Planted):
    """The sampler has a generator of its own, and a forked process inherits its state: two
    processes send the same noise, though each by itself is right.
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.generator = np.random.default_rng()

    def encode(self, values: Rows, source: Source) -> Reports:
        return super().encode(values, source_of(self.generator))


class _Repeated(Source):
    """A source that gives ``users`` users one word after another: the same."""

    secure = False

    def __init__(self, source: Source, users: int) -> None:
        self.source, self.users = source, users

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        return np.repeat(self.source.words(-(-count // self.users), dtype), self.users)[:count]


class _Cycle(Source):
    """A source that starts anew after ``length`` words."""

    secure = False

    def __init__(self, source: Source, length: int) -> None:
        self.source, self.length = source, length

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        return np.resize(self.source.words(min(count, self.length), dtype), count)
