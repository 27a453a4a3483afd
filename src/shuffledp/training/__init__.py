"""Noisy training: gradient descent over shuffled data, and steps over allocated records.

calibration  ``calibrate_training``: the noise that a training needs
step_pairs   the two laws of one step's output, in classes with a proven side
sum_test     a lower end where a record takes part in several steps
allocation   ``RandomAllocation``, and one epoch of it as a round
samplers     other ways to draw batches, next to it
descent      ``ShuffledSGD``, its batches and its noise
passes       the privacy of passes over permuted data, of epochs, and of their rivals
data         an example
"""

from shuffledp.training.allocation import Epoch, RandomAllocation
from shuffledp.training.step_pairs import FiniteStep, GaussianStep, LaplaceStep, StepPair

__all__ = ["Epoch", "FiniteStep", "GaussianStep", "LaplaceStep", "RandomAllocation", "StepPair"]
