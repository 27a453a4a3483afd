"""Fakes that users send: against all that a handful of people may send, and the least noise that is
known.
"""

import math

import numpy as np
import pytest

from shuffledp import InvalidInput
from shuffledp.accounting.messages.fakes import fake_users, uniform_fakes, uniform_fakes_and_reports
from shuffledp.judge import hockey_stick
from tests.accounting.messages.enclosed import above_exact, below_exact, both_orders
from tests.contracts.enclosure import COARSE
from tests.oracle.views import fakes_view

ONE = np.array([1.0])


def coins(slots: int, chance: float) -> list[float]:
    """The law of the number of a person's fakes."""
    return [math.comb(slots, j) * chance**j * (1.0 - chance) ** (slots - j) for j in range(slots + 1)]


def test_true_reports_among_fakes_by_all_that_people_may_send() -> None:
    rng = np.random.default_rng(15)
    for _ in range(30):
        k, slots, honest = int(rng.integers(2, 4)), int(rng.integers(1, 3)), int(rng.integers(1, 4))
        chance, epsilon = float(rng.uniform(0.05, 1.0)), float(rng.uniform(0.0, 2.0))
        others = rng.integers(0, k, size=int(rng.integers(0, 2)) + honest - 1).tolist()
        views = [fakes_view([target, *others], k, coins(slots, chance), honest=honest) for target in (0, 1)]
        curve = uniform_fakes(k, slots * honest, chance)
        for exact in both_orders(*views, epsilon):
            below_exact([curve], exact, epsilon)
            above_exact([curve], exact, epsilon)


def test_randomized_reports_among_fakes_by_all_that_people_may_send() -> None:
    rng = np.random.default_rng(16)
    for _ in range(12):
        k, honest = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        chance, epsilon0 = float(rng.uniform(0.05, 1.0)), float(rng.uniform(0.3, 4.0))
        truth, epsilon = 1.0 / (1.0 + (k - 1) * math.exp(-epsilon0)), float(rng.uniform(0.0, 0.9)) * epsilon0
        upper, lowers = uniform_fakes_and_reports(k, epsilon0, honest - 1, honest, chance)
        worst = 0.0
        for held in range(k):
            values = [held] * (honest - 1)
            views = [fakes_view([target, *values], k, coins(1, chance), truth) for target in (0, 1)]
            worst = max(worst, *both_orders(*views, epsilon))
        above_exact([upper], worst, epsilon)
        below_exact(lowers, worst, epsilon)


def test_more_fakes_than_reports_leave_both_ends_close() -> None:
    upper, lowers = uniform_fakes_and_reports(16, 6.0, 9_999, 10_000, 0.05)
    (low,) = np.max([lower.bounds(np.array([0.35]))[0] for lower in lowers], axis=0)
    (high,) = upper.bounds(np.array([0.35]))[1]
    assert 0.0 < low <= high < 1.001 * low
    assert high < uniform_fakes(16, 10_000, 0.05).bounds(np.array([0.35]))[0][0]


@pytest.mark.parametrize(
    ("buckets", "fakes", "chance"), [(2, 1, 1.0), (2, 3, 1.0), (16, 10**4, 0.0685), (16, 4 * 10**12, 1.7e-10)]
)
def test_counting_and_integrating_agree(
    buckets: int, fakes: int, chance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    epsilons = np.array([0.0, 0.3, 1.0, 2.0])
    counted = uniform_fakes(buckets, fakes, chance)
    monkeypatch.setattr("shuffledp.accounting.messages.fakes.FEW", -1.0)
    integrated = uniform_fakes(buckets, fakes, chance)
    assert type(counted) is not type(integrated)
    for one, two in ((counted, integrated), (integrated, counted)):
        assert np.all(one.bounds(epsilons, COARSE)[0] <= two.bounds(epsilons, COARSE)[1])


def test_uniform_fakes_by_all_counts() -> None:
    buckets, fakes, chance, epsilon = 4, 6, 0.5, 0.4
    share = chance / buckets
    laws: list[dict[tuple[int, int], float]] = [{}, {}]
    for a in range(fakes + 1):
        for b in range(fakes + 1 - a):
            ways = math.factorial(fakes) / (math.factorial(a) * math.factorial(b) * math.factorial(fakes - a - b))
            mass = ways * share ** (a + b) * (1.0 - 2.0 * share) ** (fakes - a - b)
            laws[0][a + 1, b] = laws[1][a, b + 1] = mass
    exact = hockey_stick(laws[0], laws[1], epsilon)
    below_exact([uniform_fakes(buckets, fakes, chance)], exact, epsilon)
    above_exact([uniform_fakes(buckets, fakes, chance)], exact, epsilon)


def test_fake_users_need_little_noise() -> None:
    (lower,), (upper,) = fake_users(10_000, 0.00428).bounds(ONE)
    assert lower <= upper < 1e-6
    assert math.sqrt(2.0 * 10_000 * 0.00428 * (1.0 - 0.00428)) == pytest.approx(9.23, abs=0.01)


def test_bad_input_is_refused() -> None:
    for build in (lambda: fake_users(10, 0.7), lambda: uniform_fakes(1, 10, 0.5)):
        with pytest.raises(InvalidInput):
            build()
