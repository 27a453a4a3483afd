"""Guarantees for google's dp-accounting (the extra ``shuffledp[interop]``), to compose them with
other mechanisms there, and random allocation as one of its events.

dp-accounting 0.6 has events for Poisson sampling and for fixed samples, none for random allocation.
So ours is an event of its own kind: its accountants say that they do not support it, instead of
taking it for another sampler, and a later version's own event is used where there is one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import InvalidInput, check_positive
from shuffledp.training import RandomAllocation
from shuffledp.training.step_pairs import GaussianStep


def to_dp_accounting(guarantee: Guarantee, *, value_discretization_interval: float = 1e-4) -> Any:
    """The pessimistic loss distribution of ``guarantee`` as dp-accounting's own type.

    Hand over distributions, never events: dp-accounting 0.6 ignores the ``count`` of its
    randomized-response event. The grid must be the one of the mechanisms it is composed with; a
    grid coarser than the typical loss of one round is valid but loose.

    >>> from dp_accounting.pld import privacy_loss_distribution as google
    >>> from shuffledp import KRR, shuffle
    >>> survey = to_dp_accounting(shuffle(KRR(k=16, epsilon0=4.0), n=10_000).compose(30))
    >>> total = survey.compose(google.from_gaussian_mechanism(2.0))
    >>> round(total.get_epsilon_for_delta(1e-6), 1)
    3.3
    """
    _google()
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    spacing = check_positive(
        "value_discretization_interval",
        value_discretization_interval,
        remedy="It is the grid of privacy losses; 1e-4 is usual.",
    )
    loss = guarantee.pessimistic_loss(spacing=spacing)
    masses = dict(zip((int(i) for i in loss.index), loss.mass.tolist(), strict=True))
    return privacy_loss_distribution.PrivacyLossDistribution(
        pld_pmf.create_pmf(masses, spacing, loss.infinite, pessimistic_estimate=True)
    )


NATIVE = "RandomAllocationDpEvent"  # what a later dp-accounting may call it


def to_dp_event(training: Guarantee) -> Any:
    """``training`` as a ``DpEvent``: a Gaussian step, allocated, and composed over the epochs.

    >>> event = to_dp_event(RandomAllocation(sigma=1.0, steps=1000, epochs=10))
    >>> event.count, event.event.steps, event.event.event.noise_multiplier
    (10, 1000, 1.0)
    """
    if not isinstance(training, RandomAllocation) or not isinstance(training.step, GaussianStep):
        raise InvalidInput(
            f"training must be a RandomAllocation with Gaussian steps, got {training!r}. Use to_dp_accounting(...)."
        )
    google, kind = _google(), _kind()
    once = kind(google.GaussianDpEvent(training.step.sigma), training.steps, training.participations)
    return google.SelfComposedDpEvent(once, training.epochs) if training.epochs > 1 else once


def _google() -> Any:
    try:
        import dp_accounting
    except ImportError:
        raise InvalidInput(
            "dp-accounting must be installed, got no such package. Install the extra: shuffledp[interop]."
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
