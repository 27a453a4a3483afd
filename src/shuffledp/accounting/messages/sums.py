"""Counts and sums with shared noise: messages +1 and -1, and shares that add up to a value.

*Noise in shares.* NB(t, q) has the law P(j) = Gamma(t + j) / (Gamma(t) j!) (1 - q)^t q^j and the
generating function ((1 - q) / (1 - qz))^t: sums of such numbers are such numbers, the t adding up.
So people whose t add up to 1 draw together a geometric number, and the difference of two of those
has the law (1 - q) / (1 + q) q^|j|, the discrete Laplace noise of a trusted curator (Ghazi et al.
2021; Balle et al. 2020).

*Counts by messages +1 and -1* (Ghazi et al. 2021). Holders send +1. Each person adds shares of two
noises N+ and N- of the law NB(t, q), as so many +1 and -1, and pairs (+1, -1), F in all: a negative
binomial number, or its limit, a Poisson number. Seen are the numbers of +1 and of -1, and a
person's value moves the first: W(a, b) = P(N+ + F = a, N- + F = b) against W(a - 1, b).

*t = 1.* Both noises are geometric, and W(a, b) = (1-q)^2 q^|a-b| U(min(a, b)), U(m) = q^2 U(m-1) +
P(F = m). So W(a-1, b) / W(a, b) is 1/q wherever a > b, and q U(a-1) / U(a) wherever a <= b, where
the sum over b of W is (1-q) U(a): one line of atoms is the whole pair.

*Another t*, where fewer or more honest people came than the noise was meant for: W is added up
along every diagonal a - b.

*Sums by shares: what is seen beyond the sum* (Balle et al. 2020). Each of n honest people splits a
value of Z_q into m shares, uniform but for their sum, and all shares are mixed. Write C for the
number of components of the graph on n points that m - 1 independent, uniformly random permutations
draw (an edge from every point to its image), and

    tau = 1/2 sqrt( E q^(C-1) - 1 ) .

**Theorem.** For every sum there is a law that does not depend on the values beyond it, and of which
the view of any values with this sum is within total variation tau. So if the sum alone keeps
(eps, delta), the view keeps (eps, delta + (1 + e^eps) tau).

*Proof.* Show more: the last share u_i of everybody, in order; and of the others those with the same
number mixed by themselves. Y_i = x_i - u_i is uniform, and so are all n (m-1) other shares v,
whatever the m - 1 permutations are. So given v, Y is a function of v and of permutations that are
uniform. Two such draws agree with probability E q^(C-n): their difference takes v to sums along the
edges of a graph with C components, and its image has q^(n-C) elements. So the law of Y given v has
a mean chi-square distance E q^(C-1) - 1 from the uniform law on vectors with the sum of v, hence a
mean total variation of at most tau. Replace Y by such a vector: u = x - Y is then uniform given its
sum, which is that of x less that of v. QED

E q^(C-1) = B_n from above: the component of point 1 has s points with probability at most
(s/n) binom(n, s)^(2-m), and the others draw their own graph. So B_n <= 1 + q sum over k = n - s < n
of (n-k)/n binom(n, k)^(2-m) B_k. It is added up to n = ``SMALL``; beyond, B_k stays below the
constant b that solves the same inequality there, because all its terms fall with n.

*What a sum with discrete Laplace noise gives away of a value that moves it by ``shift``.*

The noise is a difference of two numbers of the law NB(t, q). If its law f is symmetric and falls on
both sides of 0, the largest shift gives away most: (f(j) - x f(j - d))_+ is 0 for 2j >= d, and else
|j - d| > |j| grows with d.

*t = 1*: f(j) = (1-q) / (1+q) q^|j|, and f(j) > x f(j - d) up to some j = i < d/2. With lambda =
-log q,

    (1+q) delta(eps) = (1 - e^(eps - lambda (d - i))) + q (1 - q^i) ,     i >= 0 .
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import gammaln

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.haystack.powers import log_sum
from shuffledp.accounting.inversion import halve, whole
from shuffledp.accounting.messages.fakes import DiscretePair
from shuffledp.errors import InvalidInput

MOST_VALUES = 1 << 21
OUTSIDE = 1e-30  # the probability of what is left out of a law, and counts as seen


def reach(t: float, ratio: float, outside: float) -> int:
    """A number that NB(t, ratio) exceeds with probability at most ``outside``.

    Chernoff: P(N >= m) <= E s^(N - m) = ((1 - q) / (1 - qs))^t s^-m for every s < 1/q; at the best
    one qs = m / (m + t).
    """
    high = 1
    while _log_tail(t, ratio, high) > math.log(outside):
        high *= 2
    return _checked(halve(lambda m: _log_tail(t, ratio, m) <= math.log(outside), high, high // 2, middle=whole)[0])


def _checked(values: int) -> int:
    if values > MOST_VALUES:
        raise InvalidInput(
            f"noise must range over at most {MOST_VALUES:,} values, got {values:,}. Ask for a coarser grid."
        )
    return values


def _log_tail(t: float, ratio: float, m: int) -> float:
    if m * (1.0 - ratio) <= t * ratio:  # not above the mean
        return 0.0
    share = m / (m + t)
    return t * (math.log1p(-ratio) - math.log(t / (m + t))) - m * math.log(share / ratio)


def negative_binomial(t: float, ratio: float, most: int) -> tuple[Floats, float]:
    """The probabilities of 0 to ``most``, and how far each may be off, relatively."""
    j = np.arange(most + 1.0)
    logs = gammaln(t + j) - gammaln(t) - gammaln(j + 1.0) + t * math.log1p(-ratio) + j * math.log(ratio)
    size = (
        2.0 * float(gammaln(t + most + 2.0)) + abs(float(gammaln(t))) + t * -math.log1p(-ratio) - most * math.log(ratio)
    )
    return np.exp(logs), 8.0 * UNIT * (size + 16.0)


def poisson_reach(mean: float, outside: float) -> int:
    """A number that a Poisson number exceeds with probability at most ``outside``.

    Chernoff: P(N >= mean + t) <= e^(-t^2 / (2 (mean + t/3))).
    """
    log = -math.log(outside)
    return _checked(math.ceil(mean + log / 3.0 + math.sqrt(log * log / 9.0 + 2.0 * mean * log)) + 1)


def poisson(mean: float, most: int) -> tuple[Floats, float]:
    """The probabilities of 0 to ``most``, and how far each may be off, relatively."""
    j = np.arange(most + 1.0)
    logs = j * math.log(mean) - mean - gammaln(j + 1.0)
    return np.exp(logs), 8.0 * UNIT * (float(gammaln(most + 2.0)) + most * abs(math.log(mean)) + mean + 16.0)


MOST_TERMS = 1e9  # products that are added up where there is no closed form: a second
NAME = "one person's value moves the number of +1"


class Pairs(NamedTuple):
    """The number of pairs: negative binomial with this mean and ratio; Poisson at 0."""

    mean: float
    ratio: float = 0.0

    def law(self) -> tuple[Floats, float]:
        """The probabilities of 0, 1, ..., and how far each may be off, relatively."""
        if self.mean == 0.0:
            return np.ones(1), 0.0
        if self.ratio == 0.0:
            return poisson(self.mean, poisson_reach(self.mean, OUTSIDE))
        t = self.mean * (1.0 - self.ratio) / self.ratio
        return negative_binomial(t, self.ratio, reach(t, self.ratio, OUTSIDE))


@lru_cache(maxsize=16)
def signed_pair(t: float, ratio: float, pairs: Pairs) -> DiscretePair:
    """The numbers of +1 and -1 with the target's + 1, against those without."""
    flood, doubt = pairs.law()
    return _complete(ratio, flood, doubt) if t == 1.0 else _partial(t, ratio, flood, doubt)


def _complete(q: float, pairs: Floats, doubt: float) -> DiscretePair:
    from scipy.signal import lfilter  # slow to import, and needed for these laws only

    u = lfilter([1.0], [1.0, -q * q], pairs)  # all terms positive
    before = np.append(0.0, u[:-1])
    # Beyond the last pair U falls by q^2 at every step, and the ratio is 1/q once more.
    alike = (1.0 + q * u[-1]) / (1.0 + q)
    first = np.append((1.0 - q) * q * before, alike)
    second = np.append((1.0 - q) * u, q * alike)
    # U(m) forgets what was before it at the rate q^2, and so the rounding of q, too.
    return DiscretePair(NAME, first, second, doubt + UNIT * (16.0 + 8.0 / (1.0 - q)), 2.0 * OUTSIDE)


def _partial(t: float, q: float, pairs: Floats, doubt: float) -> DiscretePair:
    most = reach(t, q, OUTSIDE)
    if (terms := float(most) ** 2 * (pairs.size + most)) > MOST_TERMS:
        raise InvalidInput(
            f"the noise must be complete, or add up in {MOST_TERMS:.0e} terms, got {terms:.0e}. Lower honest."
        )
    noise, own = negative_binomial(t, q, most)
    padded = np.append(noise, np.zeros(most + 1))
    # diagonal[j, d] = P(N = j) P(N = j + d); W_d(m) = sum over j of P(F = m - j) diagonal[j, d]
    diagonal = noise[:, None] * sliding_window_view(padded, most + 1)[: most + 1]
    flooded = sliding_window_view(np.concatenate([np.zeros(most), pairs, np.zeros(most + 1)]), most + 1)[:, ::-1]
    w = (flooded @ diagonal).T
    apart = np.vstack([w, np.zeros((1, w.shape[1]))])
    earlier = np.hstack([np.zeros((apart.shape[0], 1)), apart[:, :-1]])
    # a > b: W_(d-1)(b) against W_d(b); a <= b: W_(d+1)(a - 1) against W_d(a).
    first = np.concatenate([apart[:-1].ravel(), earlier[1:].ravel()])
    second = np.concatenate([apart[1:].ravel(), apart[:-1].ravel()])
    return DiscretePair(NAME, first, second, doubt + 2.0 * own + UNIT * (most + 16.0 + 8.0 / (1.0 - q)), 4.0 * OUTSIDE)


SMALL = 512
ROUNDED = 1e-9  # relative, of sums of logarithms of large factorials
MOST_SHARES = 64


def mixing_distance(people: int, messages: int, modulus: int) -> float:
    """tau for so many honest ``people`` and ``messages`` of each; at most 1.

    >>> mixing_distance(10_000, 11, 1 << 32) < 2.0**-40 < mixing_distance(10_000, 10, 1 << 32)
    True
    """
    if people < 2 or messages < 3:
        return 1.0
    excess = _log_excess(people, messages - 1, modulus)
    return min(0.5 * math.exp(0.5 * min(excess, 2.0)) * (1.0 + ROUNDED), 1.0)


def least_messages(people: int, modulus: int, distance: float) -> int:
    """The least number of messages of each person that keep tau at most ``distance``.

    >>> least_messages(10_000, 1 << 32, 2.0**-40)
    11
    """
    # Points that are their own components alone leave (q-1) / n^(m-2) of the excess.
    alone = 2.0 + (2.0 * math.log(0.5 / distance) + math.log(modulus - 1)) / math.log(max(people, 2))
    for messages in range(max(math.floor(alone), 3), MOST_SHARES + 1):
        if mixing_distance(people, messages, modulus) <= distance:
            return messages
    raise InvalidInput(
        f"people must be enough to hide in {MOST_SHARES} messages of each, got {people:,}. Collect from more."
    )


def _log_excess(n: int, permutations: int, modulus: int) -> float:
    """log(B_n - 1), from above."""
    log_q = math.log(modulus)
    known = _small(permutations, log_q)
    if n <= SMALL:
        return log_q + _terms(n, permutations, known[: n - 1])

    # sum over s = n - k of (s/n) binom(n, s)^(1-p): s = 1, and at most n terms with binom(n, 2).
    def rest(points: int) -> float:
        two = math.log(points * (points - 1.0) / 2.0)
        return float(np.logaddexp(-permutations * math.log(points), math.log(points) - (permutations - 1) * two))

    first = SMALL + 1
    weights = -(permutations - 1) * _binomials(first, SMALL)[1]
    near, far = log_q + log_sum(weights + known), log_q + rest(first)
    if far >= math.log(0.5):
        return math.inf
    bound = float(np.logaddexp(0.0, near)) - math.log1p(-math.exp(far))
    return log_q + float(np.logaddexp(_terms(n, permutations, known), bound + rest(n)))


@lru_cache(maxsize=64)
def _small(permutations: int, log_q: float) -> Floats:
    """log B_1, ..., log B_SMALL, from above."""
    known = np.zeros(SMALL)
    for n in range(2, SMALL + 1):
        known[n - 1] = np.logaddexp(0.0, log_q + _terms(n, permutations, known[: n - 1]))
    return known


def _terms(n: int, permutations: int, known: Floats) -> float:
    """log of the sum over the known k >= 1 of (n-k)/n binom(n, k)^(1-p) B_k."""
    share, binomials = _binomials(n, known.size)
    return log_sum(share - (permutations - 1) * binomials + known)


@lru_cache(maxsize=2 * SMALL)
def _binomials(n: int, most: int) -> tuple[Floats, Floats]:
    """log((n-k)/n) and log binom(n, k) for k = 1, ..., most, the latter factor by factor: by
    log-gamma, large n would lose all digits.
    """
    i = np.arange(float(most))
    return np.log1p(-(i + 1.0) / n), np.cumsum(np.log((n - i) / (i + 1.0)))


MOST_CENTRAL_TERMS = 4e8  # products that are added up where there is no closed form: half a second
SUM_NAME = "one person's value moves the sum"


@dataclass(frozen=True, slots=True)
class CompleteNoise:
    """Discrete Laplace noise: ``log_ratio`` is -log q, the loss per step."""

    log_ratio: float
    shift: int

    @property
    def name(self) -> str:
        return SUM_NAME

    @property
    def ceiling(self) -> float:
        """Where delta is 0."""
        return self.log_ratio * self.shift * (1.0 + 4.0 * UNIT)

    def swapped(self) -> CompleteNoise:
        """The same: the noise is symmetric."""
        return self

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        epsilons, step = np.asarray(epsilons, dtype=np.float64), self.log_ratio
        # Any number of steps i is a test, and one beside the best is as good but for rounding.
        best = np.floor(0.5 * (self.shift - epsilons / step))
        values = np.max([self._tested(np.maximum(best + off, 0.0), epsilons) for off in (-1.0, 0.0, 1.0)], axis=0)
        error = 64.0 * UNIT * (values + (1.0 + step * self.shift + epsilons))
        inside = epsilons < self.ceiling
        lower, upper = np.maximum(values - error, 0.0), np.minimum(values + error, 1.0)
        return np.where(inside, lower, 0.0), np.where(inside, upper, 0.0)

    def _tested(self, i: Floats, epsilons: Floats) -> Floats:
        step = self.log_ratio
        gained = -np.expm1(epsilons - step * (self.shift - i)) - math.exp(-step) * np.expm1(-step * i)
        return np.asarray(gained / (1.0 + math.exp(-step)))


@lru_cache(maxsize=16)
def partial_noise(t: float, ratio: float, shift: int) -> DiscretePair:
    """The same for another t: fewer or more honest people than the noise was meant for."""
    most = reach(t, ratio, OUTSIDE)
    if (terms := float(most) ** 2) > MOST_CENTRAL_TERMS:
        raise InvalidInput(
            f"the noise must be complete, or add up in {MOST_CENTRAL_TERMS:.0e} terms, got {terms:.0e}. Lower honest."
        )
    noise, doubt = negative_binomial(t, ratio, most)
    law = np.correlate(noise, noise, "full")
    doubt = 2.0 * doubt + UNIT * (most + 16.0)
    half = law[most:]
    if not np.all(half[1:] <= half[:-1] * (1.0 + 4.0 * doubt)):
        raise AssertionError("a difference of two negative binomial numbers falls on both sides of 0")
    nothing = np.zeros(shift)
    return DiscretePair(SUM_NAME, np.append(law, nothing), np.append(nothing, law), doubt, 2.0 * OUTSIDE)
