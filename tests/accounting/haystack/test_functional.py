"""The functional itself: random haystacks enclosed, the shape of its curves, extremes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp._types import Floats
from shuffledp.accounting.haystack import Haystack
from shuffledp.judge import enumeration
from shuffledp.randomizers import Atoms, Randomizer
from shuffledp.testing import assert_between

E0 = st.one_of(st.floats(-6.0, math.log10(30.0)).map(lambda power: 10.0**power), st.sampled_from([1e-6, 15.0, 30.0]))


def random_atoms(seed: int, style: str) -> Atoms:
    """Two to four classes; the needles may be anything, the hay is made awkward."""
    rng = np.random.default_rng(seed)
    k, spread = int(rng.integers(2, 5)), 10.0 ** rng.uniform(-1.5, 1.0)
    needles = rng.dirichlet(np.full(k, spread), size=2)
    hay, gamma = rng.dirichlet(np.full(k, spread)), rng.uniform()
    if style == "everybody":
        gamma = 1.0
    elif style == "hardly any hay":
        gamma = 10.0 ** rng.uniform(-12.0, -2.0)
    elif style == "hardly anybody absent":
        gamma = 1.0 - 10.0 ** rng.uniform(-16.0, -3.0)
    elif style == "exposed":
        hay[rng.integers(k)] = 0.0
    elif style == "impossible":
        needles[0, rng.integers(k)] = 0.0
    elif style == "huge ratios":
        hay, gamma = 10.0 ** rng.uniform(-14.0, 0.0, k), rng.choice([1.0, gamma])
    hay = hay / max(hay.sum(), 1e-300) * gamma
    needles[:, 0] += needles.sum(axis=1) == 0.0
    return Atoms(style, hay / max(hay.sum(), 1.0), *(needles / needles.sum(axis=1, keepdims=True)))


def exact_curve(atoms: Atoms, n: int, epsilons: Floats) -> Floats:
    return np.array(
        [enumeration.haystack_delta(atoms.hay, atoms.needle0, atoms.needle1, n, epsilon) for epsilon in epsilons]
    )


STYLES = ["plain", "everybody", "hardly any hay", "hardly anybody absent", "exposed", "impossible", "huge ratios"]


@settings(max_examples=300)
@given(
    seed=st.integers(0, 2**32 - 1),
    style=st.sampled_from(STYLES),
    n=st.integers(1, 9),
    gap=st.sampled_from([1e-2, 1e-3, 2e-4, 1e-5]),
    epsilons=st.lists(
        st.one_of(st.floats(0.0, 12.0), st.floats(-6.0, 0.0).map(lambda power: 10.0**power)), min_size=1, max_size=8
    ),
)
def test_random_haystacks_are_enclosed(seed: int, style: str, n: int, gap: float, epsilons: list[float]) -> None:
    atoms, points = random_atoms(seed, style), np.array([0.0, *epsilons])
    haystack = Haystack.of(atoms, n)
    lower, upper = haystack.bounds(points, gap)
    assert_between(lower, exact_curve(atoms, n, points), upper, (seed, style, n, gap))
    lower, upper = haystack.swapped().bounds(points, gap)
    assert_between(lower, exact_curve(atoms.swapped(), n, points), upper, (seed, style, n, gap, "swapped"))


@pytest.mark.parametrize("seed", range(12))
def test_tame_haystacks_are_enclosed_closely(seed: int) -> None:
    """At the default gap, for ratios up to a few thousand."""
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 5)), int(rng.integers(1, 9))
    hay = rng.uniform(1e-3, 1.0, k)
    atoms = Atoms("tame", hay / hay.sum() * rng.uniform(0.05, 1.0), *rng.dirichlet(np.ones(k), size=2))
    points = np.array([0.0, rng.uniform(0.0, 0.3), rng.uniform(0.3, 1.5)])
    lower, upper = Haystack.of(atoms, n).bounds(points)
    exact = exact_curve(atoms, n, points)
    assert_between(lower, exact, upper)
    seen = exact > 1e-12
    assert seen[0]
    assert np.all((upper - lower)[seen] < 1e-3 * exact[seen])


def test_a_haystack_without_hay_is_one_report() -> None:
    atoms = Atoms("no hay", np.zeros(3), np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.3, 0.5]))
    for n in (1, 7, 10**6):
        lower, upper = Haystack.of(atoms, n).bounds(np.array([0.0, 0.3, 2.0]))
        exact = [
            sum(max(p - math.exp(e) * q, 0.0) for p, q in ((0.5, 0.2), (0.5, 0.3), (0.0, 0.5))) for e in (0.0, 0.3, 2.0)
        ]
        assert_between(lower, exact, upper)
        assert upper == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("k, e0, n", [(2, 1.0, 5), (3, 2.0, 4), (4, 0.3, 6)])
def test_delta_at_zero_is_the_total_variation(k: int, e0: float, n: int) -> None:
    rows = enumeration.krr(k, e0)
    distance = max(
        0.5 * np.abs(P - Q).sum() for laws in enumeration.neighbouring_laws(rows, n) for P in laws for Q in laws
    )
    bound = sdp.shuffle(sdp.KRR(k=k, epsilon0=e0), n=n).delta(epsilon=0.0)
    assert bound.lower <= distance * (1.0 + 1e-12)
    assert distance * (1.0 - 1e-12) <= bound.upper


PURE: list[Randomizer] = [
    sdp.RR(epsilon0=1.0),
    sdp.KRR(k=5, epsilon0=2.0),
    sdp.OUE(k=5, epsilon0=1.0),
    sdp.Hadamard(k=9, epsilon0=3.0),
    sdp.SubsetSelection(k=9, epsilon0=1.0),
    sdp.BLH(k=9, epsilon0=1.0),
    sdp.Laplace(epsilon0=1.0),
    sdp.AnyLDP(epsilon0=4.0),
]
SHAPED: list[Randomizer] = [
    *PURE,
    sdp.Gaussian(sigma=1.5),
    sdp.AnyLDP(epsilon0=1.0, delta0=1e-7),
    sdp.FromMatrix([[0.5, 0.5, 0.0], [0.4, 0.3, 0.3]]),
]


@pytest.mark.parametrize("randomizer", PURE, ids=str)
def test_delta_at_epsilon0_is_nothing(randomizer: Randomizer) -> None:
    for n in (1, 2, 1000, 10**8):
        mechanism = sdp.shuffle(randomizer, n=n)
        for epsilon in (randomizer.epsilon0, 2.0 * randomizer.epsilon0):
            assert tuple(mechanism.delta(epsilon=epsilon)) == (0.0, 0.0)


@pytest.mark.parametrize("n", [30, 10**5])
@pytest.mark.parametrize("randomizer", SHAPED, ids=str)
def test_profiles_fall_and_are_convex_as_returned(randomizer: Randomizer, n: int) -> None:
    """Slopes in x = e^epsilon rise, up to the rounding of one unit in delta and x."""
    reach = min(randomizer.epsilon0, 6.0)
    points = np.unique(
        np.concatenate([np.linspace(0.0, 1.1 * reach, 9), reach * np.array([1e-6, 0.01, 0.013, 0.999, 1.0])])
    )
    mechanism = sdp.shuffle(randomizer, n=n)
    band = mechanism.profile(points)
    x = np.exp(points)
    for values in (band.lower, band.upper):
        assert np.all(np.isfinite(values) & (values >= 0.0) & (values <= 1.0))
        assert np.all(np.diff(values) <= 0.0)
        chord = values[:-2] + (values[2:] - values[:-2]) * (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
        assert np.all(values[1:-1] <= chord * (1.0 + 1e-12) + 1e-15 * values[0])
    assert np.all(band.lower <= band.upper)


@pytest.mark.parametrize(
    "randomizer", [sdp.RR(epsilon0=1.0), sdp.KRR(k=5, epsilon0=2.0), sdp.Laplace(epsilon0=1.0)], ids=str
)
def test_profiles_agree_with_single_answers(randomizer: Randomizer) -> None:
    mechanism = sdp.shuffle(randomizer, n=2000)
    points = np.array([0.3, 0.0, 0.05, 0.2, 0.2])
    band = mechanism.profile(points)
    assert np.array_equal(band.at, points)
    for epsilon, lower, upper in zip(points, band.lower, band.upper, strict=True):
        bound = mechanism.delta(epsilon=float(epsilon))
        assert (lower, upper) == pytest.approx((bound.lower, bound.upper), rel=1e-5, abs=0.0)


@pytest.mark.parametrize(
    "randomizer",
    [
        sdp.KRR(k=5, epsilon0=2.0),
        sdp.OUE(k=9, epsilon0=1.0),
        sdp.Hadamard(k=9, epsilon0=3.0),
        sdp.BLH(k=9, epsilon0=1.0),
    ],
    ids=str,
)
def test_small_deltas_keep_their_relative_accuracy(randomizer: Randomizer) -> None:
    for n in (10**4, 10**7):
        for atoms in (*randomizer.blankets("upper"), *randomizer.datasets()):
            haystack = Haystack.of(atoms, n)
            typical = math.sqrt(2.0 * math.pi) * float(haystack.bounds(np.zeros(1), 1e-3)[1][0])
            lower, upper = haystack.bounds(typical * np.array([2.0, 5.0, 9.0, 13.0]))
            assert upper[-1] < 1e-25
            assert np.all((upper - lower)[upper > 1e-60] <= 1e-3 * lower[upper > 1e-60])


@pytest.mark.parametrize("e0", [1e-6, 1e-3, 1.0, 15.0, 30.0])
@pytest.mark.parametrize("k", [2, 3, 10**6])
def test_one_and_two_users_at_the_extremes(k: int, e0: float) -> None:
    """One report of k-RR has a closed form; with a second person both ends are enumerated."""
    points = e0 * np.array([0.0, 0.1, 0.5, 0.9, 0.999])
    exact = np.exp(points) * np.expm1(e0 - points) / (math.exp(e0) + k - 1.0)
    randomizer = sdp.KRR(k=k, epsilon0=e0)
    one, two = ([sdp.shuffle(randomizer, n=n)._end(end, points, 1e-4) for end in ("lower", "upper")] for n in (1, 2))
    assert_between(one[0], exact, one[1])
    assert one[1] == pytest.approx(exact, rel=1e-9)
    assert np.all(two[1] <= one[1] * (1.0 + 1e-9))
    attained = np.max([exact_curve(atoms, 2, points) for atoms in randomizer.datasets()], axis=0)
    assert_between(two[0], np.maximum(attained, two[0] if k == 2 else 0.0), two[1])
    assert np.all(two[0] <= exact_curve(randomizer.blankets("upper")[0], 2, points) * (1.0 + 1e-12) + 1e-15)


@settings(max_examples=60)
@given(
    randomizer=st.one_of(
        E0.map(lambda e0: sdp.RR(epsilon0=e0)),
        st.tuples(st.sampled_from([3, 16, 10**6]), E0).map(lambda p: sdp.KRR(k=p[0], epsilon0=p[1])),
        st.tuples(st.sampled_from([3, 16, 10**6]), E0).map(lambda p: sdp.OUE(k=p[0], epsilon0=p[1])),
        E0.map(lambda e0: sdp.AnyLDP(epsilon0=e0)),
        E0.map(lambda e0: sdp.Laplace(epsilon0=e0)),
        st.floats(0.05, 100.0).map(lambda sigma: sdp.Gaussian(sigma=sigma)),
    ),
    n=st.one_of(st.integers(1, 3), st.sampled_from([10, 10**3, 10**6, 10**9, 10**12])),
    share=st.floats(0.0, 1.0),
)
def test_no_parameters_give_nan_or_a_crossed_interval(randomizer: Randomizer, n: int, share: float) -> None:
    points = np.sort(
        [0.0, share * min(randomizer.epsilon0, 20.0), share / math.sqrt(n) * min(randomizer.epsilon0, 5.0)]
    )
    mechanism = sdp.shuffle(randomizer, n=n)
    lower, upper = (mechanism._end(end, points, 1e-3) for end in ("lower", "upper"))
    assert np.all((lower >= 0.0) & (lower <= upper) & (upper <= 1.0))
    assert upper[0] > 0.0


@pytest.mark.parametrize("delta", [1e-50, 1e-9, 0.5])
@pytest.mark.parametrize(
    "randomizer", [sdp.RR(epsilon0=1.0), sdp.KRR(k=5, epsilon0=2.0), sdp.AnyLDP(epsilon0=1.0)], ids=str
)
def test_every_delta_has_an_epsilon(randomizer: Randomizer, delta: float) -> None:
    bound = sdp.shuffle(randomizer, n=1000).epsilon(delta=delta)
    assert 0.0 <= bound.lower <= bound.upper <= randomizer.epsilon0
    assert (bound.upper == 0.0) == (delta == 0.5)
