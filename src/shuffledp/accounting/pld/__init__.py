"""Curve -> privacy loss distribution -> composition -> curve (theory, section 4).

grid         one grid for all mechanisms, and curves that are provably worse or better on it
composition  the law of the sum of many losses, by one tilted FFT
"""

from shuffledp.accounting.pld.composition import Composition
from shuffledp.accounting.pld.grid import (
    CurveBand,
    LossDistribution,
    Spread,
    chosen_knots,
    common_spacing,
    knot_indices,
    optimistic,
    own_multiple,
    pessimistic,
    pessimistic_orders,
)

__all__ = [
    "Composition",
    "CurveBand",
    "LossDistribution",
    "Spread",
    "chosen_knots",
    "common_spacing",
    "knot_indices",
    "optimistic",
    "own_multiple",
    "pessimistic",
    "pessimistic_orders",
]
