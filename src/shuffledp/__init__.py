"""shuffledp: certified privacy guarantees in the shuffle model. Start with ``shuffle(randomizer, n=...)``."""

from shuffledp.calibration import Calibration, calibrate
from shuffledp.comparison import Comparison, compare
from shuffledp.errors import DoesNotApply, InvalidInput, ShuffledpError
from shuffledp.mechanism import Accountant, shuffle
from shuffledp.profile import Bound
from shuffledp.randomizers import BLH, KRR, OLH, OUE, RAPPOR, RR, AnyLDP, FromMatrix, Gaussian, Hadamard, Laplace, LocalHash, SubsetSelection, Unary

__version__ = "0.1.0"

__all__ = [
    "BLH",
    "KRR",
    "OLH",
    "OUE",
    "RAPPOR",
    "RR",
    "Accountant",
    "AnyLDP",
    "Bound",
    "Calibration",
    "Comparison",
    "DoesNotApply",
    "FromMatrix",
    "Gaussian",
    "Hadamard",
    "InvalidInput",
    "Laplace",
    "LocalHash",
    "ShuffledpError",
    "SubsetSelection",
    "Unary",
    "__version__",
    "calibrate",
    "compare",
    "shuffle",
]
