"""How many answers of the engine a plan costs; and what a slower search found is found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

import shuffledp as sdp
from shuffledp import Poll
from shuffledp._types import Floats
from shuffledp.accounting.accuracy import ROUGH_GAP
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.haystack.contour import turned
from shuffledp.accounting.haystack.description import HaystackFamily
from shuffledp.accounting.haystack.triples import Kinds, kinds_of_users
from shuffledp.accounting.inversion import crossing
from shuffledp.accounting.pld import Composition
from shuffledp.accounting.shuffled import Shuffled
from shuffledp.mechanisms.one_message import strongest
from shuffledp.randomizers import CheckIn, OneOf

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
    strongest.cache_clear()
    yield asked
    strongest.cache_clear()


@pytest.fixture
def gaps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How closely haystacks were looked at, one by one."""
    asked: list[float] = []
    answer = Haystack.bounds

    def counted(self: Haystack, epsilons: Floats, gap: float = 0.0) -> Any:
        asked.append(gap)
        return answer(self, epsilons, gap)

    monkeypatch.setattr(Haystack, "bounds", counted)
    return asked


PLANS: dict[str, tuple[Callable[[], object], int]] = {
    "krr": (lambda: sdp.calibrate(sdp.KRR, k=16, n=10_000, **TARGET), 8),
    "krr-large": (lambda: sdp.calibrate(sdp.KRR, k=10_000, n=10**9, **TARGET), 8),
    "n": (lambda: sdp.calibrate(sdp.KRR(k=16, epsilon0=4.0), **TARGET), 10),
    "rounds": (lambda: sdp.calibrate(sdp.KRR(k=16, epsilon0=4.0), n=10_000, rounds=None, **TARGET), 16),
    "any": (lambda: sdp.calibrate(sdp.AnyLDP, n=10_000, **TARGET), 8),
    "subset": (lambda: sdp.calibrate(sdp.SubsetSelection, k=1000, n=10_000, **TARGET), 20),
    "100-rounds": (lambda: sdp.calibrate(sdp.KRR, k=16, n=10_000, rounds=100, **TARGET), 24),
    "poll-40": (lambda: Poll("histogram", categories=["yes", "no"], n=40, **TARGET), 14),
    "poll": (lambda: Poll("histogram", categories=range(16), n=10**6, **TARGET), 14),
    "local": (lambda: Poll("histogram", categories=range(10), n=1000, honest=1, **TARGET), 14),
    "mean-40": (lambda: Poll("mean", n=40, **TARGET), 40),
    "mean-1e9": (lambda: Poll("mean", n=10**9, **TARGET), 40),
    "plan": (lambda: sdp.plan("histogram", n=5000, categories=50, **TARGET), 72),
}


@pytest.mark.parametrize("plan, most", PLANS.values(), ids=PLANS)
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
        mean = Poll("mean", n=n, **TARGET)
        assert mean.randomizer.k - 1 == k
        assert mean.epsilon0 == pytest.approx(epsilon0, rel=2e-4)


@pytest.mark.parametrize("sigma", [0.05, 0.07])
def test_too_little_noise_for_any_number_of_users_is_refused(sigma: float) -> None:
    """The first guess was e^(1 / sigma^2), which no float holds where there is little noise."""
    with pytest.raises(sdp.InvalidInput, match=r"no n from 1 to 1e\+12 meets"):
        sdp.calibrate(sdp.Gaussian(sigma=sigma), epsilon=3.0, delta=1e-3)


def test_a_target_that_nothing_meets_is_refused() -> None:
    with pytest.raises(sdp.InvalidInput, match="no epsilon0 from 1e-06 to 50 meets epsilon = 1e-12 at delta = 1e-09"):
        sdp.calibrate(sdp.KRR, k=16, n=100, rounds=1000, epsilon=1e-12, delta=1e-9)
    with pytest.raises(sdp.InvalidInput, match="no rounds from 1 to"):
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
    gaps: list[float], survey: Shuffled, most: int
) -> None:
    """With a rough look at every dataset before each close one it was 38, and 60."""
    survey.epsilon_at_least(delta=1e-6)
    assert len(gaps) <= most
    assert sum(gap < ROUGH_GAP for gap in gaps) <= 6


def test_a_wider_gap_is_never_a_smaller_delta() -> None:
    survey: Any = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000)
    fine, rough = survey.delta_at_most(epsilon=0.3), survey.delta_at_most(epsilon=0.3, gap=1e-3)
    assert survey.delta(epsilon=0.3).lower <= fine <= rough <= 1.1 * fine


def counted_calls(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[str]:
    """A list that grows by one for every call of a method."""
    calls: list[str] = []
    method = getattr(owner, name)

    def counted(*arguments: Any, **named: Any) -> Any:
        calls.append(name)
        return method(*arguments, **named)

    monkeypatch.setattr(owner, name, staticmethod(counted) if method.__class__ is not type(counted) else counted)
    return calls


def test_kinds_of_users_are_judged_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one it took 1,100 tables for this cover."""
    calls = counted_calls(monkeypatch, Kinds, "of")
    kinds_of_users.cache_clear()
    kinds = kinds_of_users(sdp.Laplace(epsilon0=6.1), 10_000)
    assert kinds is not None
    assert kinds.one.size == 172  # the same cover as one by one
    assert len(calls) <= 200


@pytest.mark.parametrize("epsilon0, size, most", [(7.1325, 240, 55), (10.392, 240, 55), (10.432, None, 50)])
def test_covers_that_would_be_too_large_are_not_begun(
    monkeypatch: pytest.MonkeyPatch, epsilon0: float, size: int | None, most: int
) -> None:
    """With every closeness tried up to its 241st kind it took 127 to 172 tables."""
    calls = counted_calls(monkeypatch, Kinds, "of")
    kinds_of_users.cache_clear()
    kinds = kinds_of_users(sdp.Laplace(epsilon0=epsilon0), 100_000)
    assert (None if kinds is None else kinds.one.size) == size
    assert len(calls) <= most


def test_a_dataset_far_below_the_worst_is_not_asked_again(gaps: list[float]) -> None:
    """One whose rough ends are far apart was computed closely at every step, four times."""
    assert sdp.shuffle(sdp.Gaussian(sigma=0.2), n=1000).epsilon_at_least(delta=1e-6) == pytest.approx(28.6585423)
    assert sum(gap < ROUGH_GAP for gap in gaps) <= 5


def test_pairs_alike_up_to_names_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All 18 pairs of inputs compete, and there are but 3 kinds of them."""
    mixed = OneOf([sdp.KRR(k=3, epsilon0=5.0), sdp.RR(epsilon0=6.0)])
    (upper, *_) = sdp.shuffle(mixed, n=1000).reduction.uppers
    assert isinstance(upper, HaystackFamily)
    calls = counted_calls(monkeypatch, Haystack, "bounds")
    lower, high = upper.bounds(np.array([0.5]), 1e-7)
    assert len(calls) <= 4
    every = [upper.member(i, j).bounds(np.array([0.5]), 1e-7) for i, j in upper.pairs().tolist()]
    assert high[0] == pytest.approx(max(float(each[1][0]) for each in every), rel=1e-12)
    assert lower[0] == pytest.approx(max(float(each[0][0]) for each in every), rel=1e-12)


def test_rounds_too_weak_for_delta_need_no_composition(monkeypatch: pytest.MonkeyPatch) -> None:
    """The total variation of all rounds is 2e-12: epsilon is 0, and was said to be up to 73."""
    calls = counted_calls(monkeypatch, Composition, "_transform")
    rare = sdp.shuffle(CheckIn(sdp.KRR(k=7, epsilon0=45.0), probability=1e-12), n=10).compose(2)
    assert tuple(rare.epsilon(delta=1.0 - 1e-16)) == (0.0, 0.0)
    assert tuple(rare.epsilon(delta=1e-9)) == (0.0, 0.0)
    assert not calls


def test_rare_large_losses_get_a_grid_that_holds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """20 losses of 20 in a million rounds: it was 0 to 2e7, by 45 of the largest transforms."""
    calls = counted_calls(monkeypatch, Composition, "_transform")
    rounds, k = 10**6, 50_000
    survey = sdp.shuffle(sdp.SubsetSelection(k=k, epsilon0=20.0, size=k - 1), n=1).compose(rounds)
    lower, upper = survey.epsilon(delta=1e-6)
    assert len(calls) <= 12
    assert upper - lower <= 0.2

    # A set misses one value: the target's own, or its other value's, or another one.
    own = 1.0 / (1.0 + (k - 1) * math.exp(20.0))
    other = own * math.exp(20.0)
    times, back = np.arange(300.0)[:, None], np.arange(6.0)[None, :]
    log_mass = gammaln(rounds + 1.0) - gammaln(times + 1.0) - gammaln(back + 1.0)
    log_mass = log_mass - gammaln(rounds - times - back + 1.0) + times * math.log(other) + back * math.log(own)
    mass = np.exp(log_mass + (rounds - times - back) * math.log1p(-own - other))

    def exact(epsilon: float) -> float:
        return float((mass * -np.expm1(np.minimum(epsilon - 20.0 * (times - back), 0.0))).sum())

    assert exact(upper) <= 1e-6 <= exact(lower)


def test_one_tangent_is_as_accurate_as_two_sines() -> None:
    """What the contour's count of roundings rests on."""
    rng = np.random.default_rng(5)
    for most in (1e-6, 1.0, 7.0, 1e4, 1e9):
        angle = rng.uniform(-most, most, 20_000)
        fine = angle.astype(np.longdouble)
        real, imaginary = -2.0 * np.sin(0.5 * fine) ** 2, np.sin(fine)
        value = turned(angle)
        error = np.hypot(value.real - real, value.imag - imaginary) / np.hypot(real, imaginary)
        assert float(error.max()) <= 2.5 * 2.0**-52
