"""Erlingsson et al. 2019, Cheu et al. 2019 and the random check-ins of Balle et al. 2020 against
exact answers and our certified ends.
"""

import math
import sys
from functools import partial

import pytest

import shuffledp as sdp
from shuffledp.errors import DoesNotApply
from shuffledp.judge import krr, worst_delta
from shuffledp.literature import checkins, cheu, erlingsson
from shuffledp.literature.bound import Published, Setting
from shuffledp.literature.bounds import LITERATURE
from shuffledp.literature.composition import advanced
from tests.literature.warner import exact_delta, is_number_or_reason

OLDER = (*erlingsson.BOUNDS, *cheu.BOUNDS, *checkins.BOUNDS)


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
            epsilon = checkins.CHECKINS.epsilon(Setting(sdp.KRR(k=k, epsilon0=epsilon0), n), delta=delta)
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
    with pytest.raises(DoesNotApply, match="epsilon0 must be below 1/2"):
        erlingsson.epsilon(10_000, 0.5, 1e-6)
    with pytest.raises(DoesNotApply, match="n must be at least 1000"):
        erlingsson.epsilon(999, 0.1, 1e-6)
    with pytest.raises(DoesNotApply, match="delta must be below 1/100"):
        erlingsson.epsilon(10_000, 0.1, 0.01)


def test_the_general_form_of_erlingsson_is_the_composition_of_its_steps() -> None:
    step = 2.0 * math.exp(0.5) * math.expm1(0.25) / 10_000
    composed, delta = advanced(step, 0.0, 10_000, 1e-6)
    assert (
        erlingsson.general(10_000, 0.25, 1e-6) == pytest.approx(composed, rel=1e-12) == pytest.approx(0.0493, abs=1e-4)
    )
    assert delta == pytest.approx(1e-6)
    assert composed < 0.5 * erlingsson.epsilon(10_000, 0.25, 1e-6)
    edge = math.log(10_000 / 2) / 3
    assert erlingsson.general(10_000, edge, 1e-6) > edge
    for n, epsilon0 in ((10_000, edge * 1.001), (1, 1e-9)):
        with pytest.raises(DoesNotApply, match=r"it says nothing above epsilon0 = log\(n/2\)/3"):
            erlingsson.general(n, epsilon0, 1e-6)


def test_erlingsson_gives_the_digits_of_the_notebook_of_balle_et_al() -> None:
    assert erlingsson.epsilon(5000, 0.4, 1e-6) == pytest.approx(0.2523130449483328, rel=1e-12)
    stated = erlingsson.ERLINGSSON.delta(Setting(sdp.RR(epsilon0=0.4), 5000), epsilon=0.15)
    assert stated == pytest.approx(0.007575677444259949, rel=1e-9)


def test_cheu_needs_two_values_and_enough_random_answers() -> None:
    with pytest.raises(DoesNotApply, match="binary"):
        cheu.CHEU.epsilon(Setting(sdp.KRR(k=3, epsilon0=1.0), 10_000), delta=1e-6)
    with pytest.raises(DoesNotApply, match="14 log"):
        cheu.CHEU.epsilon(Setting(sdp.RR(epsilon0=8.0), 10_000), delta=1e-6)


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
