"""What everybody asks of a guarantee: one-sided questions, and what it is in words."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.training.allocation import RandomAllocation

SURVEY = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000)
VOTE = sdp.shuffle(sdp.RR(epsilon0=1.0), n=1000, honest=900)
GUARANTEES: dict[str, Callable[[], Guarantee]] = {
    "once": lambda: SURVEY,
    "rounds": lambda: SURVEY.compose(3),
    "several": lambda: both().total,
}


def both() -> sdp.Accountant:
    return sdp.Accountant().add(SURVEY, rounds=30).add(VOTE)


@pytest.mark.parametrize("name", GUARANTEES)
def test_one_sided_questions_are_the_ends_of_the_two_sided_ones(name: str) -> None:
    guarantee = GUARANTEES[name]()
    epsilon, delta = guarantee.epsilon(delta=1e-6), guarantee.delta(epsilon=0.4)
    assert guarantee.epsilon_at_most(delta=1e-6) == epsilon.upper
    assert guarantee.epsilon_at_least(delta=1e-6) == epsilon.lower
    assert guarantee.delta_at_most(epsilon=0.4) == delta.upper
    assert guarantee.delta_at_least(epsilon=0.4) == delta.lower
    # Two points are added up in another order than one.
    assert guarantee.deltas([0.4, 0.4], end="upper").tolist() == pytest.approx([delta.upper] * 2, rel=1e-12)
    assert guarantee.deltas(0.4, end="lower").tolist() == [delta.lower]


def test_many_deltas_are_asked_beyond_where_a_promise_ends_but_not_below_zero() -> None:
    assert SURVEY.deltas([0.0, 4.0, 1000.0], end="upper")[1:].tolist() == [0.0, 0.0]
    for wrong in (-1.0, np.nan):
        with pytest.raises(sdp.InvalidInput, match="epsilon must"):
            SURVEY.deltas([0.1, wrong], end="upper")


def test_parts_and_words() -> None:
    assert SURVEY.parts == ((SURVEY, 1),)
    assert both().total.parts == ((SURVEY, 30), (VOTE, 1))
    assert str(SURVEY) == "krr, k = 16, epsilon0 = 4; 10,000 people"
    assert str(both().total) == (
        "krr, k = 16, epsilon0 = 4; 10,000 people; 30 rounds + "
        "rr, k = 2, epsilon0 = 1; 1,000 people, 900 of them honest"
    )
    assert str(sdp.shuffle(sdp.RR(epsilon0=1.0), n=1, adversary="weak")).endswith("; 1 person; weak adversary")


def test_a_repr_builds_what_it_shows() -> None:
    names = {"shuffle": sdp.shuffle, "KRR": sdp.KRR, "Accountant": sdp.Accountant}
    for guarantee in (SURVEY, VOTE, SURVEY.compose(7), both().total):
        again = eval(repr(guarantee), names)
        assert isinstance(again, Guarantee)
        assert repr(again) == repr(guarantee)
    assert repr(both()) == (
        "Accountant().add(shuffle(KRR(k=16, epsilon0=4.0), n=10000), rounds=30)"
        ".add(shuffle(KRR(k=2, epsilon0=1.0), n=1000, honest=900))"
    )


def test_bounds_are_shown_rounded_outwards() -> None:
    assert repr(sdp.Bound(0.12345, 0.12345, "a theorem")) == "Bound(lower=0.1234, upper=0.1235)"
    assert repr(sdp.Bound(0.0, float("inf"))) == "Bound(lower=0.0, upper=inf)"


def test_parameters_are_given_by_name() -> None:
    assert list(inspect.signature(sdp.shuffle).parameters) == ["randomizer", "n", "adversary", "honest", "view"]
    with pytest.raises(TypeError, match="positional"):
        sdp.shuffle(sdp.RR(epsilon0=1.0), 1000)  # type: ignore[call-arg,misc]
    with pytest.raises(TypeError, match="positional"):
        SURVEY.epsilon(1e-6)  # type: ignore[call-arg,misc]
    with pytest.raises(TypeError, match="'n'"):
        sdp.shuffle(sdp.RR(epsilon0=1.0))  # type: ignore[call-arg]


def test_a_guarantee_plots_itself(tmp_path: Path) -> None:
    figure = SURVEY.plot(tmp_path / "curve.svg", delta=1e-8, title="mine")
    assert "mine" in figure.axes[0].get_title(loc="left")
    assert (tmp_path / "curve.svg").stat().st_size > 10_000
    with pytest.raises(sdp.InvalidInput, match="a figure must end in"):
        SURVEY.plot(tmp_path / "curve.gif")
    with pytest.raises(sdp.InvalidInput, match="guarantee must be made of shuffled rounds only"):
        RandomAllocation(sigma=1.0, steps=10, epochs=1).plot()
