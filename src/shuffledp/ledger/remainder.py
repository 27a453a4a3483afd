"""What would still fit: how many more of the same release, or the largest with all its epsilon0
made smaller by one factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from shuffledp.accounting.inversion import geometric, halve, whole, within
from shuffledp.accounting.rounds import Rounds
from shuffledp.errors import MOST_ROUNDS, InvalidInput
from shuffledp.ledger.entry import Entry, Part
from shuffledp.ledger.total import Mechanism, composed, harshest
from shuffledp.randomizers.law_file import law_of, randomizer_of, scaled

__all__ = ["MANY", "largest", "more"]

SMALLEST = 1e-3  # a release with a thousandth of the epsilon0 says nothing any more
DIGITS = 2e-3  # relative accuracy of the factor; it is rounded down
TRIES = 6
LEAST = 1e-12  # an epsilon that stands for 0, which no release promises
MANY = 10_000  # more releases than anybody counts


def largest(earlier: Iterable[Mechanism], entry: Entry, *, limit_epsilon: float, limit_delta: float) -> Entry | None:
    """``entry`` with the largest epsilon0 found to fit, checked as a release would be; ``None`` if
    nothing does.

    The search is quick and conservative, on a grid of its own, and takes for granted that less
    epsilon0 leaks less. The answer is checked again as ``spend`` would check it.
    """
    earlier = list(earlier)
    harsh = harshest(earlier)
    good, bad = SMALLEST, 1.0
    if (first := _scaled(entry, good)) is None or not _fits(harsh, first, limit_epsilon, limit_delta):
        return None

    def smaller_fits(factor: float) -> bool:
        smaller = _scaled(entry, factor)
        return smaller is not None and _fits(harsh, smaller, limit_epsilon, limit_delta)

    good, _ = halve(smaller_fits, good, bad, middle=geometric, close=within(DIGITS))
    for attempt in range(TRIES):
        answer = _scaled(entry, good * (1.0 - DIGITS * attempt))
        if (
            answer is not None
            and composed([*earlier, *answer.mechanisms]).delta_at_most(epsilon=limit_epsilon) <= limit_delta
        ):
            return replace(answer, epsilon=max(answer.guarantee.epsilon_at_most(delta=entry.delta), LEAST))
    return None


def more(earlier: Iterable[Mechanism], entry: Entry, *, limit_epsilon: float, limit_delta: float) -> int:
    """How many more releases like ``entry`` fit, one after the other; at most ``MANY``.

    Upper ends only, in doubling steps and then by bisection, to a hundredth. What is said to fit is
    checked as ``spend`` would check it.
    """
    earlier = list(earlier)
    room = MOST_ROUNDS - sum(rounds for _, rounds in earlier)
    most = min(MANY, room // sum(part.rounds for part in entry.parts))
    harsh, good, bad = harshest(earlier), 0, 1
    while bad <= most and _fits(harsh, entry, limit_epsilon, limit_delta, times=bad):
        good, bad = bad, min(2 * bad, most) if bad < most else most + 1
    good, _ = halve(
        lambda times: _fits(harsh, entry, limit_epsilon, limit_delta, times=times),
        good,
        bad,
        middle=whole,
        close=lambda good, bad: bad - good <= max(1, good // 100),
    )
    for times in range(good, 0, -max(1, good // 100)):
        if composed([*earlier, *_repeated(entry, times)]).delta_at_most(epsilon=limit_epsilon) <= limit_delta:
            return times
    return 0


def _repeated(entry: Entry, times: int) -> list[Mechanism]:
    return [(mechanism, times * rounds) for mechanism, rounds in entry.mechanisms]


def _fits(earlier: list[Mechanism], entry: Entry, limit_epsilon: float, limit_delta: float, *, times: int = 1) -> bool:
    """Upper end only. A step that is a power of two is part of every finer such grid, so earlier
    releases are laid out once for all questions.
    """
    total = Rounds((*earlier, *_repeated(entry, times)))
    spacing = 2.0 ** math.floor(math.log2(total.spacing))
    limit = np.array([limit_epsilon])
    return all(each.deltas(limit, "upper")[0] <= limit_delta for each in total.dominating(spacing))


def _scaled(entry: Entry, factor: float) -> Entry | None:
    """The same release with every epsilon0 times ``factor``; ``None`` if its reports would be noise
    only.
    """
    try:
        laws = [law_of(scaled(randomizer_of(part.law), factor)) for part in entry.parts]
        return replace(entry, parts=tuple(Part(law, *part[1:]) for law, part in zip(laws, entry.parts, strict=True)))
    except InvalidInput:
        return None
