"""Curve -> privacy loss distribution -> composition -> curve (theory, section 4).

discretise  a curve as a distribution that is provably worse, or provably better
spacing     one grid for mechanisms of different strength
compose     the law of the sum of many losses, by one tilted FFT
"""

from shuffledp.accounting.pld.compose import Composition
from shuffledp.accounting.pld.discretise import (
    CurveBand,
    LossDistribution,
    chosen_knots,
    knot_indices,
    optimistic,
    pessimistic,
    pessimistic_orders,
)
from shuffledp.accounting.pld.spacing import Spread, common_spacing, own_multiple

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
