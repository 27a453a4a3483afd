"""What the package proves, under the interface of the published bounds: it must agree with the
package's own answers and enclose enumeration.
"""

import contextlib
import math
from itertools import product

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import judge
from shuffledp.errors import DoesNotApply
from shuffledp.literature import own_bounds
from shuffledp.literature.bound import Published, Setting

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
        assert {
            "shuffledp-any",
            "feldman-2020-clones-exact",
            "balle-2019-blanket-exact",
            "shuffledp-strong",
            "local",
            "shuffledp-lower",
        } <= set(values)
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
    for randomizer in (
        sdp.KRR(k=16, epsilon0=3.0),
        sdp.RR(epsilon0=1.0),
        sdp.AnyLDP(epsilon0=2.0),
        sdp.AnyLDP(epsilon0=2.0, delta0=1e-14),
        sdp.Laplace(epsilon0=1.0),
    ):
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
        uppers = sorted(
            value for bound, value in applying(Setting(randomizer, 10_000), 1e-6).values() if bound.side == "upper"
        )
        assert uppers[1] > uppers[0] * (1.0 + 1e-3)


def test_adversaries_who_see_more_have_their_own_ends() -> None:
    randomizer = sdp.KRR(k=4, epsilon0=math.log(13.0))
    for adversary, upper in (("weak", own_bounds.BLANKET), ("strong", own_bounds.STRONG)):
        setting = Setting(randomizer, 1000, 1, adversary)
        answer = sdp.shuffle(randomizer, n=1000, adversary=adversary).epsilon(delta=1e-6)
        assert (own_bounds.LOWER.epsilon(setting, delta=1e-6), upper.epsilon(setting, delta=1e-6)) == pytest.approx(
            (answer.lower, answer.upper), rel=1e-9
        )
    assert own_bounds.BLANKET.epsilon(Setting(randomizer, 1000), delta=1e-6) == pytest.approx(
        0.5569569, abs=1e-6
    )  # theory.md
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
        for randomizer in (
            sdp.AnyLDP(epsilon0=epsilon0),
            sdp.RR(epsilon0=epsilon0),
            sdp.KRR(k=10**6 if n > 1 else 10, epsilon0=epsilon0),
        ):
            with contextlib.suppress(DoesNotApply):
                value = bound.epsilon(Setting(randomizer, n, 1, bound.adversary), delta=delta)
                assert 0.0 <= value <= (math.inf if bound.adversary == "strong" else epsilon0)
