"""Gaussian noise that runs as integers: what a report adds is exactly a rounded Gaussian, up to a
counted 1e-24.

Floating-point Gaussians betray what they hide by their last bits (Mironov 2012). Here vectors lie
on a grid of sigma / 256 and the noise is a whole number of grid steps, drawn from a table. Its law
is that of a real Gaussian rounded to the grid, so privacy is at least the Gaussian mechanism's:
rounding happens after the noise. What the table leaves out is ``FLAW``.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from shuffledp._types import Floats
from shuffledp.sampling import Source, Table
from shuffledp.sampling.noise_tables import rounded_gaussian

__all__ = ["FLAW", "STEPS", "grid_noise", "weights"]

STEPS = 256  # to one standard deviation
REACH = 2663  # the table ends at 10.4 deviations
FLAW = 1e-24  # bounds the total variation distance of one coordinate from a rounded Gaussian; it is 2.4e-25


def grid_noise(source: Source, size: int) -> Floats:
    """``size`` independent draws of a Gaussian with deviation 256, rounded to whole numbers."""
    drawn = _table().draw(source, size)
    return (drawn - REACH).astype(np.float64)


def weights() -> list[int]:
    """The law of the noise: -REACH, ..., REACH have these probabilities times 2^128."""
    return rounded_gaussian(STEPS, REACH, 128)


@cache
def _table() -> Table:
    return Table(weights())
