"""Uniformly random orders, exactly uniform if the words are.

Give everybody an endless string of independent, uniform digits and sort by it: by symmetry every
order is equally likely. Only as many digits as the order depends on are ever drawn. Where there are
many people the first digit parts them into groups, and the rest orders each group.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.sampling.draws import uniform
from shuffledp.sampling.source import Source

__all__ = ["permutation"]

PLACE_BITS = 16
FEW = 1 << PLACE_BITS  # people whose keys fit the second-level cache, and whose places fit the low bits of a word
DIGITS = 256


def permutation(source: Source, n: int) -> NDArray[np.intp]:
    """A uniformly random order of 0, ..., n - 1.

    >>> from shuffledp.sampling import source_of
    >>> sorted(permutation(source_of(None), 5).tolist())
    [0, 1, 2, 3, 4]
    """
    if n <= FEW:
        return _few(source, n)
    digits = uniform(source, DIGITS, n)
    order = np.argsort(digits, kind="stable")  # a radix sort, as digits are bytes
    ends = np.cumsum(np.bincount(digits, minlength=DIGITS))
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        order[start:end] = order[start:end][permutation(source, end - start)]
    return order


def _few(source: Source, n: int) -> NDArray[np.intp]:
    """Sort by 48-bit keys with the place in the 16 bits below; should two keys be equal, draw all
    of them anew.

    Keys without equals are exchangeable, so drawing until there are none leaves every order equally
    likely.
    """
    places: NDArray[Any] = np.arange(n, dtype=np.uint64)
    while n > 1:
        words = source.words(n, np.uint64)
        words >>= np.uint64(PLACE_BITS)
        words <<= np.uint64(PLACE_BITS)
        words |= places
        words.sort()
        order = (words & np.uint64(FEW - 1)).astype(np.intp)
        words >>= np.uint64(PLACE_BITS)
        if not np.any(words[1:] == words[:-1]):
            return order
    return places.astype(np.intp)
