from __future__ import annotations

import math

import numpy as np

from shuffledp.judge.balls import TwoValues
from shuffledp.judge.balls.arithmetic import ends, precision
from shuffledp.judge.enumeration import binary_dataset


def test_every_dataset_of_some_users() -> None:
    """Beside the sums of two binomial laws in floating point."""
    for epsilon0, n in ((0.5, 4), (1.0, 30), (3.0, 300)):
        p = 1.0 / (math.exp(epsilon0) + 1.0)
        for ones in {0, 1, n // 3, n - 1}:
            for share in (0.0, 0.2, 0.7):
                low, high = binary_dataset(p, n - 1 - ones, ones, np.array([share * epsilon0]))
                with precision(128):
                    least, most = ends(TwoValues(epsilon0, n).dataset(n - 1 - ones, ones, share * epsilon0))
                assert least <= high[0] * (1 + 1e-12)
                assert most >= low[0] * (1 - 1e-12)
                assert most - least <= 1e-12 * most


def test_no_dataset_is_above_the_scan() -> None:
    scan = TwoValues(1.0, 40)
    with precision(128):
        every = [ends(scan.dataset(39 - ones, ones, 0.4)) for ones in range(40)]
        most = ends(scan.at_most(0.4, 0.0))[1]
        least = ends(scan.at_least(0.4)[0])[0]
    assert max(high for _, high in every) <= most
    assert least == max(low for low, _ in every)
    assert most - least <= 1e-12 * most


def test_from_epsilon0_on_nothing_leaks() -> None:
    with precision(128):
        assert ends(TwoValues(1.0, 10).dataset(5, 4, 1.5)) == (0.0, 0.0)
