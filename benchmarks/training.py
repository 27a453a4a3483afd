"""Random allocation: how far apart its ends are, and beside PLD_accounting 2.0 where that is
installed.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable

from benchmarks.result import Result
from shuffledp.training import RandomAllocation

SIGMAS, STEPS, DELTAS = (0.35, 1.0, 5.0), (10, 1000, 10**6), (1e-3, 1e-6, 1e-12)
FASTER, TIGHTER = 25.0, 20.0


def ends_apart() -> list[Result]:
    """One epoch, over noise, steps and deltas."""
    cases = []
    for sigma in SIGMAS:
        for steps in STEPS:
            for delta in DELTAS:
                bound = RandomAllocation(sigma=sigma, steps=steps).epsilon(delta=delta)
                apart = bound.width / bound.upper if bound.upper > 0.0 else 0.0
                cases.append((apart, f"sigma = {sigma:g}, {steps} steps, delta = {delta:g}"))
    value, where = max(cases)
    return [Result("widest gap of one epoch", f"{value:.3%} at {where}", "at most 0.2 %", value <= 0.002)]


def against_peer() -> list[Result]:
    """CPU time and the width of the interval, in one run."""
    if importlib.util.find_spec("PLD_accounting") is None:
        return [Result("PLD_accounting 2.0", "is not installed here", "25 times faster, 20 times tighter")]
    from PLD_accounting import gaussian_allocation_epsilon_range

    results = []
    for steps, delta in ((1000, 1e-6), (100_000, 1e-8)):
        ours, mine = _cpu(lambda: tuple(RandomAllocation(sigma=1.0, steps=steps).epsilon(delta=delta)))  # noqa: B023
        theirs, other = _cpu(lambda: gaussian_allocation_epsilon_range(sigma=1.0, num_steps=steps, delta=delta))  # noqa: B023
        width = [max(ends) - min(ends) for ends in (ours, theirs)]
        faster, tighter = other / mine, width[1] / width[0] if width[0] else math.inf
        results.append(
            Result(
                f"sigma = 1, {steps} steps, delta = {delta:g}, beside PLD_accounting",
                f"{faster:.0f} times faster, {tighter:.0f} times tighter",
                f"{FASTER:g} times faster, {TIGHTER:g} times tighter",
                faster >= FASTER and tighter >= TIGHTER,
            )
        )
    return results


def _cpu(call: Callable[[], tuple[float, ...]]) -> tuple[tuple[float, ...], float]:
    start = time.process_time()
    return call(), time.process_time() - start
