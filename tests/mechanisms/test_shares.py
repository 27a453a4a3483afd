"""Shares of a group are missed no more often than their intervals say."""

from __future__ import annotations

import numpy as np
import pytest

from shuffledp import KRR
from shuffledp._types import Floats
from shuffledp.mechanisms.shares import ShareTest

PEOPLE, IN_GROUP, DRAWS, Z = 200, 100, 20_000, 1.959963984540054
LAW = KRR(k=6, epsilon0=4.0)  # three groups of two cells
CELL, PAIR = LAW.group_law(1, PEOPLE), LAW.group_law(2, PEOPLE)


def estimated(held: int) -> tuple[Floats, Floats, Floats]:
    """Counts of a cell that ``held`` are in and of its group, and how often they were drawn."""
    hit, miss = LAW.hit, LAW.miss
    elsewhere, rng = 1.0 - hit - miss, np.random.default_rng(6)
    votes = (
        rng.multinomial(held, [hit, miss, elsewhere], size=DRAWS)
        + rng.multinomial(IN_GROUP - held, [miss, hit, elsewhere], size=DRAWS)
        + rng.multinomial(PEOPLE - IN_GROUP, [miss, miss, 1.0 - 2.0 * miss], size=DRAWS)
    )
    seen, times = np.unique(votes[:, :2], axis=0, return_counts=True)
    return CELL.estimate(seen[:, 0], PEOPLE), PAIR.estimate(seen.sum(axis=1), PEOPLE), times / DRAWS


@pytest.mark.parametrize("held", [50, 90, 8])
def test_a_share_is_missed_no_more_often_than_its_interval_says(held: int) -> None:
    part, whole, often = estimated(held)
    lower, upper = ShareTest(part, whole, CELL, CELL, PEOPLE).limits(np.clip(part / whole, 0.0, 1.0), 0.025)
    share = held / IN_GROUP
    assert often[(share < lower) | (share > upper)].sum() <= 0.05


def test_without_half_a_vote_and_moments_at_the_share_more_are_missed() -> None:
    """The control: Fieller's test of one share in two with variances at the estimates, as earlier
    versions had it.
    """
    part, whole, often = estimated(50)
    own, rest, both = (
        law.variance(np.clip(count, 0.0, PEOPLE), PEOPLE)
        for law, count in ((CELL, part), (CELL, whole - part), (PAIR, whole))
    )
    rejected = (part - 0.5 * whole) ** 2 > Z**2 * (0.5 * own + 0.5 * rest - 0.25 * both)
    assert often[rejected].sum() > 0.055
