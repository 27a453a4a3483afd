"""Curve -> privacy loss distribution -> composition -> curve (theory, section 4)."""

from shuffledp.pld.compose import Composition
from shuffledp.pld.discretise import CurveBand, LossDistribution, knot_indices, optimistic, pessimistic
from shuffledp.pld.grid import Spread, common_spacing, own_multiple

__all__ = ["Composition", "CurveBand", "LossDistribution", "Spread", "common_spacing", "knot_indices", "optimistic", "own_multiple", "pessimistic"]
