"""shuffledp: certified privacy guarantees in the shuffle model. Start with ``shuffle(randomizer, n=...)``."""

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # typing is not loaded for it: until the command line is there, nobody answers Ctrl-C
if TYPE_CHECKING:
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
    )
    from shuffledp.protocols.plan import plan
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

# Where each name is defined. It is loaded when it is first asked for: the command line answers --help without any of this.
HOMES = {
    "audit": ("Audit", "audit"),
    "calibration": ("Calibration", "calibrate"),
    "comparison": ("Comparison", "compare"),
    "errors": ("DoesNotApply", "InvalidInput", "ShuffledpError"),
    "mechanism": ("Accountant", "shuffle"),
    "profile": ("Bound",),
    "protocols": (
        *("CentralHistogram", "CentralMean", "CentralSum", "Estimate", "Frequency", "Histogram", "LocalHistogram", "LocalMean", "Mean"),
        *("ShuffledSGD", "StatisticalQuery", "Sum", "plan"),
    ),
    "randomizers": (
        *("BLH", "KRR", "OLH", "OUE", "RAPPOR", "RR", "AnyLDP", "FromMatrix", "Gaussian", "Hadamard", "Laplace", "LocalHash"),
        *("SubsetSelection", "Unary"),
    ),
}
HOME = {name: home for home, names in HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Importing ``shuffledp.audit``, a package, would hide the function ``audit`` behind it: of the two, the name is the function's."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
