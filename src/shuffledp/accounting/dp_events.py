"""Random allocation as an event of google's dp-accounting (the extra ``shuffledp[interop]``), in
and out.

dp-accounting 0.6 has events for Poisson sampling and for fixed samples, none for random allocation.
So ours is an event of its own kind: its accountants say that they do not support it, instead of
taking it for another sampler, and a later version's own event is used where there is one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.training import RandomAllocation
from shuffledp.accounting.training.step_pairs import GaussianStep
from shuffledp.errors import InvalidInput

__all__ = ["from_dp_event", "to_dp_event"]

NATIVE = "RandomAllocationDpEvent"  # what a later dp-accounting may call it
REMEDY = "Pass a GaussianDpEvent inside the event of to_dp_event(RandomAllocation(...))."


def to_dp_event(training: Guarantee) -> Any:
    """``training`` as a ``DpEvent``: a Gaussian step, allocated, and composed over the epochs.

    >>> event = to_dp_event(RandomAllocation(sigma=1.0, steps=1000, epochs=10))
    >>> event.count, event.event.steps, event.event.event.noise_multiplier
    (10, 1000, 1.0)
    >>> from_dp_event(event)
    RandomAllocation(sigma=1.0, steps=1000, epochs=10)
    """
    if not isinstance(training, RandomAllocation) or not isinstance(training.step, GaussianStep):
        raise InvalidInput(
            f"training must be a RandomAllocation with Gaussian steps, got {training!r}. dp-accounting has no event "
            f"for other steps: hand it to_dp_accounting(...) instead."
        )
    google, kind = _google(), _kind()
    once = kind(google.GaussianDpEvent(training.step.sigma), training.steps, training.participations)
    return google.SelfComposedDpEvent(once, training.epochs) if training.epochs > 1 else once


def from_dp_event(event: Any) -> RandomAllocation:
    """What ``to_dp_event`` made, accounted for; composed events of one kind are so many epochs."""
    google, epochs = _google(), 1
    while isinstance(event, google.SelfComposedDpEvent):
        epochs *= event.count
        event = event.event
    if not isinstance(event, _kind()) or not isinstance(event.event, google.GaussianDpEvent):
        raise InvalidInput(f"event must be a random allocation of Gaussian steps, got {event!r}. {REMEDY}")
    return RandomAllocation(
        sigma=event.event.noise_multiplier,
        steps=event.steps,
        participations=event.participations,
        epochs=epochs,
    )


def _google() -> Any:
    try:
        import dp_accounting
    except ImportError:
        raise InvalidInput(
            "dp-accounting must be installed for its events, got no such package. Install the extra: "
            "shuffledp[interop]."
        ) from None
    return dp_accounting


@cache
def _kind() -> Any:
    """The class of the event, ``event`` at ``participations`` of ``steps`` steps: dp-accounting's
    own, if it has one with these fields, else ours.
    """
    google = _google()
    native = getattr(google, NATIVE, None)
    if native is not None and {"event", "steps", "participations"} <= set(getattr(native, "__annotations__", ())):
        return native

    import attr  # dp-accounting's events are made of it

    fields = {"event": attr.ib(), "steps": attr.ib(), "participations": attr.ib(default=1)}
    return attr.make_class("AllocatedDpEvent", fields, bases=(google.DpEvent,), frozen=True)
