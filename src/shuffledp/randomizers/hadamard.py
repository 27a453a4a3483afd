"""Hadamard response: report a column where the input's row of a block Hadamard matrix is likely to be +1."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product

from shuffledp.randomizers.checks import check_domain, check_epsilon0
from shuffledp.randomizers.support import Overlap, SupportRandomizer

__all__ = ["Hadamard"]

Layout = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hadamard(SupportRandomizer):
    """Hadamard response with B blocks of b columns (Acharya, Sun and Zhang 2019).

    Input x owns row 1 + x % (b - 1) of the Sylvester matrix of block x // (b - 1); its support S_x are the b/2 columns
    where that row is +1, and those are E times as likely as the other columns. Signs multiply, H[r] H[s] = H[r ^ s], so

    - two rows of one block meet in b/4 columns, and rows of different blocks never;
    - three rows of one block are independent signs (b/8 columns per pattern), unless r ^ s ^ t = 0: then the product
      of the signs is +1 and only the patterns with one or three supporters occur (b/4 columns each);
    - column 0 of a block supports all its rows, and no other column does once the block is half full. It supports *every* input
      exactly when all inputs fit into one block.

    >>> Hadamard(k=100, epsilon0=2.0).describe()
    {'randomizer': 'hadamard', 'k': 100, 'epsilon0': 2.0}
    """

    k: int
    epsilon0: float = field()

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_domain(self.k))
        object.__setattr__(self, "epsilon0", check_epsilon0(self.epsilon0))

    @property
    def block_count(self) -> int:
        """B = 2^(ceil(log2 min(E, 2k)) - 1): the blocks among which outputs are drawn; not all need hold inputs.

        >>> Hadamard(k=100, epsilon0=2.0).block_count
        4
        """
        return 1 << (min(math.ceil(self.epsilon0 / math.log(2.0)), (2 * self.k - 1).bit_length()) - 1)

    @property
    def block_size(self) -> int:
        """b = 2^ceil(log2(k / B + 1)): the columns of one block, of which b - 1 rows can serve as inputs.

        >>> Hadamard(k=100, epsilon0=2.0).block_size
        32
        """
        return 1 << (-(-self.k // self.block_count)).bit_length()

    @property
    def worst_pair(self) -> tuple[object, object]:
        """Two inputs of different blocks, whose supports are disjoint; of one block if there is no other."""
        return (0, self.block_size - 1 if self.k > self.block_size - 1 else 1)

    def overlaps(self) -> tuple[Overlap, ...]:
        """One overlap per way in which x0, x1 and x2 can share blocks, where k inputs leave room for it."""
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
        return tuple(self._overlap(pair, third, layout, tied=tied) for exists, pair, third, layout, tied in kinds if exists)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "hadamard", "k": self.k, "epsilon0": self.epsilon0}

    def _overlap(self, pair: str, third: str | None, layout: Layout, *, tied: bool) -> Overlap:
        """Count columns by pattern: ``layout`` lists which of x0, x1, x2 share a block; the other blocks support none of them.

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
        return Overlap(table={pattern: count / total for pattern, count in columns.items()}, universal=universal / total, pair=pair, third=third)
