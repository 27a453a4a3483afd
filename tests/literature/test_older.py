"""Bounds of older papers, and our own beside them."""

import contextlib
import math
import sys
from functools import partial
from itertools import product

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import judge
from shuffledp.errors import DoesNotApply
from shuffledp.judge import krr, worst_delta
from shuffledp.literature import own_bounds
from shuffledp.literature.bound import Published, Setting
from shuffledp.literature.bounds import LITERATURE
from shuffledp.literature.composition import advanced
from shuffledp.literature.other_papers import (
    CHECKINS,
    CHEU,
    ERLINGSSON,
    ERLINGSSON_GENERAL,
    erlingsson,
    erlingsson_general,
)
from tests.literature.warner import exact_delta, is_number_or_reason

OLDER = (ERLINGSSON, ERLINGSSON_GENERAL, CHEU, CHECKINS)


@pytest.mark.parametrize(
    ("n", "epsilon0", "delta"),
    [(300, 0.2, 0.05), (1000, 0.3, 1e-3), (2000, 0.49, 1e-6), (2000, 1.5, 1e-3), (3000, 3.0, 1e-2)],
)
def test_older_bounds_are_above_exact_binary_randomized_response(n: int, epsilon0: float, delta: float) -> None:
    setting, answers = Setting(sdp.RR(epsilon0=epsilon0), n), 0
    for bound in OLDER:
        try:
            epsilon = bound.epsilon(setting, delta=delta)
        except DoesNotApply:
            continue
        answers += 1
        assert exact_delta(n, epsilon0, epsilon, ones=(0, 1, 2, n // 10, n // 3, n // 2)) <= delta, bound.name
    assert answers >= 2


@pytest.mark.parametrize(("k", "n"), [(2, 8), (3, 6), (4, 5)])
def test_the_check_in_bound_is_above_enumeration(k: int, n: int) -> None:
    for epsilon0 in (0.05, 0.3, 1.0, 2.0):
        for delta in (0.3, 0.01, 1e-6):
            epsilon = CHECKINS.epsilon(Setting(sdp.KRR(k=k, epsilon0=epsilon0), n), delta=delta)
            assert worst_delta(krr(k, epsilon0), n, [min(epsilon, 2.0 * epsilon0)])[0] <= delta


@pytest.mark.parametrize("n", [1000, 10**5, 10**8])
@pytest.mark.parametrize("epsilon0", [0.01, 0.499, 2.0, 6.0])
def test_older_bounds_are_above_our_certified_lower_end(n: int, epsilon0: float) -> None:
    for randomizer in (sdp.RR(epsilon0=epsilon0), sdp.AnyLDP(epsilon0=epsilon0)):
        for delta in (5e-3, 1e-6, 1e-30):
            lower = sdp.shuffle(randomizer, n=n).epsilon(delta=delta).lower
            for bound in OLDER:
                try:
                    stated = bound.epsilon(Setting(randomizer, n), delta=delta)
                except DoesNotApply:
                    continue
                assert stated >= lower, bound.name


def test_erlingsson_keeps_to_its_conditions() -> None:
    refused = (10_000, 0.5, 1e-6, "epsilon0 must be below 1/2"), (999, 0.1, 1e-6, "n must be at least 1000")
    for *asked, match in (*refused, (10_000, 0.1, 0.01, "delta must be below 1/100")):
        with pytest.raises(DoesNotApply, match=match):
            erlingsson(*asked)


def test_the_general_form_of_erlingsson_is_the_composition_of_its_steps() -> None:
    step = 2.0 * math.exp(0.5) * math.expm1(0.25) / 10_000
    composed, delta = advanced(step, 0.0, 10_000, 1e-6)
    assert erlingsson_general(10_000, 0.25, 1e-6) == pytest.approx(composed, rel=1e-12)
    assert composed == pytest.approx(0.0493, abs=1e-4)
    assert delta == pytest.approx(1e-6)
    assert composed < 0.5 * erlingsson(10_000, 0.25, 1e-6)
    edge = math.log(10_000 / 2) / 3
    assert erlingsson_general(10_000, edge, 1e-6) > edge
    for n, epsilon0 in ((10_000, edge * 1.001), (1, 1e-9)):
        with pytest.raises(DoesNotApply, match=r"it says nothing above epsilon0 = log\(n/2\)/3"):
            erlingsson_general(n, epsilon0, 1e-6)


def test_erlingsson_gives_the_digits_of_the_notebook_of_balle_et_al() -> None:
    assert erlingsson(5000, 0.4, 1e-6) == pytest.approx(0.2523130449483328, rel=1e-12)
    stated = ERLINGSSON.delta(Setting(sdp.RR(epsilon0=0.4), 5000), epsilon=0.15)
    assert stated == pytest.approx(0.007575677444259949, rel=1e-9)


def test_cheu_needs_two_values_and_enough_random_answers() -> None:
    with pytest.raises(DoesNotApply, match="binary"):
        CHEU.epsilon(Setting(sdp.KRR(k=3, epsilon0=1.0), 10_000), delta=1e-6)
    with pytest.raises(DoesNotApply, match="14 log"):
        CHEU.epsilon(Setting(sdp.RR(epsilon0=8.0), 10_000), delta=1e-6)


def test_reconstructed_bounds_are_not_called_proven() -> None:
    found = [bound for bound in LITERATURE if bound.rests]
    assert [bound.name for bound in found] == ["balle-2020-checkins", "girgis-2021"]
    assert all(bound.status == "unproven" and bound.rests == "reconstructed" for bound in found)


@pytest.mark.parametrize("bound", OLDER, ids=lambda bound: bound.name)
@pytest.mark.parametrize("n", [1, 2, 1000, 10**15])
def test_extreme_inputs_give_a_number_or_a_reason(bound: Published, n: int) -> None:
    for epsilon0 in (1e-12, 0.4, 50.0):
        setting = Setting(sdp.RR(epsilon0=epsilon0), n)
        for delta in (1e-250, 1e-6, 0.999):
            assert is_number_or_reason(partial(bound.epsilon, setting, delta=delta), most=sys.float_info.max)
        for epsilon in (0.0, 1e-9, 0.1, 700.0):
            assert is_number_or_reason(partial(bound.delta, setting, epsilon=epsilon), most=1.0)


EVERY = own_bounds.BOUNDS


def applying(setting: Setting, delta: float) -> dict[str, tuple[Published, float]]:
    found = {}
    for bound in EVERY:
        try:
            found[bound.name] = (bound, bound.epsilon(setting, delta=delta))
        except DoesNotApply:
            continue
    return found


@pytest.mark.parametrize(("k", "n", "epsilon0"), [(2, 7, 1.0), (3, 5, 2.0), (4, 4, 0.5)])
def test_every_bound_keeps_to_its_side_of_enumeration(k: int, n: int, epsilon0: float) -> None:
    setting = Setting(sdp.KRR(k=k, epsilon0=epsilon0), n)
    for delta in (0.1, 0.01, 1e-4):
        true = judge.worst_epsilon(judge.krr(k, epsilon0), n, delta)
        values = applying(setting, delta)
        known = {"feldman-2020-clones-exact", "balle-2019-blanket-exact", "shuffledp-strong", "local"}
        assert {*known, "shuffledp-any", "shuffledp-lower"} <= set(values)
        for bound, value in values.values():
            assert value >= true * (1.0 - 1e-9) if bound.side == "upper" else value <= true * (1.0 + 1e-9)


def test_every_bound_keeps_to_its_side_over_two_rounds() -> None:
    k, n, epsilon0 = 3, 4, 1.0
    setting, rows = Setting(sdp.KRR(k=k, epsilon0=epsilon0), n, 2), judge.krr(k, epsilon0)
    grid = np.linspace(0.1, 1.9, 5)
    for epsilon, true in zip(map(float, grid), judge.rounds_delta([rows, rows], n, grid), strict=True):
        for bound in (own_bounds.ANY_RANDOMIZER, own_bounds.BLANKET, own_bounds.STRONG, own_bounds.LOCAL):
            assert bound.delta(setting, epsilon=epsilon) >= true * (1.0 - 1e-9)
        assert own_bounds.LOWER.delta(setting, epsilon=epsilon) <= true * (1.0 + 1e-9)


@pytest.mark.parametrize("rounds", [1, 8])
def test_the_best_upper_and_lower_are_the_answers_of_the_package(rounds: int) -> None:
    anything = sdp.AnyLDP(epsilon0=2.0), sdp.AnyLDP(epsilon0=2.0, delta0=1e-14)
    for randomizer in (sdp.KRR(k=16, epsilon0=3.0), sdp.RR(epsilon0=1.0), *anything, sdp.Laplace(epsilon0=1.0)):
        setting = Setting(randomizer, 10_000, rounds)
        answer = sdp.shuffle(randomizer, n=10_000).compose(rounds).epsilon(delta=1e-6)
        values = list(applying(setting, 1e-6).values())
        best = min(value for bound, value in values if bound.side == "upper")
        if isinstance(randomizer, sdp.Laplace):  # the swap's number is in no list yet, and is smaller
            assert best > answer.upper
        else:
            assert best == pytest.approx(answer.upper, rel=1e-6)
        assert max(value for bound, value in values if bound.side == "lower") == pytest.approx(answer.lower, rel=1e-6)


def test_no_number_wins_twice() -> None:
    for randomizer in (sdp.KRR(k=16, epsilon0=3.0), sdp.RR(epsilon0=1.0), sdp.AnyLDP(epsilon0=2.0)):
        values = applying(Setting(randomizer, 10_000), 1e-6).values()
        uppers = sorted(value for bound, value in values if bound.side == "upper")
        assert uppers[1] > uppers[0] * (1.0 + 1e-3)


def test_adversaries_who_see_more_have_their_own_ends() -> None:
    randomizer = sdp.KRR(k=4, epsilon0=math.log(13.0))
    for adversary, upper in (("weak", own_bounds.BLANKET), ("strong", own_bounds.STRONG)):
        setting = Setting(randomizer, 1000, 1, adversary)
        answer = sdp.shuffle(randomizer, n=1000, adversary=adversary).epsilon(delta=1e-6)
        ends = tuple(end.epsilon(setting, delta=1e-6) for end in (own_bounds.LOWER, upper))
        assert ends == pytest.approx((answer.lower, answer.upper), rel=1e-9)
    blanket = own_bounds.BLANKET.epsilon(Setting(randomizer, 1000), delta=1e-6)
    assert blanket == pytest.approx(0.5569569, abs=1e-6)  # theory.md
    with pytest.raises(DoesNotApply, match="weak adversary"):
        own_bounds.BLANKET.epsilon(Setting(randomizer, 1000, 1, "strong"), delta=1e-6)
    with pytest.raises(DoesNotApply, match="shuffled adversary"):
        own_bounds.ANY_RANDOMIZER.epsilon(Setting(randomizer, 1000, 1, "weak"), delta=1e-6)


def test_the_clones_meet_the_golden_and_exceed_our_theorem() -> None:
    setting = Setting(sdp.AnyLDP(epsilon0=4.0), 100_000)
    assert own_bounds.CLONES.epsilon(setting, delta=1e-6) == pytest.approx(0.16977, abs=5e-6)
    assert own_bounds.ANY_RANDOMIZER.epsilon(setting, delta=1e-6) == pytest.approx(0.1182, abs=5e-5)
    assert "stronger clones" in own_bounds.ANY_RANDOMIZER.remark


@pytest.mark.parametrize("bound", EVERY, ids=lambda bound: bound.name)
def test_extreme_settings_give_a_number_or_a_reason(bound: Published) -> None:
    for (n, epsilon0), delta in product(((1, 1e-12), (2, 10.0), (10**15, 0.01)), (1e-250, 0.999)):
        known = sdp.RR(epsilon0=epsilon0), sdp.KRR(k=10**6 if n > 1 else 10, epsilon0=epsilon0)
        for randomizer in (sdp.AnyLDP(epsilon0=epsilon0), *known):
            with contextlib.suppress(DoesNotApply):
                value = bound.epsilon(Setting(randomizer, n, 1, bound.adversary), delta=delta)
                assert 0.0 <= value <= (math.inf if bound.adversary == "strong" else epsilon0)
