"""Noisy training: steps over records that are allocated to them at random.

step_pairs  the two laws of one step's output, in classes with a proven side
sum_test    a lower end where a record takes part in several steps
tail_knots  where to evaluate a curve whose large losses are rare
epoch       one epoch, as a round
allocation  ``RandomAllocation``
permuted    one pass over secretly permuted data, a Gaussian report of each person
samplers    other ways to draw batches, next to it
"""

from shuffledp.accounting.training.allocation import RandomAllocation
from shuffledp.accounting.training.epoch import Epoch
from shuffledp.accounting.training.step_pairs import FiniteStep, GaussianStep, LaplaceStep, StepPair

__all__ = ["Epoch", "FiniteStep", "GaussianStep", "LaplaceStep", "RandomAllocation", "StepPair"]
