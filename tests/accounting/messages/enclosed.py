"""lower <= exact <= upper for curves, up to the rounding of the enumeration itself."""

from collections.abc import Sequence

import numpy as np

from shuffledp.accounting.reductions import Curve
from shuffledp.judge import hockey_stick
from tests.contracts.enclosure import COARSE
from tests.oracle.views import View

ROUNDING = 1e-11


def below_exact(lowers: Sequence[Curve], exact: float, epsilon: float) -> None:
    """No lower end exceeds what some dataset gives away."""
    for curve in lowers:
        assert curve.bounds(np.array([epsilon]), COARSE)[0][0] <= exact * (1.0 + ROUNDING) + 1e-15


def above_exact(uppers: Sequence[Curve], exact: float, epsilon: float) -> None:
    """The largest upper end covers what every dataset gives away."""
    upper = max(curve.bounds(np.array([epsilon]), COARSE)[1][0] for curve in uppers)
    assert exact <= upper * (1.0 + ROUNDING) + 1e-15


def both_orders(one: View, two: View, epsilon: float) -> tuple[float, float]:
    """delta of a pair, and of the pair in the other order."""
    return hockey_stick(dict(one), dict(two), epsilon), hockey_stick(dict(two), dict(one), epsilon)
