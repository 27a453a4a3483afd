"""Several messages of everybody, for any number of people: one round's delta by plain sums over
what is seen, from the numbers that a law is written with.

Floating point throughout: binomial and Poisson probabilities as scipy has them, sums of positive
terms, and one subtraction per view; ``ROUNDED`` is more than all roundings together, relatively.
What a window leaves out is below ``OUTSIDE``. Where the theorem itself pays for a distance (a table
that is cut, shares that are mixed), so do both ends.

*Fakes.* Of the fakes t are of one of two values, each as likely of either; so delta is the mean of
b(t, j-1) - (e^eps - 1) P(B >= j) over t, with B a binomial number of t fair coins, b its
probabilities, and j the least above (t + 1) / (1 + e^-eps).

*Shares.* m - 1 permutations of n points leave C components, and E q^C is the sum over all ways to
give q colors n_1 + ... + n_q = n points of binom(n; n_1, ..., n_q)^(2-m): a coloring in which
every component has one color is counted q^C times, and permutations keep a given one with
probability 1 / binom(n; ...). One color for all gives q; the others are bounded by how many points
r do not have the commonest color.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import betainc
from scipy.stats import binom, nbinom, poisson

from shuffledp.judge.lattice import Array, TooLarge

__all__ = ["MessageSums", "colorings_excess"]

ROUNDED, CANCELED, OUTSIDE = 1e-9, 1e-12, 1e-30
WORD = 2**64
MOST_VIEWS = 1 << 26
MOST_OUTSIDE = 60  # points that do not have the commonest color; more are rarer still

Curve = Callable[[float], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class MessageSums:
    """One round: ``there`` and ``back`` are delta of the pair that the theorem is about, in both
    orders, between two ends; ``epsilon0`` is from where on it is 0.
    """

    there: Curve
    back: Curve
    epsilon0: float = math.inf

    @classmethod
    def of(cls, law: Mapping[str, Any], people: int) -> MessageSums:
        """From a law as it is written: its name, its parameters, and its ``integers``. TooLarge if
        there is no sum for it here.
        """
        integers = [int(each) for each in law["integers"]]
        match law["randomizer"]:
            case "fakes" if law.get("kind", "bernoulli") == "bernoulli" and integers[0] == 0:
                return _alike(_fakes(law["k"], people * law["slots"], integers[1] / WORD))
            case "dummies":
                return _dummies(law, integers)
            case "signed":
                return _signed(law, integers[0] / WORD, people)
            case "split":
                return _split(law, integers[0] / WORD, people)
        raise TooLarge("this law has no sum of its own here")

    def deltas(self, epsilons: Array, check: Callable[[], None] = lambda: None) -> tuple[Array, Array]:
        """Both ends of the larger order, at every epsilon; ``check`` is called before each, and may
        stop them.
        """
        found, curves = [], dict.fromkeys((self.there, self.back))  # once, where the orders are alike
        for eps in epsilons:
            check()
            found.append([curve(float(eps)) for curve in curves])
        low, high = np.array(found).max(axis=1).T
        inside = np.asarray(epsilons) < self.epsilon0
        return np.where(inside, low, 0.0), np.where(inside, high, 0.0)


def _alike(curve: Curve) -> MessageSums:
    return MessageSums(curve, curve)


def _around(
    value: float, size: float = 0.0, distance: float = 0.0, eps: float = 0.0, *, mixed: float = 0.0
) -> tuple[float, float]:
    """Both ends of a sum of differences whose terms add up to ``size``, and of what is as far from
    it as ``distance``; the sum of all shares is no farther, and what is ``mixed`` may show more.
    """
    off, growth = ROUNDED * value + CANCELED * size + OUTSIDE, 1.0 + math.exp(min(eps, 700.0))
    return max(value - off - growth * distance, 0.0), min(value + off + growth * (distance + mixed), 1.0)


def _window(mean: float, deviation: float, most: int) -> Array:
    reach = 14.0 * deviation + 70.0
    low, high = max(math.floor(mean - reach), 0), min(math.ceil(mean + reach), most)
    if high - low > MOST_VIEWS:
        raise TooLarge(f"{high - low} counts are needed")
    return np.arange(float(low), high + 1.0)


def _fakes(k: int, slots: int, chance: float) -> Curve:
    named = 2.0 * chance / k
    t = _window(slots * named, math.sqrt(slots * named * (1.0 - named)), slots)
    weight = binom.pmf(t, slots, named)

    def delta(eps: float) -> tuple[float, float]:
        j = np.floor((t + 1.0) / (1.0 + math.exp(-eps))) + 1.0
        edge = binom.pmf(j - 1.0, t, 0.5)
        beyond = np.where(j <= t, betainc(j, np.maximum(t - j + 1.0, 1.0), 0.5), 0.0)
        return _around(float(weight @ np.maximum(edge - math.expm1(eps) * beyond, 0.0)))

    return delta


def _dummies(law: Mapping[str, Any], integers: list[int]) -> MessageSums:
    """All pairs of counts. Reports that were randomized before: all k counts show less than two of
    them with the other values' share left out, and more than these two.
    """
    light, kept, _, *weights = integers
    keep, z = kept / WORD, np.append(np.array(weights) / WORD, 0.0)
    h = keep * np.append(0.0, z[:-1]) + (1.0 - keep) * z
    if z.size**2 > MOST_VIEWS:
        raise TooLarge(f"{z.size} counts of a value are needed")
    k, noise = law["k"], light / WORD
    p, q = 1.0 - noise + noise / k, noise / k

    def delta(eps: float) -> tuple[float, float]:
        x = math.exp(min(eps, 700.0))
        both = (p - x * q) * np.outer(h, z) - (x * p - q) * np.outer(z, h)
        least = np.maximum(both - (x - 1.0) * q * (k - 2) * np.outer(z, z), 0.0).sum() if light else 0.0
        most = float(np.maximum(both, 0.0).sum())
        return _around(float(least) if light else most)[0], _around(most)[1]

    return MessageSums(delta, delta, math.log(p / q) if light else math.inf)


def _signed(law: Mapping[str, Any], q: float, people: int) -> MessageSums:
    """All numbers of +1 and of -1, by min(a, b) and a - b."""
    honest = law["honest"]
    if people < honest:
        raise TooLarge("the noise of fewer people than it was meant for has no closed form")
    mean = law["pairs"] * people / honest
    m = np.arange(0.0, _window(mean, math.sqrt(mean), WORD)[-1] + 1.0)
    reach = math.ceil(-75.0 / math.log(q))
    if m.size * reach > MOST_VIEWS:
        raise TooLarge(f"{m.size * reach} views are needed")
    # U(m) = sum over j of q^(2j) P(F = m - j)
    u = np.convolve(poisson.pmf(m, mean), q ** (2.0 * np.arange(float(reach))))
    spread = (1.0 - q) ** 2 * q ** np.arange(reach + 1.0)
    missing = people * _too_many(law, q)

    def without(d: int) -> Array:
        """W(a, a + d) for all a."""
        return np.append(spread[d] * u, 0.0)

    def more(d: int) -> Array:
        """W(a - 1, a + d) for all a: what one more +1 makes of W(a, a + d)."""
        return np.append(0.0, spread[d + 1] * u)

    def delta(eps: float, turned: bool) -> tuple[float, float]:
        x, total, size = math.exp(min(eps, 700.0)), 0.0, 0.0
        for d in range(reach):
            # a <= b = a + d; and a = b + d + 1 > b, where one more makes W(b + d, b) of it
            pairs = (more(d), without(d)), (without(d), without(d + 1))
            for with_it, without_it in pairs:
                first, second = (without_it, with_it) if turned else (with_it, without_it)
                gains = first > x * second
                gained, cost = float(first[gains].sum()), x * float(second[gains].sum())
                total, size = total + gained - cost, size + gained
        return _around(max(total, 0.0), size, missing, eps)

    return MessageSums(lambda eps: delta(eps, False), lambda eps: delta(eps, True))


def _too_many(law: Mapping[str, Any], q: float) -> float:
    """The probability that a person draws more than there is room for."""
    room, honest = law["messages"] - 1, law["honest"]
    j = np.arange(4 * room + 200)
    noise = nbinom.pmf(j, 1.0 / honest, 1.0 - q)
    pairs = np.zeros(j.size)
    pairs[::2] = poisson.pmf(np.arange(math.ceil(j.size / 2)), law["pairs"] / honest)
    total = np.convolve(np.convolve(noise, noise)[: j.size], pairs)[: j.size]
    return float(total[room + 1 :].sum())


def _split(law: Mapping[str, Any], q: float, people: int) -> MessageSums:
    """Noise that moves by k - 1 steps: j <= 0 and j >= k - 1 are one view each."""
    honest, shift = law["honest"], law["k"] - 1
    if people < honest:
        raise TooLarge("the noise of fewer people than it was meant for has no closed form")
    if shift > MOST_VIEWS:
        raise TooLarge(f"{shift} steps are needed")
    # From the exact ratio: 1 - q may be small.
    step = -math.log1p(-(WORD - round(q * WORD)) / WORD) if q > 0.5 else -math.log(q)
    j = np.arange(1.0, shift)
    norm = 1.0 + q
    first = np.concatenate([[1.0], -np.expm1(-step) * np.exp(-step * j), [math.exp(-step * shift)]]) / norm
    second = first[::-1]
    beyond = float(nbinom.sf(law["reach"], 1.0 / honest, 1.0 - q))
    distance = people * 2.0 * beyond
    excess = colorings_excess(people, law["messages"] - 1, 2 ** law["share_bits"])
    mixed = 0.5 * math.sqrt(excess)

    def delta(eps: float) -> tuple[float, float]:
        x = math.exp(min(eps, 700.0))
        gains = np.maximum(first - x * second, 0.0)
        return _around(float(gains.sum()), float(first[gains > 0.0].sum()), distance, eps, mixed=mixed)

    return _alike(delta)


@cache
def colorings_excess(points: int, permutations: int, colors: int) -> float:
    """E q^(C-1) - 1, nearly: exact in its first term, with one point outside, and above the truth
    in the others up to ``MOST_OUTSIDE``.

    >>> colorings_excess(100, 4, 3)  # nearly (3 - 1) / 100^3
    2.0e-06
    """
    r = np.arange(1.0, min(MOST_OUTSIDE, points // 2) + 1.0)
    ways = np.cumsum(np.log((colors - 2.0 + r) / r))  # of r points to have one of the other colors
    places = np.cumsum(np.log((points - r + 1.0) / r))
    logs = ways - (permutations - 1) * places
    top = float(logs.max())
    if r.size > 2 and logs[-1] > logs[0]:
        return math.inf
    return float(math.exp(min(top, 700.0)) * np.exp(logs - top).sum())
