"""Random allocation as an event of dp-accounting: in, out, and never taken for another sampler."""

import pytest

from shuffledp import RandomAllocation
from shuffledp.accounting.interop import from_dp_event, to_dp_event
from shuffledp.errors import InvalidInput

dp_accounting = pytest.importorskip("dp_accounting", reason="the extra interop is not installed")


@pytest.mark.parametrize("counts", [{"steps": 50}, {"steps": 1000, "participations": 4, "epochs": 12}], ids=str)
def test_what_goes_out_comes_back(counts: dict[str, int]) -> None:
    training = RandomAllocation(sigma=0.7, **counts)
    event = to_dp_event(training)
    assert isinstance(event, dp_accounting.DpEvent)
    assert repr(from_dp_event(event)) == repr(training)
    assert to_dp_event(training) == event


def test_events_composed_over_and_over_are_epochs() -> None:
    event = dp_accounting.SelfComposedDpEvent(to_dp_event(RandomAllocation(sigma=1.0, steps=9, epochs=3)), 5)
    assert from_dp_event(event).epochs == 15


def test_their_accountants_refuse_what_they_do_not_know() -> None:
    accountant = dp_accounting.pld.PLDAccountant()
    assert not accountant.supports(to_dp_event(RandomAllocation(sigma=1.0, steps=9)))


@pytest.mark.parametrize(
    "event",
    [
        dp_accounting.GaussianDpEvent(1.0),
        dp_accounting.SelfComposedDpEvent(
            dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(1.0)), 5
        ),
        None,
    ],
    ids=["Gaussian", "Poisson", "none"],
)
def test_another_sampler_is_not_taken_for_random_allocation(event: object) -> None:
    with pytest.raises(InvalidInput, match="event must be a random allocation of Gaussian steps"):
        from_dp_event(event)


def test_steps_without_an_event_are_refused() -> None:
    with pytest.raises(InvalidInput, match="training must be a RandomAllocation with Gaussian steps"):
        to_dp_event(RandomAllocation(scale=1.0, steps=9))
