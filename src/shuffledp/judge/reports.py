"""What reports say, and of which law: written from the documents of the families, and with none of
the code that draws reports or counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.judge.fakes import FAKED, CountedFakes
from shuffledp.judge.laws import LEVELS, CountedLaw, CountedLevels
from shuffledp.judge.rows import TREE, CountedTree
from shuffledp.judge.shares import SHARED, CountedShares

Words = NDArray[np.uint64]
READ: dict[str, type[CountedLaw]] = {
    **dict.fromkeys(SHARED, CountedShares),
    **dict.fromkeys(FAKED, CountedFakes),
    TREE: CountedTree,
    LEVELS: CountedLevels,
}
FIRST, SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)


def counted(law: Mapping[str, Any]) -> CountedLaw:
    """The law that a design says, of whichever family."""
    return READ.get(str(law.get("type")), CountedLaw).of(law)


def documented(law: Mapping[str, Any]) -> Any:
    """The same with the integers that follow from its parameters, where they do."""
    said = counted(law)
    least = said.least_integers
    return replace(said, integers=(*least, *said.integers[len(least) :]))


def supports(law: CountedLaw, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether each report supports the value beside it.

    >>> law = CountedLaw("krr", 3, (2**63,), 0, 1.4)
    >>> supports(law, np.array([0, 1, 2]), np.array([0, 2, 2])).tolist()
    [True, False, True]
    """
    if law.unary:  # one bit per value, the first value's foremost
        bits = reports[np.arange(len(reports)), values // 8] >> (7 - values % 8).astype(np.uint8)
        return np.asarray(bits & 1 == 1)
    if law.family == "subset":
        return np.asarray((reports == values[:, None]).any(axis=1))
    if law.family == "hash":  # a seed and the number of a group
        words = _mixed(reports[:, 0] ^ _mixed(values.astype(np.uint64) + np.uint64(1)))
        return np.asarray(_share_of(words, law.size) == reports[:, 1])
    if law.family == "hadamard":
        columns = law.blocks[1]
        block, row = np.divmod(values, columns - 1)
        place = reports.astype(np.intp)
        ones = place % columns & (row + 1)
        for shift in (16, 8, 4, 2, 1):
            ones ^= ones >> shift
        return np.asarray((place // columns == block) & (ones & 1 == 0))
    return np.asarray(reports == values)


def _share_of(words: Words, groups: int) -> Words:
    """floor(w groups / 2^64), by schoolbook multiplication in base 2^32."""
    high, low, factor, base = words >> np.uint64(32), words & np.uint64(0xFFFFFFFF), np.uint64(groups), np.uint64(32)
    carried = (low * factor) >> base
    return np.asarray((high * factor + carried) >> base)


def _mixed(words: Words) -> Words:
    """The 64-bit finalizer of MurmurHash3."""
    for factor in (FIRST, SECOND):
        words = (words ^ (words >> np.uint64(33))) * factor
    return words ^ (words >> np.uint64(33))
