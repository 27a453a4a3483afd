"""The law that runs is the law that is accounted: numbers in [0, 1]."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from shuffledp import shuffle
from shuffledp.errors import InvalidInput
from shuffledp.randomizers import FromMatrix, Gaussian, Laplace, OnGrid, location
from shuffledp.sampling.draws import log_at_least

IDEALS = [
    Laplace(epsilon0=1.0),
    Laplace(epsilon0=6.0),
    Laplace(epsilon0=0.02),
    Gaussian(sigma=1.0),
    Gaussian(sigma=0.1),
    Gaussian(sigma=20.0),
]


def exact_law(law: OnGrid, i: int) -> list[Fraction]:
    """The law of the i-th grid point by moving every weight to where its report goes."""
    m, c = law.steps, law.margin
    weights = law.ideal.noise_weights(m, m + c)
    outputs = [0] * (m + 2 * c + 1)
    for j, weight in enumerate(weights):
        outputs[min(max(i + j - m - c, -c), m + c) + c] += weight
    return [Fraction(weight, sum(weights)) for weight in outputs]


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Four steps to the unit, so that every pair of inputs can be tried."""
    monkeypatch.setattr(location, "MOST_STEPS", 4)
    location._law.cache_clear()
    yield
    location._law.cache_clear()


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(
    "ideal",
    [Laplace(epsilon0=1.0), Laplace(epsilon0=6.0), Laplace(epsilon0=50.0), Gaussian(sigma=1.0), Gaussian(sigma=0.3)],
    ids=str,
)
def test_every_law_is_the_tables_to_the_last_bit(ideal: Laplace | Gaussian) -> None:
    law = ideal.realised
    exact = [exact_law(law, i) for i in range(5)]
    for i, row in enumerate(exact):
        assert sum(row) == 1
        assert law._at(i).tolist() == [float(p) for p in row]
    largest = max(max(column) / min(column) for column in zip(*exact, strict=True))
    assert law.epsilon0 == log_at_least(largest)
    assert law.gamma == float(sum(min(column) for column in zip(*exact, strict=True)))
    assert law.realised is law


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("ideal", [Laplace(epsilon0=1.0), Laplace(epsilon0=4.0), Gaussian(sigma=1.0)], ids=str)
@pytest.mark.parametrize("n", [2, 1000])
def test_no_pair_of_grid_points_leaks_more_than_the_two_ends(ideal: Laplace | Gaussian, n: int) -> None:
    """The same law as a matrix, for which the accountant tries every pair of inputs."""
    law = ideal.realised
    matrix = FromMatrix([law._at(i) for i in range(5)])
    for epsilon in (0.05, 0.3):
        ours, every = shuffle(law, n=n, adversary="weak").delta(epsilon=epsilon), shuffle(matrix, n=n, adversary="weak")
        all_pairs = every.delta(epsilon=epsilon)
        # The lower numerical end of every pair's curve: both upper ends have a little numerical
        # slack of their own.
        at_least = max(float(curve.bounds(np.array([epsilon]))[0][0]) for curve in every.reduction.uppers)
        assert all_pairs.upper * (1.0 - 1e-3) <= at_least <= ours.upper
        assert ours.upper <= all_pairs.upper * 1.01
        assert ours.lower <= all_pairs.upper


@pytest.mark.parametrize("epsilon0", [0.01, 0.3, 1.0, 2.0, 7.7, 30.0, 50.0])
def test_laplace_on_the_grid_keeps_its_pure_guarantee(epsilon0: float) -> None:
    realised = Laplace(epsilon0=epsilon0).realised
    assert epsilon0 * (1.0 - 1e-15) <= realised.epsilon0 <= epsilon0


@pytest.mark.parametrize("ideal", IDEALS, ids=str)
def test_the_grid_costs_next_to_nothing(ideal: Laplace | Gaussian) -> None:
    """On the grid and off it upper ends agree to 1 % under the blanket; atoms keep all mass."""
    law = ideal.realised
    assert law.gamma == pytest.approx(ideal.gamma, rel=1e-2)
    for end in ("upper", "lower"):
        (atoms,) = law.blankets(end)  # type: ignore[arg-type]
        assert (atoms.needle0.sum(), atoms.needle1.sum(), atoms.hay.sum()) == pytest.approx(
            (1.0, 1.0, law.gamma), rel=1e-12
        )
    epsilon = 0.02 * min(law.epsilon0, 4.0)
    for n in (1, 200):
        ours, theirs = (shuffle(each, n=n, adversary="weak").delta(epsilon=epsilon) for each in (law, ideal))
        assert ours.upper == pytest.approx(theirs.upper, rel=1e-2)
        assert ours.lower == pytest.approx(theirs.lower, rel=1e-2)


@pytest.mark.parametrize("ideal", IDEALS, ids=str)
@pytest.mark.parametrize("value", [0.0, 0.375, 1.0])
def test_ten_million_draws_have_the_tables_law(ideal: Laplace | Gaussian, value: float) -> None:
    law, generator = ideal.realised, np.random.default_rng(31)
    counts = np.zeros(law.steps + 2 * law.margin + 1)
    for _ in range(4 if value else 10):
        reports = ideal.randomize(np.full(10**6, value), rng=generator)
        counts += np.bincount(reports + law.margin, minlength=len(counts))
    low = int(value * law.steps)
    share = value * law.steps - low  # rounded up so often
    expected = counts.sum() * ((1 - share) * law._at(low) + share * law._at(min(low + 1, law.steps)))
    _, cells = np.unique(
        np.cumsum(expected) // (counts.sum() / 1000.0), return_inverse=True
    )  # at most a thousand outputs or groups of outputs
    seen, meant = np.bincount(cells, counts), np.bincount(cells, expected)
    seen, meant = (
        np.append(part[:-2], part[-2:].sum()) for part in (seen, meant)
    )  # the last group may be nearly empty
    assert stats.chisquare(seen, meant).pvalue > 1e-4


@pytest.mark.parametrize("ideal", IDEALS, ids=str)
def test_means_are_unbiased_with_the_stated_error(ideal: Laplace | Gaussian) -> None:
    generator = np.random.default_rng(3)
    values = generator.random(500) ** 2
    answers = np.array([ideal.mean(ideal.randomize(values, rng=generator)) for _ in range(400)])
    scores = (answers[:, 0] - values.mean()) / answers[:, 1]
    assert abs(scores.mean()) < 5.0 / 20.0
    assert abs((scores**2).mean() - 1.0) < 5.0 * np.sqrt(2.0 / 400)


def test_rounding_to_the_grid_keeps_the_mean_of_every_value() -> None:
    """With hardly any noise left, the average report is the value itself."""
    ideal = Laplace(epsilon0=50.0)
    for value in (0.0, 1.0 / 512.0, 0.1, 0.999, 1.0):
        mean, error = ideal.mean(ideal.randomize(np.full(200_000, value), rng=np.random.default_rng(4)))
        assert abs(mean - value) < 5.0 * error


@pytest.mark.parametrize("ideal", IDEALS, ids=str)
def test_bad_values_and_reports_are_refused(ideal: Laplace | Gaussian) -> None:
    wrongs: list[Any] = [[], [1.1], [-0.1], [float("nan")], [0.5, float("inf")], ["a"], [[0.5]], [None], [True], 0.5]
    for wrong in wrongs:
        with pytest.raises(InvalidInput, match=r"values must .* scaled to \[0, 1\]"):
            ideal.randomize(wrong)
    law = ideal.realised
    for reports in ([], [0.5], [law.steps + law.margin + 1], [-law.margin - 1], [[1]]):
        with pytest.raises(InvalidInput, match="A report counts steps"):
            ideal.mean(reports)


def test_noise_too_large_for_a_table_is_refused_to_run_and_still_accounted() -> None:
    for ideal in (Laplace(epsilon0=1e-5), Gaussian(sigma=1e6)):
        assert ideal.gamma < 1.0
        with pytest.raises(InvalidInput, match="Add less noise"):
            ideal.randomize([0.5])


def test_one_report_of_the_grid_has_the_gaussians_delta() -> None:
    ideal = Gaussian(sigma=0.7)
    for epsilon in (-1.0, 0.0, 0.5, 3.0):
        assert ideal.realised.local_delta(epsilon=epsilon) == pytest.approx(
            ideal.local_delta(epsilon=epsilon), rel=1e-2
        )
    assert ideal.realised.local_delta(epsilon=40.0) == 0.0


def test_the_description_names_the_grid() -> None:
    assert Laplace(epsilon0=1.0).realised.describe() == {"randomizer": "laplace", "epsilon0": 1.0, "grid": 1 / 256}
    assert Laplace(epsilon0=1.0).grid == 1 / 256
