"""The explicit matrix of a wrapper, from those of its parts: what the enumeration takes for true."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from shuffledp import judge
from shuffledp.randomizers import KRR, AllOf, CheckIn, FromMatrix, Hadamard, LocalHash, OneOf
from shuffledp.randomizers.unary import UnaryEncoding


def matrix_of(randomizer: Any) -> Any:
    if isinstance(randomizer, CheckIn):
        reports = randomizer.probability * matrix_of(randomizer.randomizer)
        return np.concatenate([reports, np.full((len(reports), 1), 1.0 - randomizer.probability)], axis=1)
    if isinstance(randomizer, OneOf):
        tables = [matrix_of(each) for each in randomizer.parts]
        rows = np.indices([len(each) for each in tables]).reshape(len(tables), -1)
        columns = [share * table[row] for share, table, row in zip(randomizer.shares, tables, rows, strict=True)]
        return np.concatenate(columns, axis=1)
    if isinstance(randomizer, AllOf):
        return reduce(np.kron, [matrix_of(each) for each in randomizer.parts])
    if isinstance(randomizer, KRR):
        return judge.krr(randomizer.k, randomizer.epsilon0)
    if isinstance(randomizer, Hadamard):
        return judge.hadamard(randomizer.k, randomizer.epsilon0)
    if isinstance(randomizer, LocalHash):
        return judge.local_hash(randomizer.k, randomizer.g, randomizer.epsilon0)
    if isinstance(randomizer, UnaryEncoding):
        return judge.unary(randomizer.k, randomizer.p, randomizer.q)  # type: ignore[attr-defined]
    assert isinstance(randomizer, FromMatrix)
    return randomizer.table
