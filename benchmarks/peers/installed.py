"""Packages of the index, each asked through its public interface: (lower, upper) of epsilon, with
None for an end that it does not claim.
"""

from __future__ import annotations

from typing import Any

__all__ = ["INSTALLED", "MODULES", "Ends"]

Ends = tuple[float | None, float | None]


def pld_accounting(given: dict[str, Any], delta: float) -> Ends:
    """PLD_accounting 2.0, of the authors of random allocation's analysis (Feldman and Shenfeld)."""
    from PLD_accounting import gaussian_allocation_epsilon_range

    found = gaussian_allocation_epsilon_range(
        sigma=given["sigma"], num_steps=int(given["steps"]), num_selected=int(given.get("selected", 1)), delta=delta
    )
    return min(found), max(found)


def poisson(given: dict[str, Any], delta: float) -> Ends:
    """dp-accounting's Poisson sampling at the rate 1 / steps: another sampler, for orientation."""
    from dp_accounting.pld import privacy_loss_distribution

    steps = int(given["steps"])
    one = privacy_loss_distribution.from_gaussian_mechanism(given["sigma"], sampling_prob=1.0 / steps)
    return None, float(one.self_compose(steps).get_epsilon_for_delta(delta))


# Loaded before the clock starts.
MODULES = {"pld-accounting": "PLD_accounting", "dp-accounting-poisson": "dp_accounting.pld.privacy_loss_distribution"}
INSTALLED = {"pld-accounting": pld_accounting, "dp-accounting-poisson": poisson}
