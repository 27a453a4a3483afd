"""A poll is whole: its noise is chosen once, and it says in one line what it is, without the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms import one_message
from shuffledp.mechanisms.results import Tally
from shuffledp.poll import certify, poll_of

PROMISE = {"n": 400, "epsilon": 1.0, "delta": 1e-6}
BUILDERS: dict[str, Callable[[], Poll]] = {
    "histogram": lambda: Poll("histogram", categories=["a", "b"], **PROMISE),
    "hadamard": lambda: Poll("histogram", categories=5, mechanism="subset", **PROMISE),
    "mean": lambda: Poll("mean", k=2, **PROMISE),
    "best grid": lambda: Poll("sum", **PROMISE),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_what_is_built_is_whole_and_nothing_is_calibrated_twice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    real = one_message.strongest

    def watched(*given: object) -> float:
        calls.append(given)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("shuffledp.mechanisms.one_message.strongest", watched)
    made = BUILDERS[name]()
    before = dict(vars(made))
    assert len(calls) == 1
    assert made.epsilon0 == made.randomizer.epsilon0
    assert made.guarantee.delta_at_most(epsilon=1.0) <= 1e-6
    assert len(calls) == 1
    assert vars(made) == before


def test_an_impossible_promise_is_refused_when_it_is_made() -> None:
    with pytest.raises(InvalidInput, match="Use more people"):
        Poll("histogram", categories=["a", "b"], n=10, epsilon=1e-9, delta=1e-12)


def test_a_design_keeps_its_very_randomizer() -> None:
    poll = Poll("histogram", categories=["a", "b"], **PROMISE)
    design = Design.of(poll)
    again = poll_of(design)
    assert (again.randomizer, again.epsilon0, again.epsilon) == (poll.randomizer, poll.epsilon0, None)
    assert certify(design).poll.guarantee.delta_at_most(epsilon=1.0) <= 1e-6


def test_a_mean_takes_its_grid_from_a_randomizer() -> None:
    mean = Poll("mean", n=100, randomizer=sdp.KRR(k=5, epsilon0=2.0))
    assert mean.randomizer.k == 5
    with pytest.raises(InvalidInput, match="k must be left out with a randomizer"):
        Poll("mean", n=100, k=3, randomizer=sdp.KRR(k=5, epsilon0=2.0))


def test_a_histogram_takes_anybodys_randomizer_that_votes_for_many() -> None:
    words = Poll("histogram", categories=["x", "y", "z"], n=100, randomizer=sdp.RAPPOR(k=3, epsilon0=2.0))
    assert words.analyse(words.shuffle(words.encode(["x"] * 100))).n == 100


CITIES = ["Lagos", "Lima", "Osaka", "Paris", "Quito"]


@pytest.fixture(scope="module")
def poll() -> Poll:
    return Poll("histogram", categories=CITIES, n=1000, epsilon=1.0, delta=1e-6, honest=900)


def test_a_poll_says_what_was_asked_for(poll: Poll) -> None:
    assert repr(poll) == (
        "Poll('histogram', categories=('Lagos', 'Lima', 'Osaka', and 2 more), n=1000, epsilon=1, delta=1e-6, "
        "honest=900)"
    )
    assert repr(Poll("histogram", categories=500, n=1000, epsilon0=3.0, mechanism="oue")) == (
        "Poll('histogram', categories=500, n=1000, epsilon0=3, mechanism='oue')"
    )


def test_another_randomizer_is_named() -> None:
    other = Poll("histogram", categories=["x", "y"], n=10, randomizer=sdp.OUE(k=2, epsilon0=1.0))
    assert ", randomizer=" in repr(other)


def test_reports_and_bags_say_how_many_and_show_none(poll: Poll) -> None:
    reports = poll.encode(["Lima"] * 1000)
    assert repr(reports) == "<Reports: 1,000 reports of a histogram>"
    assert repr(poll.shuffle(reports)) == "<Bag: 1,000 reports of a histogram>"
    seeded = poll.encode(["Lima"] * 1000, rng=np.random.default_rng(1))
    assert repr(seeded) == "<Reports: 1,000 reports of a histogram, not for release>"


def test_an_estimate_shows_its_first_values(poll: Poll) -> None:
    said = repr(poll.analyse_counts([100, 600, 100, 100, 100]))
    assert said.startswith("<Estimate from 1,000 reports: Lagos: ")
    assert ", and 2 more; standard error at most " in said
    assert "\n" not in said
    assert said.endswith(">")
    assert "not for release" not in said
    seeded = poll.analyse_counts(Tally.handed_on(poll.randomizer, [100, 600, 100, 100, 100], secure=False))
    assert repr(seeded).endswith(", not for release>")


def test_a_design_says_what_it_promises(poll: Poll) -> None:
    assert repr(Design.of(poll)).startswith(
        "<Design: histogram of 5 values, 1,000 people; epsilon = 1 at delta = 1e-6 by krr with epsilon0 = "
    )
    mean = Design.of(Poll("mean", n=1000, epsilon0=1.0, delta=1e-6, k=4))
    assert repr(mean).startswith("<Design: mean, 1,000 people; krr with epsilon0 = ")
