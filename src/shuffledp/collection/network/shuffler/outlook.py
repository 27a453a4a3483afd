"""What a number of reports would give, if the collection ended with it."""

from __future__ import annotations

import math
from typing import Any

from shuffledp.protocols.design import Design

__all__ = ["outlook"]


def outlook(design: Design, reports: int) -> dict[str, Any]:
    """The epsilon that is certified, at the design's delta and for all its rounds, if all of these
    reports are honest, None where that is no number; and the standard error to expect, of a count
    or of the mean.
    """
    from shuffledp.protocols.settling import answering  # the accountant, which a shuffler needs for nothing else

    if reports < 1:
        return {"epsilon": None, "delta": design.delta, "stderr": None}
    randomizer = design.protocol.randomizer  # the law that runs: nothing is calibrated again
    terms = {"n": reports, "rounds": design.rounds, "delta": design.delta}
    smaller = answering(design.task, design.law.family, randomizer=randomizer, **terms)
    epsilon = smaller.guarantee.epsilon_at_most(delta=design.delta)
    return {
        "epsilon": epsilon if math.isfinite(epsilon) else None,
        "delta": design.delta,
        "stderr": smaller.predicted_stderr(),
    }
