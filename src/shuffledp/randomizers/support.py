"""Support randomizers: an output votes for inputs, and the true input is favored by a factor.

k-RR, Hadamard response, unary encoding, local hashing and subset selection are one mechanism in
different clothes. There is a base law on outputs and a relation "output y supports input x", with f
= P_base(y supports x) the same for all x:

    mu_x(y) = base(y) * (E if y supports x else 1) / Z,      E = e^epsilon0,  Z = 1 + (E - 1) f.

(Acharya, Sun and Zhang 2019 call the sets S_x; Wang et al. 2017 call these protocols "pure".) So a
haystack needs only the joint base law of who is supported: the target's inputs x0 and x1, and a
third input x2 that the others may hold.

*Votes.* A report votes for the values it supports. A user's vote for their own value has mean
``hit``, for another value mean ``miss``, so (votes - n miss) / (hit - miss) estimates a value's
count without bias; hit - miss is called ``contrast``.

*Draws.* If the base law is easy to draw from, one coin chooses between noise and an output that
supports the input. With probability t = T / 2^64 the report is drawn from the base law, and else
from the base law's outputs that support the input, a share f of all. So mu_x(y) = base(y) (t + (1 -
t) / f if y supports x else t), and one integer T realizes e^epsilon0 = 1 + (1 - t) / (t f) exactly.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats, that_of
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.parameters import SMALLEST_EPSILON0, check_values
from shuffledp.randomizers.randomizer import Atoms, Form, GroupLaw, Ints, Randomizer, Reporting
from shuffledp.sampling import WORD, Rng, Source, source_of
from shuffledp.sampling.draws import mixing_threshold

__all__ = [
    "Counted",
    "Form",
    "Ints",
    "MixingRandomizer",
    "Overlap",
    "SupportRandomizer",
    "VotingRandomizer",
    "bits_for",
    "chunks",
    "histogram",
    "hypergeometric",
    "independent",
]

CHUNK = 1 << 17  # words that fit the second-level cache


class VotingRandomizer(Randomizer, Reporting):
    """A randomizer of the categories 0, ..., k - 1 whose reports vote for some of them."""

    __slots__ = ()

    summed: ClassVar[str] = ""  # the mechanism of which a shuffler may add up the bits; empty without

    k: int

    @property
    @abstractmethod
    def hit(self) -> float:
        """The mean vote of a report for its sender's value, under the law that runs."""

    @property
    @abstractmethod
    def miss(self) -> float:
        """The mean vote of a report for a value that is not its sender's."""

    @property
    @abstractmethod
    def contrast(self) -> float:
        """hit - miss, from the integers: floats would lose its digits at a tiny epsilon0."""

    @property
    def votes_each(self) -> int | None:
        """How many values every report votes for, where that is fixed."""
        return 1 if self.single else None

    @property
    def blocks(self) -> int:
        """How many blocks there are, if a report votes for and against one's values; or 0."""
        return 0

    @property
    def block_of(self) -> Ints:
        return np.zeros(self.k, dtype=np.int64)

    def block_counts(self, reports: NDArray[Any]) -> Ints:
        """How many reports fall into each block."""
        return np.zeros(0, dtype=np.int64)

    @property
    def decoding(self) -> tuple[Floats, Floats] | None:
        """Where reports vote for nothing, the matrix of their law, and what each report adds to the
        estimate of each value.
        """
        return None

    def favours(self, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether each report supports the value beside it; for audits."""
        raise InvalidInput(
            f"the audit must know how to read reports, got {type(self).__name__}. Write its favours(...)."
        )

    def _blank(self, count: int) -> NDArray[Any]:
        """Room for ``count`` reports."""
        dtype, width, _ = self.form
        return np.empty(count if width is None else (count, width), dtype=dtype)

    @abstractmethod
    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        """Reports of a chunk of checked values."""

    @abstractmethod
    def _tally(self, reports: NDArray[Any]) -> Ints:
        """Votes for each of the k values in checked reports."""

    @property
    def _words(self) -> int:
        """How many numbers a report is drawn from: long ones are drawn in shorter chunks."""
        return 1

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        checked, source = check_values(values, self.k), source_of(rng)
        reports = self._blank(len(checked))
        for chunk in chunks(len(checked), self._words):
            reports[chunk] = self._draw(source, checked[chunk])
        return reports

    def supports(self, reports: ArrayLike) -> Ints:
        """How many reports vote for each value."""
        return self._tally(self.check_reports(reports))

    def tally(self, reports: ArrayLike) -> Ints:
        """All that an estimate needs to know of some reports, as numbers that add up over reports:
        the votes for each value, after how many reports there are, and in each block, where the
        votes do not say so.
        """
        checked = self.check_reports(reports)
        votes = self._tally(checked)
        if self.single:
            return votes
        return np.concatenate([[len(checked)], self.block_counts(checked), votes])

    def adds_up(self, tally: NDArray[np.int64], reports: int) -> bool:
        if self.single:
            return bool(tally.min() >= 0 and tally.max() <= reports) and _total(tally) == reports
        blocks, votes = tally[1 : 1 + self.blocks], tally[1 + self.blocks :]
        if tally[0] != reports:
            return False
        if not self.blocks:
            fixed = self.votes_each is None or _total(votes) == self.votes_each * reports
            return bool(fixed and votes.min() >= 0 and votes.max() <= reports)
        if blocks.min() < 0 or blocks.max() > reports or _total(blocks) != reports:
            return False
        voters = blocks[self.block_of]  # each votes for or against
        return bool(np.all(np.abs(votes) <= voters) and np.all((voters - votes) % 2 == 0))

    @property
    def tally_size(self) -> int:
        return self.k if self.single else 1 + self.blocks + self.k

    def opened(self, tally: Ints) -> tuple[int, Ints, Ints]:
        if self.single:
            return _total(tally), tally[:0], tally
        return int(tally[0]), tally[1 : -self.k], tally[-self.k :]

    def group_law(self, size: int, people: int) -> GroupLaw:
        """A report that names one value votes for a group that has it."""
        if not self.single:
            return super().group_law(size, people)
        return GroupLaw(self.hit + (size - 1) * self.miss, size * self.miss, self.contrast)

    @property
    def influence(self) -> float:
        """A report votes for a value or does not; in a block, for it, against it, or not at all."""
        return 2.0 / self.hit if self.blocks else 1.0 / self.contrast

    def debias(self, reports: ArrayLike) -> Floats:
        """Unbiased estimates of how many people hold each value; they may be negative."""
        checked = self.check_reports(reports)
        votes: Floats = self._tally(checked).astype(np.float64)
        return (votes - len(checked) * self.miss) / self.contrast

    def count_variance(self, counts: ArrayLike) -> Floats:
        """The exact variance of each estimate of ``debias`` if ``counts[x]`` people hold x."""
        held = self._check_counts(counts)
        own, other = self.hit * (1.0 - self.hit), self.miss * (1.0 - self.miss)
        variance: Floats = (held * own + (held.sum() - held) * other) / self.contrast**2
        return variance

    def _check_counts(self, counts: ArrayLike) -> Floats:
        held = np.asarray(counts, dtype=np.float64)
        if held.shape != (self.k,) or not np.all(held >= 0.0):
            raise InvalidInput(
                f"counts must be {self.k} numbers of at least 0, got shape {held.shape}. Count people by value."
            )
        return held


class Counted(VotingRandomizer):
    """A ``law`` that knows nothing of votes, as one whose reports are counted: the same reports,
    described and accounted as they were.
    """

    __slots__ = ()

    law: Any

    def __repr__(self) -> str:
        return repr(self.law)

    form = that_of("law")
    integers = that_of("law")
    epsilon0 = that_of("law")
    gamma = that_of("law")
    worst_pair = that_of("law")
    blankets = that_of("law")
    datasets = that_of("law")
    table = that_of("law")
    assumptions = that_of("law")
    gentler = that_of("law")
    sizes = that_of("law")
    describe = that_of("law")


def _total(numbers: Ints) -> int:
    """Their sum, which may need more than 64 bits in a file that nobody counted."""
    return sum(numbers.tolist())


def bits_for(count: int | float) -> int:
    """The bits that tell ``count`` things apart."""
    return max(1, math.ceil(math.log2(count)))


def chunks(count: int, words: int = 1) -> Iterator[slice]:
    """Cut ``count`` rows of ``words`` numbers into slices that fit the cache."""
    step = max(1, CHUNK // words)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """How the supports of x0, x1 and possibly x2 overlap under the base law.

    ``table[a0, a1, a2]`` is the base probability of the outputs that support x0 iff a0, x1 iff a1
    and x2 iff a2, *without* those that support every input; these have probability ``universal``.
    Without a third input the keys are pairs and ``third`` is None. ``pair`` and ``third`` name the
    kind of inputs where there are several.
    """

    table: Mapping[tuple[int, ...], float]
    universal: float = 0.0
    pair: str = ""
    third: str | None = "a third value"


def hypergeometric(k: int, size: int) -> Overlap:
    """The overlap when outputs support a uniformly random ``size``-subset of k inputs, size < k.

    >>> hypergeometric(4, 1).table[0, 0, 1]
    0.25
    """
    tested = min(k, 3)
    table = {
        pattern: math.perm(size, sum(pattern)) * math.perm(k - size, tested - sum(pattern)) / math.perm(k, tested)
        for pattern in _patterns(tested)
    }
    return Overlap(table=table, third="a third value" if k > 2 else None)


def independent(k: int, share: float) -> Overlap:
    """The overlap when outputs support each of k inputs by itself, with probability ``share``.

    >>> independent(2, 0.25).table[1, 0], independent(2, 0.25).universal
    (0.1875, 0.0625)
    """
    tested = min(k, 3)
    table = {pattern: share ** sum(pattern) * (1.0 - share) ** (tested - sum(pattern)) for pattern in _patterns(tested)}
    table[(1,) * tested] *= -math.expm1((k - tested) * math.log(share))
    return Overlap(table=table, universal=share**k, third="a third value" if k > 2 else None)


class SupportRandomizer(VotingRandomizer):
    """A randomizer given by ``epsilon0`` and ``overlaps()``; all of its laws follow.

    The classes are exact for any number of inputs: outputs whose likelihoods have one ratio to the
    hay are one class.
    """

    __slots__ = ()

    @abstractmethod
    def overlaps(self) -> tuple[Overlap, ...]:
        """One overlap per kind of (pair, third input); those of one pair are adjacent."""

    @property
    def worst_pair(self) -> tuple[object, object]:
        """Any two inputs: all pairs are alike unless a subclass says otherwise."""
        return (0, 1)

    @property
    def gamma(self) -> float:
        """The blanket is base * E / Z where all inputs are supported, else base / Z."""
        return (1.0 + math.expm1(self.epsilon0) * self.overlaps()[0].universal) / self.normaliser

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """The blanket against every kind of pair; exact, so ``end`` makes no difference."""
        pairs = {overlap.pair: overlap for overlap in self.overlaps()}
        return tuple(self._atoms(_joined("blanket", pair), overlap, None) for pair, overlap in pairs.items())

    def least_overlapping(self) -> Atoms:
        """The blanket of the least overlapping pair: it leaks most (theory, "Wrappers")."""
        least = min(
            self.overlaps(),
            key=lambda each: math.fsum(base for pattern, base in each.table.items() if pattern[0] and pattern[1]),
        )
        return self._atoms(_joined("blanket", least.pair), least, None)

    def datasets(self) -> tuple[Atoms, ...]:
        """All others hold x0, x1, or a third value, for every kind of pair; exact."""
        pairs = {overlap.pair: overlap for overlap in self.overlaps()}
        target = [
            self._atoms(_joined(f"all others hold x{i}", pair), overlap, i)
            for pair, overlap in pairs.items()
            for i in (0, 1)
        ]
        third = [
            self._atoms(_joined(f"all others hold {overlap.third}", overlap.pair), overlap, 2)
            for overlap in self.overlaps()
            if overlap.third
        ]
        return (*target, *third)

    @property
    def normaliser(self) -> float:
        """Z = 1 + (E - 1) f."""
        overlap = self.overlaps()[0]
        share = math.fsum(base for pattern, base in overlap.table.items() if pattern[0]) + overlap.universal
        return 1.0 + math.expm1(self.epsilon0) * share

    def _atoms(self, name: str, overlap: Overlap, holder: int | None) -> Atoms:
        """Hay = the law of ``holder`` (None: the blanket), by powers of E in needle / hay."""
        growth = math.exp(self.epsilon0)
        mass: defaultdict[tuple[int, int], float] = defaultdict(float)
        for pattern, base in overlap.table.items():
            favour = 0 if holder is None else pattern[holder]
            mass[pattern[0] - favour, pattern[1] - favour] += base * growth**favour
        mass[0, 0] += overlap.universal * growth
        powers = np.array(sorted((power for power in mass if mass[power] > 0.0), reverse=True), dtype=np.float64)
        hay = np.array([mass[int(a), int(b)] for a, b in powers]) / self.normaliser
        return Atoms(name, hay, hay * np.exp(self.epsilon0 * powers[:, 0]), hay * np.exp(self.epsilon0 * powers[:, 1]))


def _patterns(tested: int) -> list[tuple[int, ...]]:
    return list(np.ndindex(*(2,) * tested))


def _joined(what: str, pair: str) -> str:
    return f"{what}; {pair}" if pair else what


class MixingRandomizer(SupportRandomizer):
    """Noise with probability ``threshold`` / 2^64, else an output that supports the input."""

    __slots__ = ()

    @property
    @abstractmethod
    def share(self) -> Fraction:
        """f: the base probability that an output supports a given input."""

    @property
    def threshold(self) -> int:
        """T: the least number of words out of 2^64 that mean noise and keep epsilon0."""
        return self._integers()[0]

    @property
    def integers(self) -> tuple[int, ...]:
        return (self.threshold,)

    @property
    def noise(self) -> Fraction:
        """t = T / 2^64, the probability that a report is drawn from the base law."""
        return Fraction(self.threshold, WORD)

    @property
    def realised(self) -> Self:
        return dataclasses.replace(self, epsilon0=max(self._integers()[1], SMALLEST_EPSILON0))  # type: ignore[type-var]

    @property
    def gentler(self) -> Hashable:
        """Sending noise in place of some reports lowers epsilon0, as long as base law and supports
        stay: the same share, and all that is not epsilon0.
        """
        law = self.explicit
        names = (each.name for each in dataclasses.fields(law) if each.name != "epsilon0")  # type: ignore[arg-type]
        return (self.share, *(getattr(law, name) for name in names))

    @property
    def stray(self) -> Fraction:
        """The mean vote of a report without noise for another value than its sender's."""
        return Fraction(0)

    @property
    def hit(self) -> float:
        return float(self.noise * self.share + (1 - self.noise))

    @property
    def miss(self) -> float:
        return float(self.noise * self.share + (1 - self.noise) * self.stray)

    @property
    def contrast(self) -> float:
        """(1 - t) (1 - stray): noise votes for all values alike."""
        return float((1 - self.noise) * (1 - self.stray))

    def _integers(self) -> tuple[int, float]:
        threshold, implied = mixing_threshold(self.epsilon0, self.share)
        if threshold == WORD:
            raise InvalidInput(
                f"epsilon0 must be large enough for 64-bit coins, got {self.epsilon0!r} with k = {self.k}. Raise it."
            )
        return threshold, implied


def histogram(outputs: NDArray[Any], size: int) -> Ints:
    """How often each of 0, ..., size - 1 occurs, in parts: without a copy in 64 bits."""
    counts, step = np.zeros(size, dtype=np.int64), max(size, 1 << 17)
    for start in range(0, len(outputs), step):
        counts += np.bincount(outputs[start : start + step].astype(np.intp, copy=False), minlength=size)
    return counts
