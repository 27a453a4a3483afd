"""What the tests of this package ask of any haystack."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest

from shuffledp.randomizers import Atoms, End, Floats

ENDS: tuple[End, ...] = ("upper", "lower")


def signature(hay: Floats, needle0: Floats, needle1: Floats) -> bytes:
    """The multiset of classes, merged when proportional: equal for two descriptions of one
    haystack.

    Numbers are scaled before they are rounded, because many are dyadic and would sit on a tie.
    """
    masses = np.stack([hay, needle0, needle1], axis=1)
    masses = masses[masses.any(axis=1)]
    classes, label = np.unique(
        np.round(masses / masses.sum(axis=1, keepdims=True) * math.sqrt(0.9), 8), axis=0, return_inverse=True
    )
    merged = np.zeros_like(classes)
    np.add.at(merged, label.ravel(), masses)
    return np.round(merged * math.sqrt(0.9), 9).tobytes()


def signatures(atoms: Iterable[Atoms]) -> set[bytes]:
    return {signature(a.hay, a.needle0, a.needle1) for a in atoms}


def check_atoms(atoms: Atoms, gamma: float) -> None:
    for column in (atoms.hay, atoms.needle0, atoms.needle1):
        assert np.all(np.isfinite(column))
        assert np.all(column >= 0.0)
    assert math.fsum(atoms.needle0) == pytest.approx(1.0, rel=2e-14)
    assert math.fsum(atoms.needle1) == pytest.approx(1.0, rel=2e-14)
    assert math.fsum(atoms.hay) == pytest.approx(gamma, rel=2e-14)
    assert np.all((atoms.hay > 0.0) | (atoms.needle0 > 0.0) | (atoms.needle1 > 0.0))
