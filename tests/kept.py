"""The values of curves are kept between tests: the same few surveys are certified over and over,
by every command that releases one.

Only for the packages that use what the accounting says. Its own tests, which also change its insides,
compute everything.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.haystack.bits import BinaryScan
from shuffledp.accounting.haystack.clone_swap import SwapFamily
from shuffledp.accounting.haystack.location_swap import LocationSwap
from shuffledp.training.allocation import StepHaystack

__all__ = ["KeptCurves"]

SLOW = (Haystack, BinaryScan, LocationSwap, SwapFamily, StepHaystack)
PACKAGES = tuple(
    f"tests/{package}/"
    for package in (
        "audits",
        "cli",
        "client",
        "docs",
        "engines",
        "faults",
        "ledger",
        "mechanisms",
        "page",
        "papers",
        "protocols",
        "record",
        "release",
        "search",
        "series",
        "survey",
        "tables",
        "training",
        "verify",
    )
)


class KeptCurves:
    """What the slow curves said to the tests of ``PACKAGES``."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._values: dict[bytes, tuple[Floats, Floats]] = {}
        self._asked = False
        for curve in SLOW:
            patch.setattr(curve, "bounds", self._kept(curve.bounds))

    def begin(self, test: str) -> None:
        """For the test of this id, and for the fixtures that it is the first to need."""
        self._asked = test.startswith(PACKAGES)

    def _kept(self, bounds: Callable[..., tuple[Floats, Floats]]) -> Callable[..., tuple[Floats, Floats]]:
        def kept(curve: Any, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
            if not self._asked:
                return bounds(curve, epsilons, gap)
            key = sha256(pickle.dumps((bounds.__qualname__, curve, np.asarray(epsilons), gap))).digest()
            if key not in self._values:
                self._values[key] = bounds(curve, epsilons, gap)
            lower, upper = self._values[key]
            return lower.copy(), upper.copy()

        return kept
