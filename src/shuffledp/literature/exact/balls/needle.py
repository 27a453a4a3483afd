"""The needle in the haystack in balls: a target's report among the reports of n - 1 others.

Every other user independently adds an item of class i with probability hay_i, and nothing
otherwise; the target's report is of class i with probability needle0_i or needle1_i. With x =
e^eps and scores g_i = (needle0_i - x needle1_i) / hay_i (docs/theory.md),

    delta(eps) = 1/n E(G_1 + ... + G_n)_+  +  the positive parts of needle0 - x needle1 where there
                 is no hay.

Scores above a cap k may be cut: E S_+ lies between E(S^k)_+ + n J (1 - missed) and E(S^k)_+ + n J,
with S^k the sum of the capped scores, J = E(G - k)_+, and ``missed`` the probability that the
capped scores of n - 1 positions sum to less than -k: a position above k adds all that it is above
k wherever the others leave the sum of the capped scores positive, and never more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from flint import arb

from shuffledp.literature.exact.balls.ball import Exact, ball, between, positive_part, precision
from shuffledp.literature.exact.balls.few_views import MOST_VIEWS, items_needed, ramp_of_views, views
from shuffledp.literature.exact.balls.line import ROUGHLY, Line, Positions

__all__ = ["CLOSE", "WORK", "Needle", "mean_positive_part"]

CLOSE = 1e-8  # relative: how near the two ends shall be
WORK = 400_000  # nodes on one line of a few classes
LOOSENED = (0.3, 10.0, 300.0, 1e4)  # how much of the tolerance a cap may leave open
MOST_CAPS = 4000
LEVELS = (1.0, 0.25, 0.06, 0.015, 0.004)  # of a cap: a score below minus this share of it counts as fatal alone
TILTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


@dataclass(frozen=True, eq=False)
class Needle:
    """The masses of every class, as balls; ``whole`` if the hay is a law, so that every other user
    is in the view.
    """

    name: str
    hay: tuple[arb, ...]
    needle0: tuple[arb, ...]
    needle1: tuple[arb, ...]
    whole: bool

    @classmethod
    def of(
        cls,
        name: str,
        hay: Sequence[Exact | arb],
        needle0: Sequence[Exact | arb],
        needle1: Sequence[Exact | arb],
        *,
        whole: bool,
    ) -> Needle:
        """The same from numbers, taken as exact; hay that is whole is divided by its sum."""
        share, there, back = (tuple(ball(each) for each in column) for column in (hay, needle0, needle1))
        if whole:
            total = sum(share, arb(0))
            share = tuple(each / total for each in share)
        return cls(name, share, there, back, whole=whole)

    def swapped(self) -> Needle:
        """The target's two inputs exchanged."""
        return replace(self, needle0=self.needle1, needle1=self.needle0)

    def delta(self, n: int, eps: float | arb, relative: float = CLOSE, work: int = WORK) -> arb:
        """A ball that holds delta(eps) among n users, at the precision that is set; with less
        ``work`` it may be wider than ``relative``.

        >>> with precision(128):
        ...     coin = Needle.of("", [0.25, 0.75], [0.75, 0.25], [0.25, 0.75], whole=True)
        ...     coin.delta(2, 0.0).overlaps(arb(0.375))
        True
        """
        x = ball(eps).exp()
        masses, scores, exposed = [], [], arb(0)
        for hay, there, back in zip(self.hay, self.needle0, self.needle1, strict=True):
            gain = there - x * back
            if hay.is_zero():
                exposed += positive_part(gain)
            else:
                masses.append(hay)
                scores.append(gain / hay)
        if not masses:
            return exposed
        absent = None if self.whole else 1 - sum(masses, arb(0))
        if absent is not None and not absent > 0:
            absent = positive_part(absent)
        found = mean_positive_part(Positions(n, tuple(masses), tuple(scores), absent), relative, work)
        return positive_part(found / n + exposed)


def mean_positive_part(positions: Positions, relative: float = CLOSE, work: int = WORK) -> arb:
    """A ball that holds E S_+, about ``relative`` wide where that is possible."""
    n = positions.n
    positive = [positive_part(score) for score in positions.scores]
    alone = sum((mass * score for mass, score in zip(positions.masses, positive, strict=True)), arb(0))
    if n == 1 or not any(score.upper() > 0 for score in positive):
        return n * alone
    items = items_needed(positions, relative * 1e-3)
    if items is not None and views(items, len(positions.masses)) <= MOST_VIEWS:
        found = ramp_of_views(positions, items)
        if found.rel_accuracy_bits() > -math.log2(relative):
            return found
    found = between(arb(0), n * alone)
    nodes = max(work // (1 + len(positions.masses) // 16), 1000)
    for cap in _caps(positions, relative, nodes):
        found = found.intersection(_capped(positions, cap, relative, nodes))
        if found.rel_accuracy_bits() > -math.log2(relative) - 1.0:
            break
    return found


def _caps(positions: Positions, relative: float, nodes: int) -> Iterator[arb]:
    """The largest score; and, if scores spread so far that no line is fine enough, the least caps
    whose jumps leave little open.
    """
    with precision(ROUGHLY):
        top = positions.top.upper()
        line = Line.through(positions, relative, nodes)
    if line.relative <= 4.0 * relative:
        yield top
    with precision(ROUGHLY):
        ladder = _ladder(positions, top)
        found = {}
        for loosened in LOOSENED:
            low, high = 0, len(ladder) - 1
            while low < high:
                middle = (low + high) // 2
                enough = _open(positions, ladder[middle]) <= loosened * relative
                low, high = (low, middle) if enough else (middle + 1, high)
            found[low] = ladder[low]
    yield from found.values()


def _ladder(positions: Positions, top: arb) -> list[arb]:
    """Positive scores, and more where they are far apart, in rising order."""
    steps: list[arb] = []
    for score in sorted((score.mid() for score in positions.scores if score.lower() > 0), key=_order):
        while steps and score > 4 * steps[-1] and len(steps) < MOST_CAPS:
            steps.append((3 * steps[-1]).mid())
        if not steps or score > steps[-1]:
            steps.append(score)
    return [*steps[:-1], top]


def _order(score: arb) -> float:
    return float(score.log().mid())


def _open(positions: Positions, cap: arb) -> float:
    """About which share of E S_+ a cap leaves open."""
    lower, jumps = _cut(positions, cap), positions.n * _jump(positions, cap)
    if jumps.is_zero():
        return 0.0
    return float((jumps * _missed(lower, cap) / (Line.roughly(lower) + jumps)).mid())


def _cut(positions: Positions, cap: arb) -> Positions:
    return replace(positions, scores=tuple(score.min(cap) for score in positions.scores))


def _jump(positions: Positions, cap: arb) -> arb:
    """E(G - k)_+ ."""
    return sum(
        (mass * positive_part(score - cap) for mass, score in zip(positions.masses, positions.scores, strict=True)),
        arb(0),
    )


def _capped(positions: Positions, cap: arb, relative: float, nodes: int = WORK) -> arb:
    """E S_+ with all scores above ``cap`` cut there."""
    lower = _cut(positions, cap)
    line = Line.through(lower, relative, nodes)
    if not math.isfinite(line.relative):  # too many nodes would be needed
        return between(arb(0), positions.n * (_jump(positions, arb(0))))
    smooth = line.ramp()
    jumps = positions.n * _jump(positions, cap)
    if jumps.is_zero():
        return smooth
    return smooth + between(jumps * positive_part(1 - _missed(lower, cap)), jumps)


def _missed(capped: Positions, cap: arb) -> arb:
    """At most the probability that n - 1 capped scores sum to less than -k: for every level K,
    either some score is below -K, or Chernoff's inequality holds for the scores raised to -K.
    """
    n, best = capped.n, arb(1)
    for level in LEVELS:
        least = -cap * level
        fatal = arb(0)
        for mass, score in zip(capped.masses, capped.scores, strict=True):
            if not score >= least:
                fatal += mass
        for tilt in TILTS:
            t = tilt / (cap * level)
            raised = [
                mass * (-t * score.max(least)).exp() for mass, score in zip(capped.masses, capped.scores, strict=True)
            ]
            chernoff = sum(raised, capped.absent or arb(0)) ** (n - 1) * (-t * cap).exp()
            best = best.min(n * fatal + chernoff)
    return best.upper()
