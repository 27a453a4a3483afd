"""How many answers of the engine a plan costs; no clock is involved. And what the old, slower
search found is still found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp._types import Floats
from shuffledp.accounting.accuracy import ROUGH_GAP
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.mechanism import Shuffled
from shuffledp.accounting.meeting_delta import crossing
from shuffledp.protocols.protocol import calibrated

TARGET = {"epsilon": 1.0, "delta": 1e-6}


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Which end was asked for, once for every answer of one round."""
    asked: list[str] = []
    answer = Shuffled._end

    def counted(self: Shuffled, end: Any, *arguments: Any) -> Any:
        asked.append(end)
        return answer(self, end, *arguments)

    monkeypatch.setattr(Shuffled, "_end", counted)
    calibrated.cache_clear()
    yield asked
    calibrated.cache_clear()


@pytest.mark.parametrize(
    "plan, most",
    [
        (lambda: sdp.calibrate(sdp.KRR, k=16, n=10_000, **TARGET), 8),
        (lambda: sdp.calibrate(sdp.KRR, k=10_000, n=10**9, **TARGET), 8),
        (lambda: sdp.calibrate(sdp.KRR(k=16, epsilon0=4.0), **TARGET), 10),
        (lambda: sdp.calibrate(sdp.KRR(k=16, epsilon0=4.0), n=10_000, rounds=None, **TARGET), 16),
        (lambda: sdp.calibrate(sdp.AnyLDP, n=10_000, **TARGET), 8),
        (lambda: sdp.calibrate(sdp.SubsetSelection, k=1000, n=10_000, **TARGET), 20),
        (lambda: sdp.calibrate(sdp.KRR, k=16, n=10_000, rounds=100, **TARGET), 24),
        (lambda: sdp.Histogram(categories=["yes", "no"], n=40, **TARGET).settle(), 14),
        (lambda: sdp.Histogram(categories=range(16), n=10**6, **TARGET).settle(), 14),
        (lambda: sdp.LocalHistogram(categories=range(10), n=1000, **TARGET).settle(), 14),
        (lambda: sdp.Mean(n=40, **TARGET).settle(), 40),
        (lambda: sdp.Mean(n=10**9, **TARGET).settle(), 40),
        (lambda: sdp.plan("histogram", n=5000, domain=50, **TARGET), 72),
    ],
    ids=[
        "krr",
        "krr-large",
        "n",
        "rounds",
        "any",
        "subset",
        "100-rounds",
        "poll-40",
        "poll",
        "local",
        "mean-40",
        "mean-1e9",
        "plan",
    ],
)
def test_a_plan_costs_few_answers_and_only_upper_ends(ends: list[str], plan: Callable[[], object], most: int) -> None:
    """By halving, with both ends, it was 55 to 480."""
    plan()
    assert set(ends) == {"upper"}
    assert len(ends) <= most


BEFORE: list[tuple[Any, dict[str, Any], float]] = [  # what the search by halving found, in version 0.1.0
    (sdp.KRR, {"k": 16, "n": 10_000}, 5.534),
    (sdp.KRR, {"k": 16, "n": 10_000, "rounds": 100}, 2.2233),
    (sdp.AnyLDP, {"n": 10_000}, 5.4698),
    (sdp.RR, {"n": 10_000}, 5.6869),
    (sdp.RR, {"n": 40}, 1.1015),
    (sdp.KRR, {"k": 10, "n": 1}, 0.99997),
    (sdp.Laplace, {"n": 10_000}, 5.9397),
    (sdp.OUE, {"k": 1000, "n": 10_000}, 6.3791),
    (sdp.OLH, {"k": 1000, "n": 10_000}, 6.3796),
    (sdp.SubsetSelection, {"k": 1000, "n": 10_000}, 6.3098),
    (sdp.SubsetSelection, {"k": 10_000, "n": 100_000}, 8.9133),  # allowed again after the subset shrinks
    (sdp.Hadamard, {"k": 1000, "n": 10_000}, 6.6229),
    (sdp.KRR(k=16, epsilon0=4.0), {}, 1665),
    (sdp.KRR(k=16, epsilon0=4.0), {"rounds": 30}, 44242),
    (sdp.KRR(k=16, epsilon0=4.0), {"n": 10_000, "rounds": None}, 6),
]


@pytest.mark.parametrize("family, how, before", BEFORE, ids=lambda value: getattr(value, "__name__", str(value)))
def test_what_was_found_before_is_found_still(family: Any, how: dict[str, Any], before: float) -> None:
    found = sdp.calibrate(family, **how, **TARGET)
    if found.unknown == "n":
        assert found.value <= before * (1.0 + 1e-4)
    else:
        assert found.value >= before * (1.0 - 1e-4)
    assert found.guarantee.delta(epsilon=1.0).upper <= 1e-6
    assert found.epsilon <= found.target == 1.0


def test_the_best_grid_is_the_same() -> None:
    for n, k, epsilon0 in ((40, 2, 1.2501), (10_000, 7, 5.4988), (10**6, 33, 10.064)):
        mean = sdp.Mean(n=n, **TARGET)
        assert mean.k == k
        assert mean.epsilon0 == pytest.approx(epsilon0, rel=2e-4)


@pytest.mark.parametrize("sigma", [0.05, 0.07])
def test_too_little_noise_for_any_number_of_users_is_refused(sigma: float) -> None:
    """The first guess was e^(1 / sigma^2), which no float holds where there is little noise."""
    with pytest.raises(sdp.InvalidInput, match="n = 1000000000000 must already meet"):
        sdp.calibrate(sdp.Gaussian(sigma=sigma), epsilon=3.0, delta=1e-3)


def test_a_target_that_nothing_meets_is_refused() -> None:
    with pytest.raises(
        sdp.InvalidInput, match="no epsilon0 between 1e-06 and 50 meets epsilon = 1e-12 at delta = 1e-09"
    ):
        sdp.calibrate(sdp.KRR, k=16, n=100, rounds=1000, epsilon=1e-12, delta=1e-9)
    with pytest.raises(sdp.InvalidInput, match="rounds = 1 must already meet"):
        sdp.calibrate(sdp.KRR(k=16, epsilon0=4.0), n=100, rounds=None, epsilon=0.1, delta=1e-6)


def test_a_report_that_needs_no_crowd_may_be_as_strong_as_the_scale_goes() -> None:
    assert sdp.calibrate(sdp.KRR, k=3, n=10, epsilon=60.0, delta=1e-6).value == 50.0


def test_solving_for_epsilon_asks_no_point_twice() -> None:
    asked: list[tuple[float, float]] = []

    def band(epsilons: Floats, gap: float) -> tuple[Floats, Floats]:
        asked.extend((float(epsilon), gap) for epsilon in epsilons)
        return np.exp(-3.0 * epsilons) * (1.0 - gap), np.exp(-3.0 * epsilons) * (1.0 + gap)

    assert crossing(band, 1e-6, 5.0, end="upper") == pytest.approx(math.log(1e6) / 3.0, rel=1e-6)
    assert len(asked) == len(set(asked)) <= 12


@pytest.mark.parametrize(
    "survey, most",
    [(sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000), 24), (sdp.shuffle(sdp.Laplace(epsilon0=1.0), n=10**6), 36)],
    ids=["krr", "laplace"],
)
def test_a_lower_end_looks_closely_only_at_what_can_be_the_worst(
    monkeypatch: pytest.MonkeyPatch, survey: Shuffled, most: int
) -> None:
    """With a rough look at every dataset before each close one it was 38, and 60."""
    gaps: list[float] = []
    answer = Haystack.bounds

    def counted(self: Haystack, epsilons: Floats, gap: float = 0.0) -> Any:
        gaps.append(gap)
        return answer(self, epsilons, gap)

    monkeypatch.setattr(Haystack, "bounds", counted)
    survey.epsilon_at_least(delta=1e-6)
    assert len(gaps) <= most
    assert sum(gap < ROUGH_GAP for gap in gaps) <= 6


def test_a_wider_gap_is_never_a_smaller_delta() -> None:
    survey: Any = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000)
    fine, rough = survey.delta_at_most(epsilon=0.3), survey.delta_at_most(epsilon=0.3, gap=1e-3)
    assert survey.delta(epsilon=0.3).lower <= fine <= rough <= 1.1 * fine
