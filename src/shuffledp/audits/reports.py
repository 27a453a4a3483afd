"""What an attacker makes of one report, and what the auditor does who draws its sender's value.

The laws are those that the judge derives from the documents, and reports are read by the judge's
code, not by the code that draws them: a sampler that strays from either is caught. A family from
elsewhere says itself whom its reports favor.

In the attack three values are held fixed, and a report falls into a class. In all other checks
every user's value is drawn, and value and report are read in three ways:

cells  value and report together, as far as a table of them is small
hits   whether the report favors its sender's value
marks  a class of the report alone, to see whether two reports agree
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from shuffledp.errors import InvalidInput, Refusal
from shuffledp.judge.laws import least_noise
from shuffledp.judge.reports import documented, supports
from shuffledp.randomizers.law_file import law_of
from shuffledp.randomizers.randomizer import Floats, Listed
from shuffledp.sampling import WORD

Classes = NDArray[np.intp]
MOST_COLUMNS = 1 << 16
MOST_VALUES = 1 << 22  # as many categories as polls estimate
MOST_CELLS = 1 << 14
MOST_BINS, GAUSSIAN_BINS = 256, 64
STRATA = 1 << 12  # of values; more are taken together
FAVORED = 1.0 + 1e-9


class Misread(Exception):
    """What came is not what is documented; the message says what it is."""


@dataclass(frozen=True, eq=False)
class Votes:
    """A law whose reports support some of ``k`` values. ``base`` is how likely each pattern of some
    inputs is without a sender; a report is ``high`` times as likely if it supports the sender's
    value, and else ``low`` times. ``integers`` decide every draw, out of 2^64.
    """

    k: int
    high: float
    low: float
    integers: tuple[int, ...]
    base: Callable[[tuple[int, ...]], Floats]
    supports: Callable[[NDArray[Any], NDArray[np.intp]], NDArray[np.bool_]]

    @classmethod
    def of(cls, randomizer: Any) -> Votes | None:
        """As the judge has the law; one that the judge does not know, as it says itself."""
        if (law := _judged(randomizer)) is not None and not hasattr(law, "rows"):
            high, low = (float(each) for each in law.factors)
            return cls(law.k, high, low, law.integers, partial(_patterns, law.patterns), partial(supports, law))
        if not hasattr(randomizer, "overlaps"):
            return None
        overlap, *others = randomizer.overlaps()
        assert not others
        first = _patterns(lambda _: overlap.table, (0, 1, 2)[: min(randomizer.k, 3)])
        first[-1] += overlap.universal
        cube = first.reshape((2,) * min(randomizer.k, 3))

        def base(inputs: tuple[int, ...]) -> Floats:  # all inputs are alike
            return np.asarray(cube.sum(axis=tuple(range(len(inputs), cube.ndim))).ravel())

        growth, share = math.exp(randomizer.epsilon0), float(base((0,))[1])
        low = 1.0 / (1.0 + (growth - 1.0) * share)
        mixing, said = getattr(randomizer, "share", None), randomizer.describe()
        integers = randomizer.integers if mixing is None else (least_noise(randomizer.epsilon0, mixing),)
        if len(integers) == 2 and {"p", "q"} <= set(said):  # of bits: rounded towards more noise
            integers = math.floor(Fraction(said["p"]) * WORD), math.ceil(Fraction(said["q"]) * WORD)
        return cls(randomizer.k, growth * low, low, integers, base, randomizer.favours)

    def laws(self, inputs: tuple[int, ...]) -> Floats:
        """For each of the inputs, the law of which of them a report supports."""
        masses = self.base(inputs)
        own = np.array([np.arange(masses.size) >> len(inputs) - 1 - i & 1 for i in range(len(inputs))])
        return np.asarray(masses * np.where(own == 1, self.high, self.low))

    def row(self, outputs: int, value: int) -> Floats:
        """The law of the reports, all of which are equally likely without a sender."""
        columns = np.arange(outputs)
        supported = self.supports(columns, np.full(outputs, value))
        return np.asarray(np.where(supported, self.high, self.low) / outputs)

    @property
    def hit(self) -> float:
        """The chance that a report votes for its sender's value."""
        return float(self.laws((0,))[0, 1])

    @property
    def miss(self) -> float:
        """The chance that it votes for another, where all others are alike."""
        return float(self.laws((0, 1))[0, [1, 3]].sum())


def _judged(randomizer: Any) -> Any:
    """The law by the judge, with the integers that it derives; None where it does not know it."""
    try:
        law = documented(law_of(randomizer))
    except InvalidInput:
        return None
    return law if law.k == getattr(randomizer, "k", None) else None


def _patterns(of: Callable[[tuple[int, ...]], Any], inputs: tuple[int, ...]) -> Floats:
    """The mass of each pattern, in the order of binary numbers."""
    masses = np.zeros(1 << len(inputs))
    for pattern, mass in of(inputs).items():
        masses[int("".join(map(str, pattern)), 2)] += float(mass)
    return masses


def _listed(randomizer: Any, votes: Votes | None) -> Listed | None:
    """The law, if its reports can be listed."""
    if randomizer.listed is not None:
        return randomizer.listed  # type: ignore[no-any-return]
    if votes is not None:
        dtype, _, outputs = randomizer.form
        if outputs is None:
            return None
        if outputs > (most := MOST_VALUES if randomizer.single else MOST_COLUMNS):
            rule = f"there must be at most {most:,} reports to choose from to be audited"
            raise InvalidInput(Refusal(rule, f"{outputs:,} for k = {votes.k:,}", "Lower k: the code is the same."))
        return Listed(np.arange(votes.k), partial(votes.row, outputs), dtype)
    if (law := _judged(randomizer)) is None:
        remedy = "Audit a poll that uses KRR, or describe it by FromMatrix."
        raise InvalidInput(Refusal("the audit must know how to read reports", type(randomizer).__name__, remedy))
    rows = law.rows
    return Listed(np.arange(law.k), lambda i: np.array(rows[i], dtype=np.float64), randomizer.form.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """``laws[i]`` is the law of the class of a report of input i; ``inputs`` are the target's two,
    then one for the others to hold if there is a third.

    A report is one ``dtype``, or a row of ``width`` of them: anything more could carry the value.
    """

    inputs: tuple[Any, ...]
    laws: Floats
    classify: Callable[[NDArray[Any]], Classes]
    dtype: np.dtype[Any]
    width: int | None = None

    def checked(self, reports: NDArray[Any], count: int | None = None) -> NDArray[Any]:
        """The reports, if they have the documented form and there are ``count``."""
        shape = () if self.width is None else (self.width,)
        if reports.dtype != self.dtype or reports.shape[1:] != shape:
            right = f"{self.width or 1} of {self.dtype}"
            raise Misread(f"a report must be {right}, got {reports.dtype} of shape {reports.shape[1:]}")
        if count is not None and len(reports) != count:
            raise Misread(f"there must be one report per user, {count} in all, got {len(reports)}")
        return reports

    def read(self, reports: NDArray[Any], count: int | None = None) -> Classes:
        """The classes of reports that have the documented form."""
        classes = self.classify(self.checked(reports, count))
        if len(classes) and (classes.min() < 0 or classes.max() >= self.laws.shape[1]):
            raise Misread(f"reports must be among the {self.laws.shape[1]} classes of the account, got another")
        return classes


def reading_of(randomizer: Any) -> Outputs:
    """How the reports of a randomizer that runs are read, report by report or else by whom they
    support; its inputs are the pair that is hardest to hide and a third value.
    """
    votes = Votes.of(randomizer)
    listed = _listed(randomizer, votes)
    if votes is None:
        assert listed is not None
        places = listed.inputs.tolist()
        pair = [places.index(x) for x in randomizer.worst_pair]
        inputs = _with_third(pair, (len(places) // 2, *range(len(places))))
        laws = np.stack([listed.row(i) for i in inputs])
        return Outputs(tuple(places[i] for i in inputs), laws, partial(_from, listed.first), listed.dtype)
    pair = [int(x) for x in randomizer.worst_pair]
    dtype, width, _ = randomizer.form
    inputs = _with_third(pair, range(votes.k - 1, -1, -1))
    if listed is None:
        return Outputs(inputs, votes.laws(inputs), partial(_pattern, votes, inputs), dtype, width)
    return Outputs(inputs, np.stack([listed.row(x) for x in inputs]), partial(_from, 0), dtype)


def _with_third(pair: list[int], others: Iterable[int]) -> tuple[int, ...]:
    """The two values of the target, and the first other one, if there is one."""
    return (*pair, *[x for x in others if x not in pair][:1])


def _from(first: int, reports: NDArray[Any]) -> Classes:
    return np.asarray(reports.astype(np.intp) - first)


def _pattern(votes: Votes, inputs: tuple[int, ...], reports: NDArray[Any]) -> Classes:
    """Which of the inputs in play a report supports: all that matters for telling them apart."""
    found = np.zeros(len(reports), dtype=np.intp)
    for x in inputs:
        found = 2 * found + votes.supports(reports, np.full(len(reports), x))
    return found


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

    favored: NDArray[np.bool_]
    reading: Outputs

    @classmethod
    def of(cls, inputs: NDArray[Any], laws: Floats, reading: Outputs) -> Tabled:
        """``laws[i]`` is the law of the reading's classes for ``inputs[i]``."""
        mean = laws.mean(axis=0)
        favored = laws > FAVORED * mean if len(laws) > 1 else (np.arange(laws.size) < laws.size // 2)[None, :]
        hits = np.where(favored, laws, 0.0).sum(axis=1)
        return cls(inputs, laws.ravel() / len(laws), hits, mean, favored, reading)

    def read(self, drawn: NDArray[np.intp], reports: NDArray[Any], generator: np.random.Generator) -> Seen:
        marks = self.reading.read(reports)
        cells = drawn * len(self.mark_law) + marks
        return Seen(cells, self.favored.ravel()[cells], marks)


@dataclass(frozen=True, eq=False)
class Voted(Joint):
    """Many values or reports: a hit is a vote for the sender's value, a mark a vote for the first,
    and a cell counts a vote for another value too.
    """

    votes: Votes
    reading: Outputs
    blocks: int

    @classmethod
    def of(cls, randomizer: Any, votes: Votes) -> Voted:
        """Where supports overlap in several ways, by blocks, only the sender's own value is asked
        about, and a mark is a report of the first block.
        """
        k, strata, blocks = votes.k, min(votes.k, STRATA), randomizer.blocks
        if blocks:
            law = votes.laws((0,))[0].repeat(2) * [1.0, 0.0, 1.0, 0.0]
            inside = np.count_nonzero(randomizer.block_of == 0) / k
            first = (inside * (votes.high - votes.low) / 2.0 + votes.low) / blocks
        else:
            law = votes.laws((0, 1))[0]
            first = votes.hit / k + votes.miss * (1.0 - 1.0 / k)
        sizes = np.bincount(np.arange(k) % strata, minlength=strata) / k
        marks, reading, cells = np.array([1.0 - first, first]), reading_of(randomizer), np.outer(sizes, law).ravel()
        return cls(np.arange(k), cells, np.full(strata, votes.hit), marks, votes, reading, blocks)

    def read(self, drawn: NDArray[np.intp], reports: NDArray[Any], generator: np.random.Generator) -> Seen:
        self.reading.read(reports)
        hits = self.votes.supports(reports, drawn)
        if self.blocks:
            others = np.zeros(len(hits), dtype=np.intp)
            marks = (reports < self.reading.laws.shape[1] // self.blocks).astype(np.intp)  # its columns come first
        else:
            beside = (drawn + generator.integers(1, self.votes.k, len(drawn))) % self.votes.k
            others = self.votes.supports(reports, beside).astype(np.intp)
            marks = self.votes.supports(reports, np.zeros_like(drawn)).astype(np.intp)
        return Seen(4 * self.strata(drawn) + 2 * hits + others, hits, marks)


def joint_of(randomizer: Any, *, halves: bool = False) -> Joint:
    """What to draw and how to read it; with ``halves`` also values half-way between two inputs,
    which are rounded to either at random.
    """
    votes = Votes.of(randomizer)
    listed = _listed(randomizer, votes)
    if listed is None:
        assert votes is not None
        return Voted.of(randomizer, votes)
    reading, halves = reading_of(randomizer), halves or listed.rounded
    count, outputs = len(listed.inputs), reading.laws.shape[1]
    if (2 * count - 1 if halves else count) * outputs > MOST_CELLS and not listed.rounded:
        if votes is not None:
            return Voted.of(randomizer, votes)
        count = min(count, max(2, MOST_CELLS // outputs))
    inputs, laws = listed.inputs[:count], np.stack([listed.row(i) for i in range(count)])
    if halves:
        inputs, laws = (np.repeat(each, 2, axis=0)[:-1].astype(np.float64) for each in (inputs, laws))
        for each in (inputs, laws):
            each[1::2] = (each[:-1:2] + each[2::2]) / 2.0
    return Tabled.of(inputs, laws, reading) if not listed.rounded else _coarse(inputs, laws, reading)


def _coarse(inputs: NDArray[Any], laws: Floats, fine: Outputs) -> Tabled:
    """Neighboring outputs together, so that no class is rare."""
    size = min(MOST_BINS, MOST_CELLS // len(laws))
    bins = np.minimum((np.cumsum(laws.mean(axis=0)) * size).astype(np.intp), size - 1)
    _, bins = np.unique(bins, return_inverse=True)
    merged = np.zeros((int(bins[-1]) + 1, len(laws)))
    np.add.at(merged, bins, laws.T)

    def classify(reports: NDArray[Any]) -> Classes:
        return np.asarray(bins[np.clip(fine.classify(reports), 0, len(bins) - 1)])

    return Tabled.of(inputs, merged.T, Outputs(fine.inputs, merged.T, classify, fine.dtype))


def gaussian_noise(steps: int | None = None) -> Joint:
    """Standard Gaussian noise, in cells that are about equally likely; with ``steps`` to the unit
    it is rounded to whole ones, as the cells are.
    """
    cuts = ndtri(np.arange(1, GAUSSIAN_BINS) / GAUSSIAN_BINS)
    if steps is not None:
        cuts = (np.floor(cuts * steps) + 0.5) / steps
    law = np.diff(ndtr(np.concatenate([[-np.inf], cuts, [np.inf]])))[None, :]
    reading = Outputs((0.0,), law, lambda noise: np.searchsorted(cuts, noise), np.dtype(np.float64))
    return Tabled.of(np.zeros(1), law, reading)
