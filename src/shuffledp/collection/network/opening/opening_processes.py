"""Slices opened on all cores of this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from shuffledp.collection.engines.batch import Sums
from shuffledp.collection.network.all_cores import on_all_cores
from shuffledp.collection.network.opening.opening_tasks import Opener, Slice

__all__ = ["OnAllCores"]


class OnAllCores:
    """Opens slices by so many ``processes``, or as many as there are cores; ``tick`` is told how
    many envelopes are done.
    """

    def __init__(self, tick: Callable[[int], object] | None = None, *, processes: int | None = None) -> None:
        self._tick, self._processes = tick, processes

    def __call__(self, opener: Opener, slices: Sequence[Slice]) -> Sums:
        """What all slices add up to."""
        found = []
        for part, sums in zip(slices, on_all_cores(opener, slices, processes=self._processes), strict=True):
            found.append(sums)
            if self._tick is not None:
                self._tick(part.end - part.begin)
        return Sums(sum(each.reports for each in found), 0, np.sum([each.votes for each in found], axis=0))
