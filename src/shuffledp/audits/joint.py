"""What the auditor draws, and what must come back: every user holds a value of the auditor's
choice, and the joint law of value and report is known.

The attack holds three values fixed; here all of them occur, in all places. A report is read in
three ways, each with a law that the account implies:

cells  value and report together, as far as a table of them is small
hits   whether the report favours its sender's value
marks  a class of the report alone, to see whether two reports agree
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from shuffledp.audits.reading import (
    Classes,
    Reading,
    form_of,
    grid_law,
    krr_laws,
    level_laws,
    listed_laws,
    reading_of,
    votes_for,
)
from shuffledp.randomizers import KRR
from shuffledp.randomizers.location import OnGrid
from shuffledp.randomizers.randomizer import Floats, Randomizer
from shuffledp.randomizers.support import SupportRandomizer
from shuffledp.randomizers.wrappers import OneLevel

__all__ = ["Joint", "Seen", "Tabled", "Voted", "gaussian_noise", "joint_of", "vote_law"]

MOST_CELLS = 1 << 14
MOST_BINS, GAUSSIAN_BINS = 256, 64
STRATA = 1 << 12  # of values; more are taken together
FAVOURED = 1.0 + 1e-9


class Seen(NamedTuple):
    """Some reports as they were read."""

    cells: Classes
    hits: NDArray[np.bool_]
    marks: Classes


@dataclass(frozen=True, eq=False)
class Joint(ABC):
    """``inputs`` are the values that are drawn, all equally likely, as inputs of the randomizer;
    the laws are those of ``Seen``.

    ``hit_law[s]`` is the chance of a hit for the values of stratum s, value x being of stratum x
    modulo their number.
    """

    inputs: NDArray[Any]
    cell_law: Floats
    hit_law: Floats
    mark_law: Floats

    @abstractmethod
    def read(self, drawn: NDArray[np.intp], reports: NDArray[Any], generator: np.random.Generator) -> Seen:
        """The reports of users who hold ``inputs[drawn]``; the generator is the auditor's."""

    def strata(self, drawn: NDArray[np.intp]) -> NDArray[np.intp]:
        """Of which stratum each value is."""
        return drawn if len(self.hit_law) == len(self.inputs) else drawn % len(self.hit_law)


@dataclass(frozen=True, eq=False)
class Tabled(Joint):
    """Few enough values and classes of reports: a cell is a pair of them, and a hit a class that is
    likelier for the value than for most.
    """

    favoured: NDArray[np.bool_]
    reading: Reading

    @classmethod
    def of(cls, inputs: NDArray[Any], laws: Floats, reading: Reading) -> Tabled:
        """``laws[i]`` is the law of the reading's classes for ``inputs[i]``."""
        favoured = (
            laws > FAVOURED * laws.mean(axis=0) if len(laws) > 1 else (np.arange(laws.size) < laws.size // 2)[None, :]
        )
        return cls(
            inputs,
            laws.ravel() / len(laws),
            np.where(favoured, laws, 0.0).sum(axis=1),
            laws.mean(axis=0),
            favoured,
            reading,
        )

    def read(self, drawn: NDArray[np.intp], reports: NDArray[Any], generator: np.random.Generator) -> Seen:
        marks = self.reading.read(reports)
        cells = drawn * len(self.mark_law) + marks
        return Seen(cells, self.favoured.ravel()[cells], marks)


@dataclass(frozen=True, eq=False)
class Voted(Joint):
    """Many values or reports: a hit is a vote for the sender's value, a mark a vote for the first,
    and a cell counts a vote for another value too.
    """

    randomizer: SupportRandomizer
    reading: Reading

    @classmethod
    def of(cls, randomizer: SupportRandomizer) -> Voted:
        """Any support randomizer; of Hadamard response, whose supports overlap in several ways,
        only the sender's own value is asked about.
        """
        k, strata, growth = randomizer.k, min(randomizer.k, STRATA), math.exp(randomizer.epsilon0)
        law = _votes_law(randomizer)
        own, first = vote_law(randomizer)
        if randomizer.blocks:
            blocks, inside = randomizer.blocks, np.count_nonzero(randomizer.block_of == 0) / k
            first = (1.0 + inside * (growth - 1.0) / 2.0) / (blocks + (growth - 1.0) / 2.0)
        else:
            first = own / k + first * (1.0 - 1.0 / k)
        sizes = np.bincount(np.arange(k) % strata, minlength=strata) / k
        return cls(
            np.arange(k),
            np.outer(sizes, law).ravel(),
            np.full(strata, own),
            np.array([1.0 - first, first]),
            randomizer,
            reading_of(randomizer),
        )

    def read(self, drawn: NDArray[np.intp], reports: NDArray[Any], generator: np.random.Generator) -> Seen:
        self.reading.read(reports)
        hits = votes_for(self.randomizer, reports, drawn)
        if self.randomizer.blocks:
            others = np.zeros(len(hits), dtype=np.intp)
            first_block = self.reading.laws.shape[1] // self.randomizer.blocks  # its columns come first
            marks = (reports < first_block).astype(np.intp)
        else:
            beside = (drawn + generator.integers(1, self.randomizer.k, len(drawn))) % self.randomizer.k
            others = votes_for(self.randomizer, reports, beside).astype(np.intp)
            marks = votes_for(self.randomizer, reports, np.zeros_like(drawn)).astype(np.intp)
        return Seen(4 * self.strata(drawn) + 2 * hits + others, hits, marks)


@singledispatch
def joint_of(randomizer: Randomizer, *, halves: bool = False) -> Joint:
    """What to draw and how to read it; with ``halves`` also values half-way between two inputs,
    which are rounded to either at random.
    """
    reading, table = reading_of(randomizer), randomizer.table
    assert table is not None
    inputs = np.arange(len(table))[: max(2, MOST_CELLS // table.shape[1])]
    return Tabled.of(inputs, table[inputs], reading)


@joint_of.register
def _krr(randomizer: KRR, *, halves: bool = False) -> Joint:
    k = randomizer.k
    if (2 * k - 1 if halves else k) * k > MOST_CELLS:
        return Voted.of(randomizer)
    laws = krr_laws(randomizer, k)
    if not halves:
        return Tabled.of(np.arange(k), laws, reading_of(randomizer))
    both = np.repeat(laws, 2, axis=0)[:-1]
    both[1::2] = (laws[:-1] + laws[1:]) / 2.0
    return Tabled.of(np.arange(2 * k - 1) / 2.0, both, reading_of(randomizer))


@joint_of.register
def _one_level(randomizer: OneLevel, *, halves: bool = False) -> Joint:
    laws = level_laws(randomizer)
    inputs = np.arange(randomizer.k)[: max(2, MOST_CELLS // laws.shape[1])]
    return Tabled.of(inputs, laws[inputs], reading_of(randomizer))


@joint_of.register
def _support(randomizer: SupportRandomizer, *, halves: bool = False) -> Joint:
    k, outputs = randomizer.k, form_of(randomizer).outputs
    if outputs is None or k * outputs > MOST_CELLS:
        return Voted.of(randomizer)
    return Tabled.of(np.arange(k), listed_laws(randomizer, range(k), outputs), reading_of(randomizer))


def gaussian_noise(steps: int | None = None) -> Joint:
    """Standard Gaussian noise, in cells that are about equally likely; with ``steps`` to the unit
    it is rounded to whole ones, as the cells are.
    """
    cuts = ndtri(np.arange(1, GAUSSIAN_BINS) / GAUSSIAN_BINS)
    if steps is not None:
        cuts = (np.floor(cuts * steps) + 0.5) / steps
    law = np.diff(ndtr(np.concatenate([[-np.inf], cuts, [np.inf]])))
    return Tabled.of(
        np.zeros(1),
        law[None, :],
        Reading((0.0,), law[None, :], lambda noise: np.searchsorted(cuts, noise), np.dtype(np.float64)),
    )


def vote_law(randomizer: SupportRandomizer) -> tuple[float, float]:
    """The chance that a report votes for its sender's value, and that it votes for another."""
    law = _votes_law(randomizer)
    return float(law[2] + law[3]), float(law[1] + law[3])


def _votes_law(randomizer: SupportRandomizer) -> Floats:
    """The law of voting for neither the sender's value nor another, for the other only, for the own
    only, or for both.
    """
    growth = math.exp(randomizer.epsilon0)
    weights = _pair_law(randomizer) * np.array([1.0, 1.0, growth, growth])
    return np.asarray(weights / weights.sum())


def _pair_law(randomizer: SupportRandomizer) -> Floats:
    """The base law of supporting neither of two values, the second only, the first only, or
    both.
    """
    if randomizer.blocks:  # two values of one block meet otherwise than two of different ones
        share = 0.5 / randomizer.blocks
        return np.array([1.0 - share, 0.0, share, 0.0])
    overlap, *others = randomizer.overlaps()
    assert not others
    law = np.zeros((2, 2))
    for (first, second, *_), mass in overlap.table.items():
        law[first, second] += mass
    law[1, 1] += overlap.universal
    return law.ravel()


@joint_of.register
def _on_grid(randomizer: OnGrid, *, halves: bool = False) -> Joint:
    """Grid points and what lies half-way between them; neighboring outputs together, so that no
    class is rare.
    """
    m = randomizer.steps
    whole = grid_law(randomizer, range(m + 1))
    laws = np.repeat(whole, 2, axis=0)[:-1]
    laws[1::2] = (whole[:-1] + whole[1:]) / 2.0
    size = min(MOST_BINS, MOST_CELLS // len(laws))
    bins = np.minimum((np.cumsum(laws.mean(axis=0)) * size).astype(np.intp), size - 1)
    _, bins = np.unique(bins, return_inverse=True)
    merged = np.zeros((int(bins[-1]) + 1, len(laws)))
    np.add.at(merged, bins, laws.T)
    fine = reading_of(randomizer)
    coarse = Reading(
        fine.inputs, merged.T, lambda reports: bins[np.clip(fine.classify(reports), 0, len(bins) - 1)], fine.dtype
    )
    return Tabled.of(np.arange(2 * m + 1) / (2.0 * m), merged.T, coarse)
