"""Curve -> privacy loss distribution -> composition -> curve (theory, section 4)."""

from shuffledp.accounting.pld.compose import Composition
from shuffledp.accounting.pld.discretise import CurveBand, LossDistribution, knot_indices, optimistic, pessimistic
from shuffledp.accounting.pld.grid import Spread, common_spacing, own_multiple

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
