"""How many people are in a group of bins, from the votes for the group, and the quantiles that
follow.

What the votes of a group say depends on its size alone (``group_law``), so the error of every count
is exact, however many bins it sums. A group of more than half of the bins is counted by the others:
votes are rare on one side or the other, and the exact law is needed there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shuffledp._types import Floats
from shuffledp.protocols.estimate import Interval, Noise
from shuffledp.protocols.estimators import inversion
from shuffledp.protocols.fake_votes import from_votes
from shuffledp.randomizers.messages.message import FakedValues
from shuffledp.randomizers.randomizer import Ints, Reporting

__all__ = ["QuantileRow", "counted_group", "counted_groups", "quantile_rows", "quantiles_of"]


@dataclass(frozen=True, slots=True, eq=False)
class GroupNoise(Noise):
    """The noise of counts of groups, each with a law of its own: ``each`` is that of the smaller
    side of a group, and where that is the other side, ``turned`` is true.
    """

    each: tuple[Noise, ...] = ()
    turned: tuple[bool, ...] = ()
    people: int = 0

    def interval(self, values: Floats, tail: float) -> Interval:
        low, high = np.zeros_like(values), np.zeros_like(values)
        for place, (noise, turned) in enumerate(zip(self.each, self.turned, strict=True)):
            value = values[place : place + 1]
            if turned:
                above = noise.interval(self.people - value, tail)
                low[place], high[place] = self.people - above.upper[0], self.people - above.lower[0]
            else:
                low[place], high[place] = (end[0] for end in noise.interval(value, tail))
        return Interval(np.minimum(low, values), np.maximum(high, values))

    def at(self, chosen: Any) -> Noise:
        places = np.arange(len(self.each))[chosen].tolist()
        return _together([self.each[place] for place in places], [self.turned[place] for place in places], self.people)

    def averaged(self, others: Sequence[Noise]) -> Noise | None:
        rounds = [self, *others]
        if not all(isinstance(one, GroupNoise) and one.turned == self.turned for one in rounds):
            return None
        each = [first.averaged(rest) for first, *rest in zip(*(one.each for one in rounds), strict=True)]  # type: ignore[attr-defined]
        known = [one for one in each if one is not None]
        return _together(known, list(self.turned), self.people) if len(known) == len(each) else None


def counted_groups(
    votes: Ints, groups: Sequence[tuple[int, int]], law: Reporting, people: int
) -> tuple[Floats, Noise, Floats]:
    """How many of ``people`` hold one of the values of each group, which are those from its first
    number to below its second, from the ``votes`` for each value; the noise of that, and the
    standard errors.
    """
    up_to = np.concatenate([[0], np.cumsum(votes)])
    values, each, turned = np.zeros(len(groups)), [], []
    for place, (first, end) in enumerate(groups):
        size, mine = end - first, int(up_to[end] - up_to[first])
        other = 2 * size > law.k
        if other:
            size, mine = law.k - size, int(up_to[-1]) - mine
        (value,), noise = counted_group(np.array([mine]), size, law, people)
        values[place] = people - value if other else value
        each.append(noise)
        turned.append(other)
    noise = _together(each, turned, people)
    return values, noise, noise.stderr(np.clip(values, 0.0, people))


def counted_group(votes: Ints, size: int, law: Reporting, people: int) -> tuple[Floats, Noise]:
    """How many of ``people`` hold one of the ``size`` values of each group, from the ``votes`` for
    it, and the noise of that.
    """
    if isinstance(law, FakedValues):
        return from_votes(votes, people, law, size)
    group = law.group_law(size, people)
    return inversion(votes, people, group.hit, group.miss, group.contrast)


def _together(each: Sequence[Noise], turned: Sequence[bool], people: int) -> GroupNoise:
    """The noise of several groups, as that of how many are in them: of a group that is counted by
    the others, the variance falls as they grow.
    """
    sign = np.where(turned, -1.0, 1.0)
    base, slope, skew = (np.array([getattr(one, part)[0] for one in each]) for part in ("base", "slope", "skew"))
    base = base + np.where(turned, slope * people, 0.0)
    return GroupNoise(base, sign * slope, sign * skew, each=tuple(each), turned=tuple(turned), people=people)


class QuantileRow(NamedTuple):
    """The ``at``-quantile: half of all people are below the 0.5-quantile, as near as bins tell.

    It lies from ``lower`` to ``upper``, the ends of two bins, at least as often as was asked;
    ``value`` is interpolated inside its bin. ``first`` and ``last`` say that the first or the last
    bin may be the one.
    """

    at: float
    value: float
    lower: float
    upper: float
    first: bool
    last: bool


def quantile_rows(
    at: Sequence[float], cuts: Sequence[float], values: Floats, limits: Interval, people: int
) -> list[QuantileRow]:
    """The quantiles, from how many people are below each inner cut point: estimated ``values``, and
    ``limits`` of each by itself.

    The bin of a quantile is the first one with at least a share ``at`` of the people below its
    upper end. If the upper limit there is not missed, no bin before it is left out: the interval
    begins with the first bin whose upper limit reaches that many people. If the lower limit at its
    lower end is not missed, no bin after it is: the interval ends with the last bin at whose lower
    end the lower limit does not reach them. Which bin it is depends on the data and not on the
    noise, so each side is missed as often as one limit is, at most.
    """
    ends = np.asarray(cuts, dtype=np.float64)
    lower = np.concatenate([[0.0], limits.lower])
    upper = np.concatenate([limits.upper, [float(people)]])
    rows = []
    for share, inside in zip(at, quantiles_of(at, cuts, values, people), strict=True):
        wanted = share * people
        first, last = int(np.argmax(upper >= wanted)), int(np.flatnonzero(lower < wanted)[-1])
        rows.append(
            QuantileRow(share, inside, float(ends[first]), float(ends[last + 1]), first == 0, last == len(ends) - 2)
        )
    return rows


def quantiles_of(at: Sequence[float], cuts: Sequence[float], values: Floats, people: int) -> list[float]:
    """The point estimates alone. The ``values`` are made monotone: half-way between the largest so
    far and the smallest from there on. So no quantile rises where some of the values do.
    """
    ends = np.asarray(cuts, dtype=np.float64)
    rising = (np.maximum.accumulate(values) + np.minimum.accumulate(values[::-1])[::-1]) / 2.0
    smooth = np.concatenate([[0.0], np.clip(rising, 0.0, people), [float(people)]])
    found = []
    for share in at:
        wanted = share * people
        place = int(np.argmax(smooth[1:] >= wanted))
        below, above = smooth[place], smooth[place + 1]
        value = ends[place] + (ends[place + 1] - ends[place]) * (wanted - below) / (above - below)
        found.append(float(min(max(value, ends[place]), ends[place + 1])))
    return found
