"""Curve -> privacy loss distribution -> composition -> curve (theory, section 4).

discretise  a curve as a distribution that is provably worse, or provably better
spacing     one grid for mechanisms of different strength
compose     the law of the sum of many losses, by one tilted FFT
"""

from shuffledp.accounting.pld.compose import Composition
from shuffledp.accounting.pld.discretise import CurveBand, LossDistribution, knot_indices, optimistic, pessimistic
from shuffledp.accounting.pld.spacing import Spread, common_spacing, own_multiple

__all__ = [
    "Composition",
    "CurveBand",
    "LossDistribution",
    "Spread",
    "common_spacing",
    "knot_indices",
    "optimistic",
    "own_multiple",
    "pessimistic",
]
