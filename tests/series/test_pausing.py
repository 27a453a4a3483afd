"""What was spent, and what a pause would buy: certified, for the weeks released and those to
come.
"""

import pytest

from shuffledp import Accountant, Poll
from shuffledp.design import Design
from shuffledp.series.pausing import paces, spent_after

pytestmark = pytest.mark.long


def poll(rounds: int, **noise: float) -> Poll:
    return Poll("histogram", categories=["yes", "no"], n=100, honest=80, rounds=rounds, delta=1e-4, **noise)


def test_weeks_that_were_released_cost_what_they_compose_to() -> None:
    weekly = poll(4, epsilon=1.0)
    design = Design.of(weekly)
    assert spent_after(design, 0) is None
    last = 0.0
    for weeks in (1, 2, 4):
        spent = spent_after(design, weeks)
        assert spent is not None
        assert last < spent.lower <= spent.upper
        last = spent.upper
    assert last == weekly.guarantee.epsilon(delta=1e-4).upper <= 1.0


def test_asked_less_often_the_weeks_to_come_have_less_noise_under_the_same_promise() -> None:
    weekly = poll(4, epsilon=1.0)
    for released in (0, 2):
        every, *slower = paces(Design.of(weekly), released)
        assert [each.asked for each in (every, *slower)] == [[4, 2, 1], [2, 1]][released // 2]
        assert (every.epsilon0, every.gain) == (None, None)
        assert every.epsilon.upper == weekly.guarantee.epsilon(delta=1e-4).upper
        for pace in slower:
            assert pace.epsilon.upper < every.epsilon.upper
            assert pace.epsilon0 is not None
            assert pace.gain is not None
            assert pace.gain > 1.0
            coming = poll(pace.asked, epsilon0=pace.epsilon0)
            together = Accountant().add(coming.guarantee)
            if released:
                together = together.add(poll(released, epsilon0=weekly.epsilon0).guarantee)
            assert 0.96 < together.epsilon(delta=1e-4).upper <= 1.0, "all of the promise is used, and no more"
            assert coming.predicted_stderr() == pace.calibrated_error


def test_a_series_that_is_over_has_no_pace_and_a_mean_has() -> None:
    mean = Design.of(Poll("mean", lower=0.0, upper=1.0, k=2, n=100, rounds=2, epsilon=1.0, delta=1e-4))
    assert paces(mean, 2) == []
    assert [each.asked for each in paces(mean, 1)] == [1]
    assert paces(mean, 0)[1].gain > 1.0  # type: ignore[operator]
