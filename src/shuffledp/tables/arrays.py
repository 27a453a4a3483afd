"""Arrow's arrays, made and read without pandas, which Arrow's own functions import if they can."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

__all__ = ["arrow_mask", "arrow_texts", "numpy_values"]


def arrow_mask(mask: ArrayLike) -> pa.Array:
    """Truth values as Arrow has them."""
    bits = np.packbits(np.asarray(mask, dtype=bool), bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), np.size(mask), [None, pa.py_buffer(bits)])


def arrow_texts(texts: Iterable[str | None]) -> pa.Array:
    """Texts as Arrow has them; None for a missing one."""
    held = [None if text is None else text.encode() for text in texts]
    present, written = arrow_mask([each is not None for each in held]), [each or b"" for each in held]
    ends = pa.py_buffer(np.cumsum([0, *map(len, written)], dtype=np.int32))
    return pa.StringArray.from_buffers(len(held), ends, pa.py_buffer(b"".join(written)), present.buffers()[1])


def numpy_values(values: pa.Array, missing: float = 0) -> NDArray[Any]:
    """Numbers or truth values as NumPy has them, with ``missing`` where there is none."""
    if pa.types.is_boolean(values.type):
        return numpy_values(values.cast(pa.uint8()), missing).view(bool)
    full = pa.Array.from_buffers(values.type, len(values), [None, values.buffers()[1]], offset=values.offset)
    numbers = np.from_dlpack(full)
    return np.where(numpy_values(values.is_null()), missing, numbers) if values.null_count else numbers
