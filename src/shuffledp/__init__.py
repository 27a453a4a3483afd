"""shuffledp: certified privacy guarantees in the shuffle model. Start with ``shuffle(randomizer, n=...)``."""

from shuffledp.audit import Audit, audit
from shuffledp.calibration import Calibration, calibrate
from shuffledp.comparison import Comparison, compare
from shuffledp.errors import DoesNotApply, InvalidInput, ShuffledpError
from shuffledp.mechanism import Accountant, shuffle
from shuffledp.profile import Bound
from shuffledp.protocols import (
    CentralHistogram,
    CentralMean,
    CentralSum,
    Estimate,
    Frequency,
    Histogram,
    LocalHistogram,
    LocalMean,
    Mean,
    ShuffledSGD,
    StatisticalQuery,
    Sum,
    plan,
)
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
    "Audit",
    "Bound",
    "Calibration",
    "CentralHistogram",
    "CentralMean",
    "CentralSum",
    "Comparison",
    "DoesNotApply",
    "Estimate",
    "Frequency",
    "FromMatrix",
    "Gaussian",
    "Hadamard",
    "Histogram",
    "InvalidInput",
    "Laplace",
    "LocalHash",
    "LocalHistogram",
    "LocalMean",
    "Mean",
    "ShuffledSGD",
    "ShuffledpError",
    "StatisticalQuery",
    "SubsetSelection",
    "Sum",
    "Unary",
    "__version__",
    "audit",
    "calibrate",
    "compare",
    "plan",
    "shuffle",
]
