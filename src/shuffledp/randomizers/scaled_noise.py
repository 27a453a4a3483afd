"""Location randomizers whose noise is a shrunk copy of itself plus other noise.

For every 0 < r < 1 the noise Z has the law of rZ + Z', with Z' independent of it (Z is
*self-decomposable*): for Gaussian noise Z' has the variance (1 - r^2) sigma^2, for Laplace noise Z'
is 0 with probability r^2 and a fresh copy of Z otherwise. So y -> ry + s + Z' turns reports on the
inputs a, b, v, ... into reports on ra + s, rb + s, rv + s, ...: inputs farther apart, in
proportion, are told apart more easily. The first-clone swap for a continuum of inputs rests on this
(theory, "The swap for continuous reports").
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

from shuffledp._types import Floats
from shuffledp.randomizers.location import LocationRandomizer

__all__ = ["FirstScores", "ScaledNoise"]


class FirstScores(NamedTuple):
    """Probabilities and scores, and the mass of what is seen without any hay."""

    mass: Floats
    score: Floats
    seen: float


class ScaledNoise(LocationRandomizer):
    """Noise that is symmetric, unimodal and self-decomposable; mu_v is the law of v plus noise, for
    every real v.
    """

    __slots__ = ()

    @abstractmethod
    def outputs(self, points: Floats) -> Floats:
        """Borders of cells of outputs, ascending, a row for every column of ``points``, which are
        all among them.

        Inside a cell ratios of laws of ``points`` change little, and smoothly. Beyond the last
        border on either side they are constant, if epsilon0 is finite; else next to nothing is
        there.
        """

    @abstractmethod
    def turning(self, one: Floats, two: Floats, other: Floats, growth: float) -> Floats:
        """Where (mu_one - growth mu_two) / mu_other has an extremum other than at a kink; NaN if
        nowhere. There is one place at most.
        """

    @abstractmethod
    def first_scores(self, growth: float) -> FirstScores:
        """A law above that of (mu_a - growth mu_b) / omega at a draw from omega, for all inputs a
        and b, in the increasing convex order; omega = min(mu_0, mu_1) / gamma.
        """

    @abstractmethod
    def delta_apart(self, distance: float, epsilon: float) -> float:
        """The delta of one report between two inputs at ``distance`` or less, or slightly more than
        that.
        """

    @property
    @abstractmethod
    def grain(self) -> float:
        """``mass`` of a cell of length d has a relative rounding error below 2^-44 (1 + grain /
        d).
        """
