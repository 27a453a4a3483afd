"""Curve -> privacy loss distribution -> composition -> curve (theory, section 4)."""

from shuffledp.pld.compose import Composition
from shuffledp.pld.discretise import CurveBand, LossDistribution, knot_indices, optimistic, pessimistic

__all__ = ["Composition", "CurveBand", "LossDistribution", "knot_indices", "optimistic", "pessimistic"]
