"""What a design asks of those who report: said to them in words, and refused where it promises them
nothing or less than they want.
"""

from __future__ import annotations

import math

from shuffledp.collection.release.facts import cautions
from shuffledp.errors import InvalidInput, check_positive
from shuffledp.protocols.design import Design
from shuffledp.wording import rounded

__all__ = ["MUCH", "check_client", "exposure"]

MUCH = 8.0  # an epsilon0 above which one report is nearly the truth


def check_client(design: Design, most_epsilon0: float | None = None) -> None:
    """Refuse, on the client's side, a design without a promise, and one whose single report says
    more than the client allows.
    """
    epsilon0 = design.law.epsilon0
    if design.epsilon is None:
        raise InvalidInput(
            f"a design must promise an epsilon to those who report, got none: nothing but epsilon0 = {epsilon0:.4g} "
            f"would protect them. "
            "Ask for a design that `shuffledp design` wrote."
        )
    if most_epsilon0 is None:
        return
    most = check_positive(
        "--most-epsilon0", most_epsilon0, remedy="It is what one report may say by itself; 0.5 to 8 is usual."
    )
    if epsilon0 > most:
        raise InvalidInput(
            f"epsilon0 of the design must be at most the {most:g} of --most-epsilon0, got {epsilon0:.4g}. Ask for a "
            f"design with more noise, or do not report."
        )


def exposure(design: Design) -> list[str]:
    """What is promised to whoever reports, what holds if the shuffler does not keep to itself what
    it sees, and what to think of that.
    """
    epsilon0 = design.law.epsilon0
    rounds = "" if design.rounds == 1 else f", in each of {design.rounds:,} rounds"
    said = [
        f"Promised to you: epsilon at most {design.epsilon:g} at delta = {design.delta:g}, if {design.least:,} "
        f"honest reports are shuffled together.",
        f"Without that: epsilon0 = {epsilon0:.4g}. If the shuffler shares what it sees, your report multiplies the "
        f"odds of any guess about you"
        f" by up to e^epsilon0 = {rounded(math.exp(epsilon0), up=True)}{rounds}.",
    ]
    if epsilon0 > MUCH:
        said.append(
            f"Warning: an epsilon0 above {MUCH:g} leaves a report close to the truth, and all protection to the "
            f"shuffler. "
            f"--most-epsilon0 {MUCH:g} refuses such designs."
        )
    return said + [f"Warning: {each}." for each in cautions(design)]
