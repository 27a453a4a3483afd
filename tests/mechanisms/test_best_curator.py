"""The best curator known here: its errors are those of laws that were added up one by one, and keep the
promise exactly.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.accounting.calibration import loss_of_each
from shuffledp.mechanisms.baselines import (
    best_curator,
    counts_by_curator,
    cuts_by_curator,
    number_by_curator,
    staircase,
)
from shuffledp.questions.count.question import CountQuestion
from shuffledp.questions.histogram.question import HistogramQuestion
from shuffledp.questions.mean.question import MeanQuestion
from shuffledp.questions.quantile.question import QuantileQuestion
from shuffledp.questions.sum.question import SumQuestion

PROMISE = {"epsilon": 1.0, "delta": 1e-6}


def test_discrete_laplace_noise_is_what_a_curator_adds() -> None:
    """For a histogram 2.80 on every count, and less once they add up; for a count 1.36."""
    for k, error in ((3, 2.2855), (6, 2.5553), (16, 2.7103)):
        found = counts_by_curator(k, **PROMISE)
        assert (found.name, found.error) == (
            "discrete Laplace noise, counts made to add up",
            pytest.approx(error, abs=5e-5),
        )
    for question in (HistogramQuestion(categories=("yes", "no")), CountQuestion(value="yes", other="no")):
        found = best_curator(question, n=1000, **PROMISE)
        assert (found.name, round(found.error, 2)) == ("discrete Laplace noise on one count", 1.36)
    mean, total = (best_curator(kind(lower=0.0, upper=4.0), n=1000, **PROMISE) for kind in (MeanQuestion, SumQuestion))
    assert mean.name == total.name == "staircase noise"
    assert total.error == pytest.approx(1000 * mean.error)
    assert total.error == pytest.approx(4 * 1.385, abs=1e-3)
    cuts = best_curator(QuantileQuestion(cuts=tuple(map(float, range(13))), at=(0.5,)), n=1000, **PROMISE)
    assert (cuts.name, round(cuts.error, 2)) == ("discrete Laplace noise on all bins", 4.85)


@pytest.mark.parametrize("moved", [1, 2, 3, 6])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.3, 1e-2), (4.0, 1e-9)])
def test_discrete_laplace_noise_keeps_the_promise_and_no_less_of_it_does(
    moved: int, epsilon: float, delta: float
) -> None:
    """Both laws of every count, on a line of integers, multiplied out."""

    def exact(a: float) -> float:
        places = np.arange(-int(60 / a) - 1, int(60 / a) + 2)
        law = np.exp(-a * np.abs(places)) * math.tanh(a / 2.0)
        up = float(law[places <= 0].sum())  # where noise around 0 is e^a times as likely as around 1
        both = [(up, up * math.exp(-a)), (1.0 - up, (1.0 - up) * math.exp(a))]
        laws = [tuple(map(math.prod, zip(*each, strict=True))) for each in itertools.product(both, repeat=moved)]
        return sum(max(there - math.exp(epsilon) * back, 0.0) for there, back in laws)

    a = loss_of_each(moved, epsilon, delta)
    assert exact(a) <= delta * (1.0 + 1e-7)
    assert exact(a * (1.0 + 1e-4)) > delta
    places = np.arange(-3000, 3001)
    law = np.exp(-a * np.abs(places)) * math.tanh(a / 2.0)
    if moved == 2:
        less_mean = np.eye(5) - 1.0 / 5.0  # noise of five counts, less its mean
        error = math.sqrt((less_mean @ less_mean.T)[0, 0] * (law @ places**2.0))
        assert counts_by_curator(5, epsilon=epsilon, delta=delta).error <= error * (1 + 1e-9)


def test_the_least_noise_is_chosen_by_name() -> None:
    """Over many rounds, or at a large delta, Gaussian noise errs less."""
    for k, rounds, delta in itertools.product((2, 3, 50), (1, 2, 5, 12, 100), (1e-9, 1e-3)):
        terms = {"epsilon": 1.0, "delta": delta, "rounds": rounds}
        moved = (1 if k == 2 else 2) * rounds
        a = loss_of_each(moved, 1.0, delta)
        errors = {
            "discrete": math.sqrt(2.0 * math.exp(-a)) / (1.0 - math.exp(-a)),
            "Gaussian": gaussian.sigma(epsilon=1.0, delta=delta, sensitivity=math.sqrt(moved)),
        }
        found = counts_by_curator(k, **terms)
        left = 1.0 if k == 2 else math.sqrt((k - 1) / k)
        assert found.error == pytest.approx(left * min(errors.values()), rel=1e-12)
        assert found.name.endswith("on one count" if k == 2 else "noise, counts made to add up")
        assert found.name.split()[0] == min(errors, key=lambda name: errors[name])
    assert number_by_curator(1.0, epsilon=1.0, delta=1e-6, rounds=100).name == "Gaussian noise"
    assert cuts_by_curator(1000, **PROMISE).name == "Gaussian noise on square-root sums"
    assert cuts_by_curator(100, **PROMISE).name == "discrete Laplace noise on a tree of 2 levels"
    assert cuts_by_curator(2, **PROMISE).error == counts_by_curator(2, **PROMISE).error


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_staircase_noise_is_the_best_of_its_densities(epsilon: float) -> None:
    """Integrated piece by piece: steps of width 1, each e^-epsilon as high, with an edge."""
    steps, b = np.arange(int(60 / epsilon) + 2.0), math.exp(-epsilon)

    def variance(edge: float) -> float:
        mass = second = 0.0
        for first, last, height in ((steps, steps + edge, b**steps), (steps + edge, steps + 1.0, b ** (steps + 1.0))):
            mass += float(height @ (last - first))
            second += float(height @ (last**3 - first**3)) / 3.0
        return second / mass

    best = minimize_scalar(variance, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12})
    assert staircase(epsilon) == pytest.approx(math.sqrt(best.fun), rel=1e-9)
    assert staircase(epsilon) < math.sqrt(2.0) / epsilon
