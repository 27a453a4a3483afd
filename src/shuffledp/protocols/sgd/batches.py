"""Batches as random allocation draws them: every record goes into steps of its own, whatever the
others do.

A batch has the expected size, and no more than that is sure: some are larger, some may be empty. A
step whose batch is empty still adds its noise and counts as a step: leaving it out would tell that
nobody was there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput, check_count
from shuffledp.sampling import Rng, Source, source_of, uniform

__all__ = ["BallsAndBins"]

MOST_STEPS = 1 << 32


@dataclass(frozen=True, kw_only=True)
class BallsAndBins:
    """The batches of one epoch: each of ``records`` is in ``participations`` of ``steps`` batches,
    chosen uniformly and independently of all others.

    This is the sampler that ``RandomAllocation`` accounts for. Every iteration is a fresh epoch: a
    list of indices for every step, some of them perhaps empty. It has what PyTorch asks of a
    ``batch_sampler``, and needs no PyTorch. ``rng`` left out is cryptographic; whoever can guess
    the batches has no use for the certificate's promise, so a seeded generator is for experiments.

    >>> sampler = BallsAndBins(records=10, steps=3)
    >>> epoch = list(sampler)
    >>> len(epoch) == len(sampler) == 3, sorted(i for batch in epoch for i in batch)
    (True, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    records: int
    steps: int
    participations: int = 1
    rng: Rng = None

    def __post_init__(self) -> None:
        records = check_count("records", self.records, least=1, remedy="It counts the rows to train on.")
        steps = check_count("steps", self.steps, least=1, remedy="It counts the batches of an epoch.")
        if steps > MOST_STEPS:
            raise InvalidInput(f"steps must be at most {MOST_STEPS:,}, got {steps}. Use fewer, larger batches.")
        times = check_count(
            "participations", self.participations, least=1, remedy="It counts the batches that a record is in."
        )
        if times > steps:
            raise InvalidInput(
                f"participations must be at most steps = {steps}, got {times}. A record is in a batch once or not at "
                f"all."
            )
        for name, value in (("records", records), ("steps", steps), ("participations", times)):
            object.__setattr__(self, name, value)
        source_of(self.rng)

    def __len__(self) -> int:
        """The number of batches of an epoch."""
        return self.steps

    def __iter__(self) -> Iterator[list[int]]:
        """A fresh epoch, batch by batch, as lists of indices."""
        for batch in self.epoch():
            yield batch.tolist()

    def epoch(self) -> list[NDArray[np.intp]]:
        """A fresh epoch as arrays of indices, one for every step."""
        chosen = self._chosen(source_of(self.rng))
        order = np.argsort(chosen.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(chosen.ravel(), minlength=self.steps))
        return np.split(order // self.participations, ends[:-1])

    def _chosen(self, source: Source) -> NDArray[np.int64]:
        """The steps of every record, a row each: ``participations`` different ones, every such set
        equally likely.

        The j-th is one of the steps - j that are left, counted in order: stepping over those taken,
        the smallest first, finds it.
        """
        taken = np.empty((self.records, 0), dtype=np.int64)
        for drawn in range(self.participations):
            place = uniform(source, self.steps - drawn, self.records).astype(np.int64)
            for column in range(drawn):
                place += place >= taken[:, column]
            taken = np.sort(np.column_stack([taken, place]), axis=1)
        return taken
