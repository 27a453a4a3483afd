"""Hadamard response: a column where the input's row of a block matrix is likely +1."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import Floats
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.parameters import check_domain, check_epsilon0, check_indices, checked
from shuffledp.randomizers.support import Form, Ints, MixingRandomizer, Overlap, bits_for, histogram
from shuffledp.sampling import WORD, Source, bernoulli, smallest_dtype, uniform

Layout = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hadamard(MixingRandomizer):
    """Hadamard response with B blocks of b columns (Acharya, Sun and Zhang 2019).

    Input x owns row 1 + x % (b - 1) of the Sylvester matrix of block x // (b - 1); its support S_x
    are the b/2 columns where that row is +1, and those are E times as likely as the other columns.
    Signs multiply, H[r] H[s] = H[r ^ s], so

    - two rows of one block meet in b/4 columns, and rows of different blocks never;
    - three rows of one block are independent signs (b/8 columns per pattern), unless r ^ s ^ t = 0:
      then the product of the signs is +1 and only the patterns with one or three supporters occur
      (b/4 columns each);
    - column 0 of a block supports all its rows, and no other column does once the block is half
      full. It supports *every* input exactly when all inputs fit into one block.

    A report votes +1 for the inputs of its block whose rows are +1 there, and -1 for the block's
    other inputs, so another input's report votes 0 on average, whatever its block (their estimator:
    the frequency of S_x less half that of the block).

    >>> Hadamard(k=100, epsilon0=2.0).describe()
    {'randomizer': 'hadamard', 'k': 100, 'epsilon0': 2.0}
    """

    k: int = field(metadata=checked(check_domain))
    epsilon0: float = field(metadata=checked(check_epsilon0))

    @property
    def block_count(self) -> int:
        """B = 2^(ceil(log2 min(E, 2k)) - 1): the blocks of outputs; not all need hold inputs.

        >>> Hadamard(k=100, epsilon0=2.0).block_count
        4
        """
        return 1 << (min(math.ceil(self.epsilon0 / math.log(2.0)), (2 * self.k - 1).bit_length()) - 1)

    @property
    def block_size(self) -> int:
        """b = 2^ceil(log2(k / B + 1)): the columns of a block; b - 1 of its rows can be inputs.

        >>> Hadamard(k=100, epsilon0=2.0).block_size
        32
        """
        return 1 << (-(-self.k // self.block_count)).bit_length()

    @property
    def worst_pair(self) -> tuple[object, object]:
        """Two inputs of different blocks, with disjoint supports; else of one block."""
        return (0, self.block_size - 1 if self.k > self.block_size - 1 else 1)

    def overlaps(self) -> tuple[Overlap, ...]:
        """One overlap per way in which x0, x1 and x2 can share blocks among k inputs."""
        rows, blocks = min(self.k, self.block_size - 1), -(-self.k // (self.block_size - 1))
        one, two = "x0 and x1 of one block", "x0 and x1 of different blocks"
        kinds: list[tuple[bool, str, str | None, Layout, bool]] = [
            (rows >= 3, one, "a third value of their block, the product of their rows", ((0, 1, 2),), True),
            (rows >= 4, one, "a third value of their block", ((0, 1, 2),), False),
            (rows >= 2 and blocks >= 2, one, "a third value of another block", ((0, 1), (2,)), False),
            (rows == 2 and blocks == 1, one, None, ((0, 1),), False),
            (rows >= 2 and blocks >= 2, two, "a third value of the block of x0", ((0, 2), (1,)), False),
            (rows >= 2 and blocks >= 2, two, "a third value of the block of x1", ((0,), (1, 2)), False),
            (blocks >= 3, two, "a third value of a third block", ((0,), (1,), (2,)), False),
            (rows == 1 and blocks == 2, two, None, ((0,), (1,)), False),
        ]
        return tuple(
            self._overlap(pair, third, layout, tied=tied) for exists, pair, third, layout, tied in kinds if exists
        )

    @property
    def share(self) -> Fraction:
        return Fraction(1, 2 * self.block_count)

    @property
    def hit(self) -> float:
        """1 - t: noise votes for and against equally often."""
        return float(1 - self.noise)

    @property
    def miss(self) -> float:
        return 0.0

    def count_variance(self, counts: ArrayLike) -> Floats:
        held, noise = self._check_counts(counts), float(self.noise)
        block = self.block_of
        near, far = noise / self.block_count + self.hit, noise / self.block_count  # how often a report votes at all
        neighbours = np.bincount(block, weights=held)[block]
        variance: Floats = (neighbours * near - held * self.hit**2 + (held.sum() - neighbours) * far) / self.hit**2
        return variance

    @property
    def form(self) -> Form:
        return Form(smallest_dtype(self._columns), outputs=self._columns)

    @property
    def bits(self) -> int:
        return bits_for(self._columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """epsilon0 chooses the blocks, and so their size."""
        return (self.k, self.block_size)

    @property
    def blocks(self) -> int:
        return self.block_count

    @property
    def block_of(self) -> Ints:
        return np.arange(self.k) // (self.block_size - 1)

    def block_counts(self, reports: NDArray[Any]) -> Ints:
        return np.bincount(reports.astype(np.intp) // self.block_size, minlength=self.block_count)

    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        return check_indices(
            "reports", reports, self._columns, remedy="A report of Hadamard response is a column of the matrix."
        )

    @property
    def _columns(self) -> int:
        return self.block_count * self.block_size

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        """A uniform column; without noise it is moved to the input's block and, if the row is -1
        there, to its partner with the row's lowest bit flipped.
        """
        kind = smallest_dtype(self._columns)
        own = values.astype(kind, copy=False)
        block, row = np.divmod(own, kind.type(self.block_size - 1))
        # It is block * b; b itself is one too many for ``kind`` if a single block has 2^8, 2^16 or
        # 2^32 columns.
        first = own - row + block
        row += kind.type(1)
        reports = uniform(source, self._columns, len(values))
        column = reports & kind.type(self.block_size - 1)
        column ^= (row & np.negative(row)) * _parity(row & column)
        column += first
        np.copyto(reports, column, where=~bernoulli(source, self.threshold, len(values)))
        return reports

    def _tally(self, reports: NDArray[Any]) -> Ints:
        sums = histogram(reports, self._columns).reshape(self.block_count, self.block_size)
        return _walsh_hadamard(sums)[:, 1:].ravel()[: self.k]

    def adds_up(self, tally: Ints, reports: int) -> bool:
        """Also whether each column was sent 0 times or more, in blocks full of values."""
        b, whole = self.block_size, self.k // (self.block_size - 1)
        if not MixingRandomizer.adds_up(self, tally, reports):  # super() does not work in a class with slots
            return False
        if b * reports >= WORD // 2:
            return True  # too many to be transformed
        first = 1 + self.block_count
        signs = tally[first : first + whole * (b - 1)].reshape(whole, b - 1)
        sent = _walsh_hadamard(np.concatenate([tally[1 : 1 + whole, None], signs], axis=1))  # b times as often
        return bool(np.all(sent >= 0) and np.all(sent % b == 0))

    def describe(self) -> dict[str, object]:
        return {"randomizer": "hadamard", "k": self.k, "epsilon0": self.epsilon0}

    def _overlap(self, pair: str, third: str | None, layout: Layout, *, tied: bool) -> Overlap:
        """Count columns by pattern: ``layout`` lists which of x0, x1, x2 share a block; the other
        blocks support none of them.

        ``tied``: the rows multiply to +1, so an odd number of the three inputs is supported.
        """
        tested, b, total = 2 if third is None else 3, self.block_size, self.block_count * self.block_size
        columns = dict.fromkeys(product((0, 1), repeat=tested), 0)
        columns[(0,) * tested] = total - len(layout) * b
        for members in layout:
            signs = [sign for sign in product((0, 1), repeat=len(members)) if not tied or sum(sign) % 2]
            for sign in signs:
                supported = dict(zip(members, sign, strict=True))
                columns[tuple(supported.get(i, 0) for i in range(tested))] += b // len(signs)
        universal = int(self.k < b)
        columns[(1,) * tested] -= universal
        return Overlap(
            table={pattern: count / total for pattern, count in columns.items()},
            universal=universal / total,
            pair=pair,
            third=third,
        )


register(Family(make=Hadamard, law="hadamard", parameters=("k", "epsilon0")))


def _parity(words: NDArray[Any]) -> NDArray[Any]:
    """The number of ones in each word, modulo 2."""
    shift = 4 * words.dtype.itemsize
    while shift:
        words = words ^ (words >> words.dtype.type(shift))
        shift //= 2
    ones: NDArray[Any] = words & words.dtype.type(1)
    return ones


def _walsh_hadamard(rows: Ints) -> Ints:
    """Each row times the Sylvester matrix, in b log b steps."""
    height, size = rows.shape
    half = 1
    while half < size:
        pairs = rows.reshape(height, size // (2 * half), 2, half)
        rows = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(
            height, size
        )
        half *= 2
    return rows
