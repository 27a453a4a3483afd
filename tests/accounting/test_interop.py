"""Random allocation as an event of dp-accounting, never taken for another sampler."""

import pytest

from shuffledp.accounting.interop import to_dp_event
from shuffledp.errors import InvalidInput
from shuffledp.training import RandomAllocation

dp_accounting = pytest.importorskip("dp_accounting", reason="the extra interop is not installed")


@pytest.mark.parametrize("counts", [{"steps": 50}, {"steps": 1000, "participations": 4, "epochs": 12}], ids=str)
def test_an_event_says_all_of_a_training(counts: dict[str, int]) -> None:
    training = RandomAllocation(sigma=0.7, **counts)
    event = to_dp_event(training)
    assert isinstance(event, dp_accounting.DpEvent)
    once = event.event if training.epochs > 1 else event
    assert (once.steps, once.participations) == (training.steps, training.participations)
    assert once.event.noise_multiplier == training.step.sigma  # type: ignore[attr-defined]
    assert getattr(event, "count", 1) == training.epochs
    assert to_dp_event(training) == event


def test_their_accountants_refuse_what_they_do_not_know() -> None:
    accountant = dp_accounting.pld.PLDAccountant()
    assert not accountant.supports(to_dp_event(RandomAllocation(sigma=1.0, steps=9)))


def test_steps_without_an_event_are_refused() -> None:
    with pytest.raises(InvalidInput, match="training must be a RandomAllocation with Gaussian steps"):
        to_dp_event(RandomAllocation(scale=1.0, steps=9))
