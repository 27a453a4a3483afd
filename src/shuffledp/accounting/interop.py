"""Handing a guarantee to google's dp-accounting (the extra ``shuffledp[interop]``), to compose it
with other mechanisms there.
"""

from __future__ import annotations

from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import InvalidInput, check_positive

__all__ = ["to_dp_accounting"]


def to_dp_accounting(guarantee: Guarantee, *, value_discretization_interval: float = 1e-4) -> Any:
    """The pessimistic privacy loss distribution of ``guarantee`` as dp-accounting's
    ``PrivacyLossDistribution``.

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
    try:
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    except ImportError:
        raise InvalidInput(
            "dp-accounting must be installed to hand a guarantee over, got no such package. Install the extra: "
            "shuffledp[interop]."
        ) from None
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
