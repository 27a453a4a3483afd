"""Laplace and Gaussian: the two ends bracket closed forms in high precision."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.randomizers import Atoms, Gaussian, Laplace
from shuffledp.randomizers.location import LocationRandomizer
from tests.randomizers.haystacks import ENDS, check_atoms


def exact_stop_loss(randomizer: LocationRandomizer, x: float, t: float) -> mp.mpf:
    """Integral of (mu_0 - x mu_1 - t c)_+ by the distribution: positive beyond one point."""
    if isinstance(randomizer, Gaussian):
        sigma = mp.mpf(randomizer.sigma)

        def cdf(y: mp.mpf) -> mp.mpf:
            return mp.ncdf(y / sigma)

        def where(log_ratio: mp.mpf) -> mp.mpf:
            return (1 - 2 * sigma**2 * log_ratio) / 2
    else:
        e0 = mp.mpf(randomizer.epsilon0)

        def cdf(y: mp.mpf) -> mp.mpf:
            return mp.e ** (e0 * y) / 2 if y < 0 else 1 - mp.e ** (-e0 * y) / 2

        def where(log_ratio: mp.mpf) -> mp.mpf:
            return mp.mpf("-inf") if log_ratio >= e0 else mp.mpf("inf") if log_ratio < -e0 else (1 - log_ratio / e0) / 2

    half, x, t = mp.mpf(1) / 2, mp.mpf(x), mp.mpf(t)
    # y < 1/2: c = mu_1 and the integrand is mu_0 - (x + t) mu_1
    end = min(half, where(mp.log(x + t))) if x + t > 0 else half
    total = cdf(end) - (x + t) * cdf(end - 1)
    # y > 1/2: c = mu_0 and the integrand is (1 - t) mu_0 - x mu_1
    if t < 1:
        end = max(half, where(mp.log(x / (1 - t))))
        total += (1 - t) * (cdf(end) - cdf(half)) - x * (cdf(end - 1) - cdf(half - 1))
    return total


def stop_loss(atoms: Atoms, x: float, t: float) -> float:
    return math.fsum(np.maximum(atoms.needle0 - x * atoms.needle1 - t * atoms.hay, 0.0))


LOCATIONS = [
    *(Laplace(epsilon0=e0) for e0 in (1e-6, 0.1, 1.0, 4.0, 30.0, 50.0)),
    *(Gaussian(sigma=s) for s in (0.05, 0.3, 1.0, 10.0, 100.0, 1e6)),
]


@pytest.mark.parametrize("randomizer", LOCATIONS, ids=str)
def test_location_laws_bracket_the_exact_ones(randomizer: LocationRandomizer) -> None:
    upper, lower = (randomizer.blankets(end)[0] for end in ENDS)
    for atoms in (upper, lower):
        check_atoms(atoms, randomizer.gamma)
        assert np.array_equal(atoms.needle0, atoms.needle1[::-1])
        assert np.array_equal(atoms.hay, atoms.hay[::-1])
    assert upper.hay.size < 10_000
    ratios = np.exp(
        np.linspace(-1.0, 1.0, 9)
        * min(float(randomizer.log_ratio(np.array(-3.0 * getattr(randomizer, "sigma", 1.0)))), 300.0)
    )
    for x in ratios:
        for t in (*(1.0 - ratios), *(ratios - x), 0.0, 0.5):
            with mp.workdps(60):
                exact = exact_stop_loss(randomizer, x, t)
                slack = 1e-13 * (1.0 + x + abs(t) * randomizer.gamma)
                assert stop_loss(lower, x, t) - slack <= exact <= stop_loss(upper, x, t) + slack


@pytest.mark.parametrize(
    "randomizer, closeness",
    [
        (Laplace(epsilon0=1.0), 1e-4),
        (Laplace(epsilon0=8.0), 1e-3),
        (Gaussian(sigma=0.5), 2e-3),
        (Gaussian(sigma=3.0), 2e-3),
    ],
    ids=str,
)
def test_location_brackets_are_narrow(randomizer: LocationRandomizer, closeness: float) -> None:
    upper, lower = (randomizer.blankets(end)[0] for end in ENDS)
    for x in (1.0, 1.2, 2.0):
        second = [math.fsum((a.needle0 - x * a.needle1)[a.hay > 0] ** 2 / a.hay[a.hay > 0]) for a in (lower, upper)]
        assert second[0] <= second[1] <= second[0] * (1.0 + closeness)


def test_gaussian_exposes_only_what_cannot_matter() -> None:
    (upper,) = Gaussian(sigma=1.0).blankets("upper")
    exposed = upper.hay == 0.0
    assert exposed.sum() == 2
    assert 0.0 < upper.needle0[exposed].sum() < 1e-60
    assert np.all(Gaussian(sigma=1.0).blankets("lower")[0].hay > 0.0)


@pytest.mark.parametrize("randomizer", LOCATIONS, ids=str)
def test_location_datasets(randomizer: LocationRandomizer) -> None:
    datasets = randomizer.datasets()
    assert [atoms.name for atoms in datasets] == [f"all others hold {x}" for x in ("0", "0.25", "0.5", "0.75", "1")]
    for atoms, mirror in zip(datasets, reversed(datasets), strict=True):
        check_atoms(atoms, 1.0)
        assert atoms.hay == pytest.approx(mirror.hay[::-1], rel=1e-9)
        assert atoms.needle0 == pytest.approx(mirror.needle1[::-1], rel=1e-9)
    x = 1.5
    for atoms in datasets:  # merged outputs never show more than the report itself
        assert stop_loss(atoms, x, 0.0) <= exact_stop_loss(randomizer, x, 0.0) + 1e-14


@given(sigma=st.floats(0.05, 100.0), multiple=st.floats(-5.0, 30.0))
def test_gaussian_local_delta(sigma: float, multiple: float) -> None:
    epsilon = multiple / sigma
    with mp.workdps(400):
        s, e = mp.mpf(sigma), mp.mpf(epsilon)
        exact = mp.ncdf(1 / (2 * s) - e * s) - mp.e**e * mp.ncdf(-1 / (2 * s) - e * s)
        assert Gaussian(sigma=sigma).local_delta(epsilon=epsilon) == pytest.approx(float(exact), rel=1e-11, abs=1e-300)
