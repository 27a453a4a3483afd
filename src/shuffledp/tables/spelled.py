"""Words of a column as rows of symbols: what a search asks about, level after level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shuffledp.search.alphabet import Alphabet, LevelPlaces
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning, numpy_values
from shuffledp.tables.values import Reader, coded_texts


@dataclass(frozen=True)
class Spelled(Reader):
    """The first ``longest`` symbols of each word, and whether it goes on (``Alphabet.rows``);
    or, at one ``level`` of a search, the value that it counts as.

    >>> Spelled(Alphabet(("a", "b")), 2).prepare(pa.array(["ab", None, "c"]), "column 'x'")[
    ...     0
    ... ].tolist()
    [[1, 2, 0], [0, 0, 0]]
    """

    alphabet: Alphabet
    longest: int
    cleaning: Cleaning = AS_WRITTEN
    level: LevelPlaces | None = None

    def prepare(self, values: pa.Array, title: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None, int]:
        coded, present = coded_texts(values, title, self.cleaning), None
        if coded.null_count:
            present = numpy_values(coded.is_valid())
            coded = coded.drop_null()
        texts = self.cleaning.keys(coded.dictionary) if self.cleaning.changes_text else coded.dictionary
        rows = self._rows(texts)
        known = rows if self.level is None else self.level.places(rows)
        return known.take(numpy_values(coded.indices), axis=0), present, 0

    def admits(self, text: str) -> bool:
        return False

    def _rows(self, texts: pa.Array) -> NDArray[Any]:
        """The rows of a dictionary; an entry that means a missing value is nobody's."""
        if self.alphabet.tokens is not None:
            return self.alphabet.rows([text or "" for text in texts.to_pylist()], longest=self.longest)
        whole = pa.concat_arrays([texts.fill_null("").cast(pa.large_string())])
        _, ends, written = whole.buffers()
        letters = np.zeros(0, np.uint8) if written is None else np.frombuffer(written, np.uint8)
        return self.alphabet.rows_of_bytes(
            letters, np.frombuffer(ends, np.int64)[: len(whole) + 1], longest=self.longest
        )
