"""The names of types that every package needs. This module imports nothing of ours."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Adversary", "Complexes", "End", "Floats", "Integers", "Task", "View"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Complexes = NDArray[np.complex128]

End = Literal["upper", "lower"]  # which end of a certified interval
Adversary = Literal["shuffled", "weak", "strong"]  # what the analyst sees, from least to most
# what a collection is asked for
Task = Literal["histogram", "mean", "sum", "count", "crosstab", "quantile"]
View = Literal["reports", "sums"]  # what the shuffler releases
