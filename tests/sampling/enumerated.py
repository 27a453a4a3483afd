"""The exact law of a program that draws words, by running it on all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shuffledp.sampling import Source

T = TypeVar("T", bound=Hashable)


class _Asked(Exception):
    def __init__(self, count: int, kind: str) -> None:
        self.count, self.kind = count, kind


class _Replay(Source):
    secure = False

    def __init__(self, script: tuple[tuple[int, ...], ...]) -> None:
        self._script = list(script)

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        if count == 0:
            return np.empty(0, dtype=dtype)
        if not self._script:
            raise _Asked(count, np.dtype(dtype).str[1:])
        return np.array(self._script.pop(0), dtype=dtype)


def laws(
    run: Callable[[Source], T], words: Mapping[str, list[int]], *, most_words: int
) -> tuple[dict[T, Fraction], Fraction]:
    """Outcomes if words of a kind are uniform on those given, and runs beyond ``most_words``."""
    law: dict[T, Fraction] = defaultdict(Fraction)
    left, open_ = Fraction(0), [((), Fraction(1), 0)]
    while open_:
        script, chance, used = open_.pop()
        try:
            law[run(_Replay(script))] += chance
        except _Asked as asked:
            if used + asked.count > most_words:
                left += chance
                continue
            each = chance / len(words[asked.kind]) ** asked.count
            open_ += [
                ((*script, answer), each, used + asked.count)
                for answer in product(words[asked.kind], repeat=asked.count)
            ]
    return dict(law), left
