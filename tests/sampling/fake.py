"""A source that says what it is told to say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shuffledp.sampling import Source


class Scripted(Source):
    """Answers each request with the next list, of the length and width asked for."""

    secure = False

    def __init__(self, *answers: tuple[str, list[int]]) -> None:
        self.answers = list(answers)

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        if count == 0:
            return np.empty(0, dtype=dtype)
        kind, values = self.answers.pop(0)
        assert np.dtype(dtype) == np.dtype(kind)
        assert len(values) == count
        return np.array(values, dtype=dtype)
