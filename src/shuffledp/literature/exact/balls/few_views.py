"""E(G_1 + ... + G_n)_+ in balls, by adding up views: where users, or filled positions, are few."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import arb

from shuffledp.literature.exact.balls.ball import between, positive_part
from shuffledp.literature.exact.balls.line import Positions

__all__ = ["MOST_VIEWS", "items_needed", "ramp_of_views", "views"]

MOST_VIEWS = 40_000


def views(items: int, classes: int) -> float:
    """How many views there are of at most so many items; infinite if far too many."""
    return math.comb(items + classes, classes) if min(items, classes) <= 24 else math.inf


def items_needed(positions: Positions, share: float) -> int | None:
    """How many filled positions have to be looked at until all that are left hold less than
    ``share`` of E S_+, of the sum of positive scores; None if more than a few.
    """
    if positions.absent is None or not positions.absent > 0:
        return positions.n if positions.n <= 64 else None
    expected = float((positions.n * (1 - positions.absent)).mid())
    if expected > 30.0:
        return positions.n if positions.n <= 64 else None
    items = 2
    while items * math.log((items + 1.0) / (math.e * max(expected, 1e-300))) + expected < -math.log(share):
        items += 1
    return min(items + 1, positions.n)


def ramp_of_views(positions: Positions, items: int) -> arb:
    """A ball that holds E S_+, from all views of at most ``items`` filled positions.

    S_+ is at most the sum of the positive scores. So what is left out is at most n E G_+ times the
    probability that ``items`` or more of the other n - 1 positions are filled, which is at most
    C(n-1, items) (1 - a)^items.
    """
    n = positions.n
    absent = arb(0) if positions.absent is None else positive_part(positions.absent)
    shares = [arb(1)]
    for place in range(items):
        shares.append(shares[-1] * (n - place) / (place + 1))  # C(n, m)
    empty = [absent ** (n - count) if n > count else arb(1) for count in range(items + 1)]
    total = arb(0)
    for count in range(items + 1):
        if positions.absent is None and count < n:
            continue
        total += shares[count] * empty[count] * _filled(positions.masses, positions.scores, count)
    if items >= n:
        return total
    alone = sum(
        (mass * positive_part(score) for mass, score in zip(positions.masses, positions.scores, strict=True)), arb(0)
    )
    chance = arb(1)
    for place in range(items):
        chance *= arb(n - 1 - place) / (place + 1)
    chance *= sum(positions.masses, arb(0)) ** items
    return between(total, total + n * alone * chance)


def _filled(masses: Sequence[arb], scores: Sequence[arb], count: int) -> arb:
    """The sum over all sequences of ``count`` classes of their probability times the positive part
    of their sum of scores.
    """
    if not count:
        return arb(0)
    powers = [[arb(1)] for _ in masses]
    for mass, row in zip(masses, powers, strict=True):
        for place in range(count):
            row.append(row[-1] * mass / (place + 1))
    total = arb(0)
    last = len(masses) - 1

    def add(place: int, left: int, weight: arb, value: arb) -> None:
        nonlocal total
        if place == last:
            total += weight * powers[place][left] * positive_part(value + left * scores[place])
            return
        for held in range(left + 1):
            add(place + 1, left - held, weight * powers[place][held], value + held * scores[place])

    add(0, count, arb(1), arb(0))
    return total * arb(math.factorial(count))
