"""Binary randomized response on explicit datasets and on all of them, in balls.

A report is wrong with probability p = 1/(E + 1), E = e^epsilon0. With z of the others holding 0 and
j holding 1, the number of ones among their reports is S = Bin(z, p) + Bin(j, 1 - p), and with x =
e^eps, A = E - x, B = x E - 1, the target's values being 0 and 1 in this order,

    delta = p max over t of f(t),     f(t) = A P(S <= t) - B P(S <= t - 1),

because S is log-concave: the differences of f change their sign once. They do where the law of S,
tilted by (A/B)^y, has its mode, and the mode of a sum of independent coins is less than 1 away from
the mean (Darroch 1964). f(t) is the coefficient of z^t in E z^S (A - B z) / (1 - z), and so the
mean over L roots of unity on a circle of radius e^-c < 1, but for the aliases f(t + m L) e^(-c m
L): f is 0 below 0, and |f(y)| <= B P(S <= y) <= B E e^(a (y - S)) for every a >= 0.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

from flint import acb, arb

from shuffledp.literature.exact.balls.ball import ball, between, midpoint, positive_part, precision
from shuffledp.literature.exact.balls.line import complex_power

__all__ = ["TwoValues"]

ALLOWED = 60.0  # what is left out is about e^-60 of the answer
PIECES, TRIED = 4000, 65
# Where aliases are bounded: shares of c, and deviations above it.
LEFT, RIGHT = (0.0, 0.25, 0.5, 0.75, 0.9), (0.5, 1.0, 2.0, 4.0, 8.0, 12.0)


@dataclass(frozen=True, eq=False)
class TwoValues:
    """n users of binary randomized response."""

    epsilon0: float
    n: int

    def dataset(self, zeros: int, ones: int, eps: float | arb) -> arb:
        """A ball that holds delta, for the target's values 0 and 1 in this order.

        >>> with precision(128):
        ...     abs(TwoValues(math.log(3.0), 2).dataset(1, 0, 0.0) - 0.375) < 1e-15
        True
        """
        growth, x = ball(self.epsilon0).exp(), ball(eps).exp()
        gain, loss = growth - x, x * growth - 1
        if not gain > 0:
            return positive_part(gain) / (growth + 1)
        p, q = 1 / (growth + 1), growth / (growth + 1)
        natural = (loss / gain).log()
        mean, _ = _moments(p, q, zeros, ones, natural)
        first, last = math.floor(midpoint(mean.lower())) - 1, math.ceil(midpoint(mean.upper())) + 1
        candidates = [t for t in range(max(first, 0), last + 1) if abs(mean - t) < 1 or not abs(mean - t) >= 1]
        with precision(64):
            deviation = math.sqrt(max(midpoint(p * q * (zeros + ones)), 0.25))
            c = arb(max(midpoint(natural), 2.5 / deviation))
        found = [self._coefficient(zeros, ones, t, c, p, q, gain, loss) for t in candidates]
        most = found[0]
        for each in found[1:]:
            most = most.max(each)
        return positive_part(p * most)

    @staticmethod
    def _coefficient(zeros: int, ones: int, t: int, c: arb, p: arb, q: arb, gain: arb, loss: arb) -> arb:
        """f(t)."""

        def log_mean(tilt: arb) -> arb:
            small = (-tilt).expm1()
            return zeros * (p * small).log1p() + ones * (q * small).log1p()

        scale = (log_mean(c) + c * t).exp()
        _, variance = _moments(p, q, zeros, ones, c)
        spread = math.sqrt(midpoint(variance))
        with precision(64):
            usual = midpoint(log_mean(c) + c * t)
            sides = []
            for tilts in ([c * share for share in LEFT], [c + step / max(spread, 0.1) for step in RIGHT]):
                reached = []
                for tilt in tilts:
                    size = midpoint(log_mean(tilt) + tilt * t) - usual
                    reached.append(((ALLOWED + max(size, 0.0)) / midpoint(abs(tilt - c)), tilt.mid()))
                sides.append(min(reached, key=lambda each: each[0]))
            period = math.ceil(max(sides[0][0], min(sides[1][0], t + 1.0), 2.0))
        alias = arb(0)
        for _, tilt in sides[: 1 + (period <= t)]:
            ratio = (-abs(tilt - c) * period).exp()
            alias += loss * (log_mean(tilt) + tilt * t).exp() * ratio / (1 - ratio)
        total, passed = arb(0), arb(0)
        radius = (-c).exp()
        for place in range(period // 2 + 1):
            angle = arb(2 * place) / period
            decay = (-variance * 2 * (angle / 2).sin_pi() ** 2).exp()
            if decay < math.exp(-ALLOWED) / (1.0 + period):
                passed = decay * (gain + loss) / (1 - radius) * scale
                break
            z = radius * (acb(0, 1) * arb.pi() * angle).exp()
            power = _power(q + p * z, q + p * radius, zeros) * _power(p + q * z, p + q * radius, ones)
            turn = (acb(0, -1) * arb.pi() * angle * t).exp()
            weight = 1 if place == 0 or 2 * place == period else 2
            total += weight * (power * turn * (gain - loss * z) / (1 - z)).real
        middle = scale * total / period
        error = (alias + passed).upper()
        return between(middle - error, middle + error)

    def at_most(self, eps: float, claim: float) -> arb:
        """An upper end of delta over all datasets and both orders of the target's values: blocks of
        datasets, halved until the largest is at most ``claim``, or nothing is left to halve.

        Without a user the view only says more, so that from j to k ones among n - 1 others
        nothing leaks more than with j ones and n - 1 - k zeros. Exchanging 0 and 1 turns one order
        into the other.
        """
        blocks = [(-self.dataset(0, 0, eps).upper(), 0, self.n - 1)]
        for _ in range(PIECES):
            bound, first, last = blocks[0]
            if first == last or -bound <= claim:
                break
            heapq.heappop(blocks)
            middle = (first + last) // 2
            for low, high in ((first, middle), (middle + 1, last)):
                heapq.heappush(blocks, (-self.dataset(self.n - 1 - high, low, eps).upper(), low, high))
        return -blocks[0][0]

    def at_least(self, eps: float, likely: int | None = None) -> tuple[arb, int]:
        """The largest lower end of some datasets, and the ones of the dataset that has it; one of
        them is ``likely`` ones.
        """
        tried = {round((self.n - 1) * place / (TRIED - 1)) for place in range(TRIED)} if likely is None else {likely}
        found = [(self.dataset(self.n - 1 - ones, ones, eps).lower(), ones) for ones in sorted(tried)]
        return max(found, key=lambda each: (midpoint(each[0]), each[1]))


def _moments(p: arb, q: arb, zeros: int, ones: int, c: arb) -> tuple[arb, arb]:
    """Mean and variance of S under the tilt e^(-c y)."""
    down = (-c).exp()
    few, many = p * down / (q + p * down), q * down / (p + q * down)
    return zeros * few + ones * many, zeros * few * (1 - few) + ones * many * (1 - many)


def _power(value: acb, size: arb, n: int) -> acb:
    """(value / size)^n."""
    return acb(1) if n == 0 else complex_power(value / size, n)
