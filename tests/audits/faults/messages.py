"""Mistakes of people who send several messages, and of a shuffler that adds some, for ``faults``.
Each is planted in a law of its own; the first paragraph of a docstring is its description.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.audits.messages import Messaged
from shuffledp.randomizers.messages import MessageLaw, ShufflerDummies, SignedUnits, SplitShares, TreeDummies, UserFakes
from shuffledp.sampling import Source, uniform

__all__ = [
    "AllKept",
    "AlwaysFakes",
    "BlanksDropped",
    "DummiesLast",
    "HalfNoise",
    "MarkedDummies",
    "Misplanted",
    "NoDummies",
    "NoFakes",
    "OtherFakes",
    "PairsLeftOut",
    "PlainShare",
    "QuietLevel",
    "QuietPerson",
    "RightMessages",
    "ThinShares",
    "WrongDummies",
]

Rows = NDArray[Any]


class Misplanted(Messaged):
    """A law of several messages with a fault in it."""

    @classmethod
    def law_for(cls, k: int, _people: int) -> MessageLaw:
        """What it is planted in, by default people's fakes."""
        return UserFakes(k=k, slots=2, chance=0.5)


class RightMessages(Misplanted):
    """Nothing is wrong with the messages."""


class NoFakes(Misplanted):
    """People add no fakes, and send blanks in their place."""

    def send(self, values: Rows, source: Source) -> Rows:
        rows = super().send(values, source)
        rows[:, 1:] = self.law.k
        return rows


class QuietPerson(Misplanted):
    """One person adds no fakes."""

    def send(self, values: Rows, source: Source) -> Rows:
        rows = super().send(values, source)
        rows[self.n // 2 :: self.n, 1:] = self.law.k
        return rows


class OtherFakes(Misplanted):
    """A fake is never the sender's own value: people draw again until it is another."""

    def send(self, values: Rows, source: Source) -> Rows:
        rows = super().send(values, source)
        again = (values[:, None] + 1 + uniform(source, self.law.k - 1, len(values))[:, None]) % self.law.k
        rows[:, 1:] = np.where(rows[:, 1:] == values[:, None], again, rows[:, 1:])
        return rows


class AlwaysFakes(Misplanted):
    """Who holds the first value sends a fake in every slot, so that the number of blanks tells."""

    def send(self, values: Rows, source: Source) -> Rows:
        rows = super().send(values, source)
        empty = (rows == self.law.k) & (values == 0)[:, None]
        rows[empty] = uniform(source, self.law.k, int(empty.sum()))
        return rows


class BlanksDropped(Misplanted):
    """The shuffler drops blanks, so that the number of messages tells how many people added
    something.
    """

    def mix(self, messages: Rows, source: Source) -> Rows:
        mixed = super().mix(messages, source)
        return np.asarray(mixed[mixed != self.law.k])


class OfDummies(Misplanted):
    """Planted in the shuffler's dummies."""

    @classmethod
    def law_for(cls, k: int, _people: int) -> MessageLaw:
        return ShufflerDummies(k=k, center=10, left=0.5, right=0.5, keep=0.75)


class NoDummies(OfDummies):
    """The shuffler adds no dummies."""

    def mix(self, messages: Rows, source: Source) -> Rows:
        return np.sort(messages)


class WrongDummies(OfDummies):
    """The shuffler draws the number of dummies from a steeper law than the account's."""

    def mix(self, messages: Rows, source: Source) -> Rows:
        steeper = replace(self.law, left=self.law.left / 2.0, right=self.law.right / 2.0)
        return np.sort(steeper.mixed_messages(messages, rng=source))


class AllKept(OfDummies):
    """The shuffler hands on every message, where it is to drop some."""

    def mix(self, messages: Rows, source: Source) -> Rows:
        return np.sort(replace(self.law, keep=1.0).mixed_messages(messages, rng=source))


class MarkedDummies(OfDummies):
    """Dummies have a bit set that no message needs, so that whoever opens them tells them apart."""

    def mix(self, messages: Rows, source: Source) -> Rows:
        dummies = np.repeat(np.arange(self.law.k, dtype=messages.dtype), self.law.dummies(rng=source))
        return np.concatenate([messages, dummies | dummies.dtype.type(0x80)])


class DummiesLast(OfDummies):
    """The shuffler mixes the messages, and puts its dummies after them."""

    def mix(self, messages: Rows, source: Source) -> Rows:
        return np.asarray(self.law.mixed_messages(messages, rng=source))


class QuietLevel(Misplanted):
    """The shuffler adds dummies to the narrowest ranges only, and none to the wide ones."""

    @classmethod
    def law_for(cls, k: int, _people: int) -> MessageLaw:
        return TreeDummies(k=k, levels=2, branches=2, center=10, left=0.5, right=0.5)

    def mix(self, messages: Rows, source: Source) -> Rows:
        dummies = self.law.dummies(rng=source)
        dummies[: self.law.sizes[0]] = 0
        added = np.repeat(np.arange(self.law.places, dtype=messages.dtype), dummies)
        return np.sort(np.concatenate([messages, added]))


class OfUnits(Misplanted):
    """Planted in messages +1 and -1."""

    @classmethod
    def law_for(cls, _k: int, people: int) -> MessageLaw:
        return SignedUnits(honest=people, decay=0.8, pairs=people, messages=24)


class PairsLeftOut(OfUnits):
    """Nobody sends pairs of +1 and -1."""

    def send(self, values: Rows, source: Source) -> Rows:
        return np.asarray(replace(self.law, pairs=0).randomize(values, rng=source))


class HalfNoise(OfUnits):
    """Shares of the noise are drawn for twice as many people as there are, so that together they
    are one half of it.
    """

    def send(self, values: Rows, source: Source) -> Rows:
        fewer = replace(self.law, honest=2 * self.law.honest, pairs=2 * self.law.pairs)
        return np.asarray(fewer.randomize(values, rng=source))


class OfShares(Misplanted):
    """Planted in split and mix."""

    @classmethod
    def law_for(cls, k: int, people: int) -> MessageLaw:
        return SplitShares(k=k, honest=people, decay=0.4, share_bits=20, messages=12, reach=80)


class PlainShare(OfShares):
    """One share is the number itself, and the others add up to nothing."""

    def send(self, values: Rows, source: Source) -> Rows:
        rows = super().send(values, source)
        whole = rows.astype(np.uint64).sum(axis=1).astype(np.uint32) & np.uint32(self.law.modulus - 1)
        rows[:] = 0
        rows[:, -1] = whole
        return rows


class ThinShares(OfShares):
    """Shares are drawn with one bit less than they have."""

    def send(self, values: Rows, source: Source) -> Rows:
        rows = super().send(values, source).astype(np.uint64)
        half = np.uint64(self.law.modulus // 2 - 1)
        total = rows.sum(axis=1)
        rows[:, :-1] &= half
        rows[:, -1] = (total - rows[:, :-1].sum(axis=1)) & np.uint64(self.law.modulus - 1)
        return rows.astype(self.law.message.dtype)
