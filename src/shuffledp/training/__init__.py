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

from shuffledp._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from shuffledp.training.allocation import Epoch as Epoch
    from shuffledp.training.allocation import RandomAllocation as RandomAllocation
    from shuffledp.training.calibration import calibrate_training as calibrate_training
    from shuffledp.training.descent import BallsAndBins as BallsAndBins
    from shuffledp.training.descent import ShuffledSGD as ShuffledSGD
    from shuffledp.training.step_pairs import FiniteStep as FiniteStep
    from shuffledp.training.step_pairs import GaussianStep as GaussianStep
    from shuffledp.training.step_pairs import LaplaceStep as LaplaceStep
    from shuffledp.training.step_pairs import StepPair as StepPair

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "training.allocation": "Epoch RandomAllocation",
        "training.calibration": "calibrate_training",
        "training.descent": "BallsAndBins ShuffledSGD",
        "training.step_pairs": "FiniteStep GaussianStep LaplaceStep StepPair",
    },
)
