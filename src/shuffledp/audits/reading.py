"""What an attacker makes of one report: its class, and the accounted law of the classes for the
target's two inputs and a third one.

The reading is written from the documented format of the reports and the documented law, not with
the code that draws them: a sampler that strays from either is caught. So the families of this
package are read here, by code of its own; one from elsewhere is read by its table, or by its form
and what it favours, or registers here in turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.randomizers import KRR, Hadamard, LocalHash, SubsetSelection
from shuffledp.randomizers.location import OnGrid
from shuffledp.randomizers.randomizer import Floats, Randomizer
from shuffledp.randomizers.support import Form, SupportRandomizer
from shuffledp.randomizers.unary import UnaryEncoding
from shuffledp.randomizers.wrappers import OneLevel

__all__ = [
    "Classes",
    "Misread",
    "Reading",
    "form_of",
    "grid_law",
    "krr_laws",
    "level_laws",
    "listed_laws",
    "reading_of",
    "votes_for",
]

Classes = NDArray[np.intp]
FIRST, SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
MOST_COLUMNS = 1 << 16
MOST_VALUES = 1 << 22  # as many categories as protocols estimate


class Misread(Exception):
    """What came is not what is documented; the message says what it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
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
            raise Misread(
                f"a report must be {self.width or 1} of {self.dtype}, got {reports.dtype} of shape {reports.shape[1:]}"
            )
        if count is not None and len(reports) != count:
            raise Misread(f"there must be one report per user, {count} in all, got {len(reports)}")
        return reports

    def read(self, reports: NDArray[Any], count: int | None = None) -> Classes:
        """The classes of reports that have the documented form."""
        classes = self.classify(self.checked(reports, count))
        if len(classes) and (classes.min() < 0 or classes.max() >= self.laws.shape[1]):
            raise Misread(f"reports must be among the {self.laws.shape[1]} classes of the account, got another")
        return classes


@singledispatch
def reading_of(randomizer: Randomizer) -> Reading:
    """The reading of a randomizer that runs, its inputs the pair that is hardest to hide and a
    third value.
    """
    table = randomizer.table
    if table is None:
        raise InvalidInput(
            f"the audit must know how to read reports, got {type(randomizer).__name__}. Audit a protocol that uses "
            f"KRR, or describe it by FromMatrix."
        )
    inputs = _hardest(randomizer, range(len(table)))
    return Reading(inputs, table[list(inputs)], _as_they_are, np.min_scalar_type(table.shape[1] - 1))


def _hardest(randomizer: Randomizer, values: Iterable[int]) -> tuple[int, ...]:
    """The two values of the target, and the first other one of ``values``."""
    first, second = (int(x) for x in randomizer.worst_pair)  # type: ignore[call-overload]
    return (first, second, *(x for x in values if x not in (first, second)))[:3]


@reading_of.register
def _krr(randomizer: KRR) -> Reading:
    if randomizer.k > MOST_VALUES:
        raise InvalidInput(
            f"k must be at most {MOST_VALUES:,} to be audited, got {randomizer.k:,}. Lower k: the code is the same."
        )
    laws = krr_laws(randomizer, min(randomizer.k, 3))
    return Reading(tuple(range(len(laws))), laws, _as_they_are, np.min_scalar_type(randomizer.k - 1))


@reading_of.register
def _support(randomizer: SupportRandomizer) -> Reading:
    """Column by column if a report is a single number, and else by whom it supports."""
    dtype, width, outputs = form_of(randomizer)
    if outputs is None:
        return _pattern(randomizer, dtype, width)
    if outputs > MOST_COLUMNS:
        raise InvalidInput(
            f"there must be at most {MOST_COLUMNS} reports to choose from to be audited, got {outputs} for k = "
            f"{randomizer.k}. Lower k: the code is the same."
        )
    inputs = _hardest(randomizer, range(randomizer.k))
    return Reading(inputs, listed_laws(randomizer, inputs, outputs), _as_they_are, dtype)


@reading_of.register
def _hadamard(randomizer: Hadamard) -> Reading:
    columns = randomizer.block_count * randomizer.block_size
    if columns > MOST_COLUMNS:
        raise InvalidInput(
            f"the matrix must have at most {MOST_COLUMNS} columns to be audited, got {columns} for k = {randomizer.k}. "
            f"Lower k, to {MOST_COLUMNS // 2 - 1} say, with the same epsilon0: the code is the same."
        )
    inputs = _hardest(randomizer, reversed(range(randomizer.k)))
    return Reading(inputs, listed_laws(randomizer, inputs, columns), _as_they_are, np.min_scalar_type(columns - 1))


def krr_laws(randomizer: KRR, inputs: int) -> Floats:
    """The laws of the first few inputs."""
    rest = 1.0 / (math.exp(randomizer.epsilon0) + randomizer.k - 1.0)
    laws = np.full((inputs, randomizer.k), rest)
    laws[np.arange(inputs), np.arange(inputs)] = rest * math.exp(randomizer.epsilon0)
    return laws


@reading_of.register
def _one_level(randomizer: OneLevel) -> Reading:
    inputs, laws = (0, randomizer.k - 1, randomizer.k // 2), level_laws(randomizer)
    return Reading(inputs, laws[list(inputs)], _as_they_are, np.min_scalar_type(laws.shape[1] - 1))


def level_laws(randomizer: OneLevel) -> Floats:
    """The law of the node that is reported, counted through all levels, for every bin."""
    bins, parts = np.arange(randomizer.k), []
    for level in randomizer.levels:
        whole = krr_laws(level, level.k)
        parts.append(whole[bins * level.k // randomizer.k] / len(randomizer.levels))
    return np.concatenate(parts, axis=1)


def listed_laws(randomizer: SupportRandomizer, inputs: Sequence[int], outputs: int) -> Floats:
    """The laws of some inputs, output by output, all of which are equally likely as noise."""
    columns = np.arange(outputs)
    supported = np.array([votes_for(randomizer, columns, np.full(len(columns), x)) for x in inputs])
    weights = np.where(supported, math.exp(randomizer.epsilon0), 1.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _as_they_are(reports: NDArray[Any]) -> Classes:
    return reports.astype(np.intp)


def _pattern(randomizer: SupportRandomizer, dtype: np.dtype[Any], width: int | None) -> Reading:
    """The class is which of the inputs in play the report supports: all that matters for telling
    them apart.
    """
    overlap, *others = randomizer.overlaps()
    assert not others
    inputs = tuple(range(min(randomizer.k, 3)))
    base = np.zeros((2,) * len(inputs))
    for pattern, mass in overlap.table.items():
        base[pattern] = mass
    base[(1,) * len(inputs)] += overlap.universal
    places = np.arange(base.size)
    favours = np.stack([places >> (len(inputs) - 1 - i) & 1 for i in range(len(inputs))])
    weights = base.ravel() * np.where(favours == 1, math.exp(randomizer.epsilon0), 1.0)

    def classify(reports: NDArray[Any]) -> Classes:
        found = np.zeros(len(reports), dtype=np.intp)
        for x in inputs:
            found = 2 * found + votes_for(randomizer, reports, np.full(len(reports), x))
        return found

    return Reading(inputs, weights / weights.sum(axis=1, keepdims=True), classify, dtype, width)


def form_of(randomizer: SupportRandomizer) -> Form:
    """What one report must be: as documented, or as a family from elsewhere says."""
    k = randomizer.k
    if isinstance(randomizer, KRR):
        return Form(np.min_scalar_type(k - 1), outputs=k)
    if isinstance(randomizer, Hadamard):
        columns = randomizer.block_count * randomizer.block_size
        return Form(np.min_scalar_type(columns - 1), outputs=columns)
    if isinstance(randomizer, SubsetSelection):
        return Form(np.min_scalar_type(k - 1), randomizer.w)
    if isinstance(randomizer, LocalHash):
        return Form(np.dtype(np.uint64), 2)
    if isinstance(randomizer, UnaryEncoding):
        return Form(np.dtype(np.uint8), -(-k // 8))
    return randomizer.form


@singledispatch
def votes_for(randomizer: SupportRandomizer, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether each report supports the value beside it."""
    return randomizer.favours(reports, values)


@votes_for.register
def _(randomizer: KRR, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
    return np.asarray(reports == values)


@votes_for.register
def _(randomizer: Hadamard, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
    block, row = np.divmod(values, randomizer.block_size - 1)
    columns = reports.astype(np.intp)
    ones = columns % randomizer.block_size & (row + 1)
    for shift in (16, 8, 4, 2, 1):
        ones ^= ones >> shift
    return np.asarray((columns // randomizer.block_size == block) & (ones & 1 == 0))


@votes_for.register
def _(randomizer: SubsetSelection, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
    return np.asarray((reports == values[:, None]).any(axis=1))


@votes_for.register
def _(randomizer: LocalHash, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
    words = _mixed(reports[:, 0] ^ _mixed(values.astype(np.uint64) + np.uint64(1)))
    return np.asarray(_share_of(words, randomizer.g) == reports[:, 1])


@votes_for.register
def _(randomizer: UnaryEncoding, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
    bits = reports[np.arange(len(reports)), values // 8] >> (7 - values % 8).astype(np.uint8)
    return np.asarray(bits & 1 == 1)


def _share_of(words: NDArray[np.uint64], g: int) -> NDArray[np.uint64]:
    """floor(w g / 2^64), by schoolbook multiplication in base 2^32."""
    high, low, factor, base = words >> np.uint64(32), words & np.uint64(0xFFFFFFFF), np.uint64(g), np.uint64(32)
    carried = (low * factor) >> base
    return np.asarray((high * factor + carried) >> base)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The 64-bit finaliser of MurmurHash3."""
    for factor in (FIRST, SECOND):
        words = (words ^ (words >> np.uint64(33))) * factor
    return words ^ (words >> np.uint64(33))


@reading_of.register
def _on_grid(randomizer: OnGrid) -> Reading:
    """The outputs -c, ..., m + c; input i of m moves the noise, and what lies beyond is gathered at
    the ends.
    """
    m, c = randomizer.steps, randomizer.margin
    places = (0, m, m // 2) if m > 1 else (0, m)
    laws = grid_law(randomizer, places)
    return Reading(tuple(i / m for i in places), laws, lambda reports: reports.astype(np.intp) + c, np.dtype(np.int64))


def grid_law(randomizer: OnGrid, places: Sequence[int]) -> Floats:
    """The laws of the grid points with these numbers."""
    m, c = randomizer.steps, randomizer.margin
    weights = randomizer.ideal.noise_weights(m, m + c)
    total = sum(weights)
    noise = np.array([weight / total for weight in weights])
    laws = np.stack([noise[m - i : 2 * (m + c) - i + 1] for i in places])
    for law, i in zip(laws, places, strict=True):
        law[0], law[-1] = noise[: m - i + 1].sum(), noise[2 * (m + c) - i :].sum()
    return laws
