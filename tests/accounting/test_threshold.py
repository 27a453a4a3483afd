"""Sample and threshold: against sums over all counts, for many numbers of holders."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp import Accountant, InvalidInput, SampleAndThreshold


def exactly(p: float, threshold: int, c: int, epsilon: float) -> float:
    """The larger of both orders for c holders and c + 1, from the two laws as they are published."""
    laws = [binom.pmf(np.arange(c + 2), number, p) for number in (c, c + 1)]
    few, many = (np.append(law[threshold:], law[:threshold].sum()) for law in laws)
    growth = math.exp(epsilon)
    return max(np.maximum(many - growth * few, 0.0).sum(), np.maximum(few - growth * many, 0.0).sum())


@pytest.mark.parametrize(
    ("p", "threshold", "epsilon"),
    [(0.1, 5, 0.2), (0.3, 10, 0.5), (0.5, 3, 0.05), (0.9, 2, 1.0), (0.02, 1, 0.01), (0.25, 1, 0.0), (0.99, 7, 3.0)],
)
def test_the_scan_finds_the_worst_number_of_holders(p: float, threshold: int, epsilon: float) -> None:
    worst = max(exactly(p, threshold, c, epsilon) for c in range(400))
    bound = SampleAndThreshold(p=p, threshold=threshold).delta(epsilon=epsilon)
    assert bound.lower * (1.0 - 1e-9) <= worst <= bound.upper * (1.0 + 1e-9)
    assert bound.upper - bound.lower <= 1e-6 * bound.upper


def test_what_is_deployed() -> None:
    bound = SampleAndThreshold(p=0.105, threshold=20).epsilon(delta=1e-8)
    assert 0.3180 < bound.lower <= bound.upper < 0.3181
    assert "add-or-remove" in bound.assumptions[0]


def test_values_add_up() -> None:
    counts = SampleAndThreshold(p=0.1, threshold=20)
    one, two = counts.epsilon(delta=1e-6), Accountant().add(counts, rounds=2).epsilon(delta=1e-6)
    assert one.upper < two.upper <= 2.1 * one.upper
    assert two.lower <= two.upper


@pytest.mark.parametrize(
    ("arguments", "said"), [({"p": 1.0, "threshold": 5}, "p must"), ({"p": 0.5, "threshold": 0}, "threshold must")]
)
def test_bad_input_is_refused(arguments: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        SampleAndThreshold(**arguments)  # type: ignore[arg-type]


def test_what_no_sample_meets_is_refused() -> None:
    with pytest.raises(InvalidInput, match="room for a sample"):
        SampleAndThreshold.largest_p(threshold=1, epsilon=0.1, delta=1e-12)
