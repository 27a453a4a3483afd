"""The names of types that every package needs, and what hands a name on to a part. This module
imports nothing of ours.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Complexes = NDArray[np.complex128]

End = Literal["upper", "lower"]  # which end of a certified interval
Adversary = Literal["shuffled", "weak", "strong"]  # what the analyst sees, from least to most
View = Literal["reports", "sums"]  # what the shuffler releases


def that_of(part: str) -> Any:
    """In a class: what the object's ``part`` has under the same name.

    >>> class Whole:
    ...     inner, real = 3, that_of("inner")
    >>> Whole().real
    3
    """
    return _ThatOf(part)


class _ThatOf:
    def __init__(self, part: str) -> None:
        self.part = part

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        return self if instance is None else getattr(getattr(instance, self.part), self.name)
