"""What an attacker makes of one report: its class, and the accounted law of the classes for the target's two inputs and a third one.

The reading is written from the documented format of the reports and the documented law, not with the code that draws them: a sampler that strays from
either is caught.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.randomizers import KRR, FromMatrix, Hadamard, LocalHash, SubsetSelection
from shuffledp.randomizers.base import Floats, Randomizer
from shuffledp.randomizers.grid import OnGrid
from shuffledp.randomizers.support import SupportRandomizer
from shuffledp.randomizers.unary import UnaryEncoding

__all__ = ["Reading", "reading_of"]

Classes = NDArray[np.intp]
FIRST, SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
MOST_COLUMNS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """``laws[i]`` is the law of the class of a report of input i; ``inputs`` are the target's two, then one for the others to hold if there is a third."""

    inputs: tuple[Any, ...]
    laws: Floats
    classify: Callable[[NDArray[Any]], Classes]


def reading_of(randomizer: Randomizer) -> Reading:
    """The reading of a randomizer that runs, its inputs the pair that is hardest to hide and a third value."""
    if isinstance(randomizer, OnGrid):
        return _on_grid(randomizer)
    if isinstance(randomizer, FromMatrix):
        table = np.asarray(randomizer.rows, dtype=np.float64)
        first, second = (int(x) for x in randomizer.worst_pair)  # type: ignore[call-overload]
        inputs = (first, second, *(x for x in range(len(table)) if x not in (first, second)))[:3]
        return Reading(inputs, table[list(inputs)], lambda reports: reports.astype(np.intp))
    if isinstance(randomizer, KRR):
        rest = 1.0 / (math.exp(randomizer.epsilon0) + randomizer.k - 1.0)
        inputs = tuple(range(min(randomizer.k, 3)))
        laws = np.full((len(inputs), randomizer.k), rest)
        laws[inputs, inputs] = rest * math.exp(randomizer.epsilon0)
        return Reading(inputs, laws, lambda reports: reports.astype(np.intp))
    if isinstance(randomizer, Hadamard):
        return _hadamard(randomizer)
    if isinstance(randomizer, UnaryEncoding | LocalHash | SubsetSelection):
        return _pattern(randomizer)
    raise InvalidInput(
        f"the audit must know how to read reports, got {type(randomizer).__name__}. Audit a protocol that uses KRR, or describe it by FromMatrix."
    )


def _hadamard(randomizer: Hadamard) -> Reading:
    size, columns = randomizer.block_size, randomizer.block_count * randomizer.block_size
    if columns > MOST_COLUMNS:
        raise InvalidInput(
            f"the matrix must have at most {MOST_COLUMNS} columns to be audited, got {columns} for k = {randomizer.k}. "
            f"Lower k, to {MOST_COLUMNS // 2 - 1} say, with the same epsilon0: the code is the same."
        )
    first, second = (int(x) for x in randomizer.worst_pair)  # type: ignore[call-overload]
    inputs = (first, second, *(x for x in reversed(range(randomizer.k)) if x not in (first, second)))[:3]
    y = np.arange(columns)
    supported = []
    for x in inputs:
        block, row = divmod(x, size - 1)
        ones = np.array([(int(column) & (row + 1)).bit_count() for column in y % size])
        supported.append((y // size == block) & (ones % 2 == 0))
    weights = np.where(np.array(supported), math.exp(randomizer.epsilon0), 1.0)
    return Reading(inputs, weights / weights.sum(axis=1, keepdims=True), lambda reports: reports.astype(np.intp))


def _pattern(randomizer: SupportRandomizer) -> Reading:
    """The class is which of the inputs in play the report supports: all that matters for telling them apart."""
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
            found = 2 * found + _votes(randomizer, reports, x)
        return found

    return Reading(inputs, weights / weights.sum(axis=1, keepdims=True), classify)


def _votes(randomizer: SupportRandomizer, reports: NDArray[Any], x: int) -> NDArray[np.bool_]:
    """Whether each report supports x."""
    if isinstance(randomizer, SubsetSelection):
        return np.asarray((reports == x).any(axis=1))
    if isinstance(randomizer, LocalHash):
        words = _mixed(reports[:, 0] ^ _mixed(np.array([x + 1], dtype=np.uint64)))
        hashed = np.array([word * randomizer.g >> 64 for word in words.tolist()], dtype=np.uint64)
        return np.asarray(hashed == reports[:, 1])
    return np.asarray(reports[:, x // 8] >> np.uint8(7 - x % 8) & 1 == 1)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The 64-bit finaliser of MurmurHash3."""
    for factor in (FIRST, SECOND):
        words = (words ^ (words >> np.uint64(33))) * factor
    return words ^ (words >> np.uint64(33))


def _on_grid(randomizer: OnGrid) -> Reading:
    """The outputs -c, ..., m + c; input i of m moves the noise, and what lies beyond is gathered at the ends."""
    m, c = randomizer.steps, randomizer.margin
    weights = randomizer.ideal.noise_weights(m, m + c)
    total = sum(weights)
    noise = np.array([weight / total for weight in weights])
    places = (0, m, m // 2) if m > 1 else (0, m)
    laws = np.stack([noise[m - i : 2 * (m + c) - i + 1] for i in places])
    for law, i in zip(laws, places, strict=True):
        law[0], law[-1] = noise[: m - i + 1].sum(), noise[2 * (m + c) - i :].sum()
    return Reading(tuple(i / m for i in places), laws, lambda reports: reports.astype(np.intp) + c)
