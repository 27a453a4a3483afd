"""What an object says of itself in a prompt: one short line, without the data."""

from __future__ import annotations

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.design import Design

CITIES = ["Lagos", "Lima", "Osaka", "Paris", "Quito"]


@pytest.fixture(scope="module")
def poll() -> Poll:
    return Poll("histogram", categories=CITIES, n=1000, epsilon=1.0, delta=1e-6, honest=900)


def test_a_protocol_says_what_was_asked_for(poll: Poll) -> None:
    assert repr(poll) == (
        "Histogram(n=1000, categories=('Lagos', 'Lima', 'Osaka', and 2 more), epsilon=1, delta=1e-6, honest=900)"
    )
    assert repr(Poll("histogram", categories=500, n=1000, epsilon0=3.0, mechanism="oue")) == (
        "Histogram(n=1000, categories=range(0, 500), epsilon0=3, mechanism='oue')"
    )


def test_another_randomizer_is_named() -> None:
    other = Poll("histogram", categories=["x", "y"], n=10, randomizer=sdp.OUE(k=2, epsilon0=1.0))
    assert ", randomizer=" in repr(other)


def test_reports_and_bags_say_how_many_and_show_none(poll: Poll) -> None:
    reports = poll.encode(["Lima"] * 1000)
    assert repr(reports) == "<Reports: 1,000 reports of Histogram>"
    assert repr(poll.shuffle(reports)) == "<Bag: 1,000 reports of Histogram>"
    seeded = poll.encode(["Lima"] * 1000, rng=np.random.default_rng(1))
    assert repr(seeded) == "<Reports: 1,000 reports of Histogram, not for release>"


def test_an_estimate_shows_its_first_values(poll: Poll) -> None:
    said = repr(poll.analyse_counts([100, 600, 100, 100, 100]))
    assert said.startswith("<Estimate from 1,000 reports: Lagos: ")
    assert ", and 2 more; standard error at most " in said
    assert "\n" not in said
    assert said.endswith(">")
    assert "not for release" not in said
    seeded = poll.analyse_counts([100, 600, 100, 100, 100], secure=False)
    assert repr(seeded).endswith(", not for release>")


def test_a_design_says_what_it_promises(poll: Poll) -> None:
    assert repr(Design.of(poll)).startswith(
        "<Design: histogram of 5 values, 1,000 people; epsilon = 1 at delta = 1e-6 by krr with epsilon0 = "
    )
    mean = Design.of(Poll("mean", n=1000, epsilon0=1.0, delta=1e-6, k=4))
    assert repr(mean).startswith("<Design: mean, 1,000 people; krr with epsilon0 = ")
