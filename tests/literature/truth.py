"""Exact answers for many epsilons at once: the laws of a case are built one time, and every
divergence is then read off their tails.

A pair (P, Q) of neighbouring laws becomes the suffix sums of P and Q in the order of the loss
log(P/Q), because delta(eps) = P(loss > eps) - e^eps Q(loss > eps). `judge.hockey_stick` on the same
laws is the check (test_truth.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from shuffledp.judge import blanket, neighbouring_laws, shuffled_law

Array = NDArray[np.float64]
Laws = tuple[Array, Array]

ROUNDING = 1e-12  # relative to the tail mass: what building a law and summing its tail may be off by
FAR_ROUNDING = 1e-8  # the same for logarithms, whose last digits are fewer the larger they are
TINY = 1e-290  # below it a product of probabilities has underflowed somewhere, and ratios mean nothing
NEGLIGIBLE = 1e-25  # cells that a lower reference may leave out
UNDERFLOW = 1e-280  # more than all that is lost that way


class Tail:
    """One ordered pair of laws, ready to be asked for delta at any epsilon."""

    def __init__(self, P: Array, Q: Array) -> None:
        seen = P > TINY
        p, q = P[seen], Q[seen]
        with np.errstate(divide="ignore"):
            losses = np.log(p) - np.log(q)
        order = np.argsort(losses, kind="stable")
        self.losses: Array = losses[order]
        self.p: Array = np.append(np.cumsum(p[order][::-1])[::-1], 0.0)
        self.q: Array = np.append(np.cumsum(q[order][::-1])[::-1], 0.0)

    def delta(self, epsilons: Array) -> tuple[Array, Array]:
        """delta and the mass of the tail that it was read from, which says how much rounding there
        can be. At an infinite epsilon it is the mass of infinite losses.
        """
        at = np.searchsorted(self.losses, np.minimum(epsilons, np.finfo(np.float64).max), side="right")
        with np.errstate(invalid="ignore", over="ignore"):
            paid = np.where(self.q[at] > 0.0, np.exp(epsilons) * self.q[at], 0.0)
        return np.maximum(self.p[at] - paid, 0.0), self.p[at]


class Worst:
    """The largest delta over many pairs of laws.

    ``low`` is at most the truth: it looks only at the pairs that win somewhere on a grid of
    epsilons (all others lose nearly everywhere), and takes off what rounding may have added.
    ``high`` is at least the truth; it looks at every pair.
    """

    def __init__(self, pairs: Iterable[Laws], epsilons: Array, *, keep: bool) -> None:
        best = np.zeros(len(epsilons))
        winners: list[tuple[Tail, Array]] = []
        self.every: list[Tail] = []
        for P, Q in pairs:
            tail = Tail(P, Q)
            if keep:
                self.every.append(tail)
            found, _ = tail.delta(epsilons)
            if np.any(found > best * (1.0 + 1e-9)):
                best = np.maximum(best, found)
                winners = [(old, curve) for old, curve in winners if np.any(curve >= best)] + [(tail, found)]
        self.winners = [tail for tail, _ in winners]

    def low(self, epsilons: Array) -> Array:
        """At most the largest delta, at every epsilon."""
        curves = [
            np.maximum(delta - ROUNDING * mass, 0.0) for delta, mass in (tail.delta(epsilons) for tail in self.winners)
        ]
        return reduce(np.maximum, curves, np.zeros(len(epsilons)))

    def log_low(self, epsilons: Array) -> Array:
        """The logarithm of ``low``, and minus infinity where that is 0 or has no digits."""
        low = self.low(epsilons)
        with np.errstate(divide="ignore"):
            return np.log(np.where(low > TINY, low, 0.0))

    def high(self, epsilons: Array) -> Array:
        """At least the largest delta, at every epsilon."""
        curves = [delta + ROUNDING * mass + UNDERFLOW for delta, mass in (tail.delta(epsilons) for tail in self.every)]
        return reduce(np.maximum, curves, np.zeros(len(epsilons)))


class Far:
    """Binary randomized response when all others hold 0, in one round or two, with probabilities as
    logarithms: tails far below what a double holds. Or, with ``ones``, any report of two outputs:
    the chances of output 1 from those who hold 0, and from one who holds 1.

    A lower reference, like ``Worst.low``: one dataset, both orders.
    """

    def __init__(self, n: int, epsilon0: float, rounds: int, *, ones: tuple[float, float] | None = None) -> None:
        if rounds not in (1, 2):
            raise ValueError(f"one round or two, got {rounds}")
        truth, lie = -math.log1p(math.exp(-epsilon0)), -math.log1p(math.exp(epsilon0))
        quiet, loud = lie, truth
        if ones is not None:
            (truth, lie), (quiet, loud) = ((math.log1p(-each), math.log(each)) for each in ones)
        count = np.arange(n, dtype=np.float64)
        others = gammaln(n) - gammaln(count + 1.0) - gammaln(n - count) + count * lie + (n - 1.0 - count) * truth
        zero, one = np.append(others, -math.inf), np.insert(others, 0, -math.inf)
        P, Q = np.logaddexp(truth + zero, lie + one), np.logaddexp(quiet + zero, loud + one)
        self.rounds = rounds
        self.orders = [self._tails(P, Q), self._tails(Q, P)]

    @staticmethod
    def _tails(P: Array, Q: Array) -> tuple[Array, Array, Array, Array, Array]:
        order = np.argsort(P - Q, kind="stable")
        p, q = P[order], Q[order]
        tails = [np.append(np.logaddexp.accumulate(law[::-1])[::-1], -math.inf) for law in (p, q)]
        return p - q, p, q, *tails

    def log_low(self, epsilons: Array) -> Array:
        """At most the logarithm of the larger of both orders' delta; minus infinity where rounding
        could be all of it.
        """
        return np.maximum(*(self._log_delta(*order, epsilons) for order in self.orders))

    def _log_delta(self, losses: Array, p: Array, q: Array, P: Array, Q: Array, epsilons: Array) -> Array:
        if self.rounds == 1:
            at = np.searchsorted(losses, epsilons, side="right")
            above, below = P[at], Q[at]
        else:  # the second round's loss must exceed what the first one left over
            at = np.searchsorted(losses, epsilons[:, None] - losses, side="right")
            above, below = logsumexp(p + P[at], axis=1), logsumexp(q + Q[at], axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = -np.expm1(epsilons + below - above) - FAR_ROUNDING
            return np.where(share > 0.0, above + np.log(np.maximum(share, 0.0)), -math.inf)


def all_datasets(rows: Array, n: int, *, rounds: int = 1, symmetric: bool = False) -> Iterator[Laws]:
    """Every ordered pair of neighboring datasets; ``symmetric``: any two inputs can be renamed
    into 0 and 1, so one pair of inputs is enough.
    """
    for laws in neighbouring_laws(rows, n):
        chosen = laws[:2] if symmetric else laws
        products = [reduce(lambda P, Q: np.multiply.outer(P, Q).ravel(), [law] * rounds) for law in chosen]
        yield from [(products[0], products[1])] if symmetric else permutations(products, 2)


def blanket_views(rows: Array, n: int, *, strong: bool, rounds: int = 1, symmetric: bool = False) -> Iterator[Laws]:
    """What the weak adversary sees, and the strong one: others who did not take the blanket count
    as one more output, "absent".

    The strong adversary sees two tables side by side: the target took the blanket, or sent its
    data-dependent part.
    """
    gamma, omega, nu = blanket(rows)
    hay = np.append(gamma * omega, 1.0 - gamma)

    def view(needle: Array) -> Array:
        return np.fromiter(shuffled_law([hay, np.append(needle, 0.0)], [0] * (n - 1) + [1]).values(), dtype=np.float64)

    laws = (
        [np.concatenate([gamma * view(omega), (1.0 - gamma) * view(part)]) for part in nu]
        if strong
        else [view(row) for row in rows]
    )
    powers = [
        reduce(lambda P, Q: np.multiply.outer(P, Q).ravel(), [law] * rounds)
        for law in (laws[:2] if symmetric else laws)
    ]
    yield from [(powers[0], powers[1])] if symmetric else permutations(powers, 2)


def binomial(trials: int, p: float) -> Array:
    """Bin(trials, p), by the ratios of neighbouring terms from the mode outwards: positive factors
    only, so tails keep their digits.

    Terms below about 1e-300 are zero: denormal numbers have few digits, and are slow.
    """
    mode = min(int((trials + 1) * p), trials)
    width = int(40.0 * math.sqrt(trials * p * (1.0 - p))) + 200
    low, high = max(mode - width, 0), min(mode + width, trials)
    i = np.arange(low, high, dtype=np.float64)
    up = (trials - i) / (i + 1.0) * (p / (1.0 - p))  # from i to i + 1
    law = np.zeros(trials + 1)
    law[low : high + 1] = np.concatenate(
        [np.cumprod(1.0 / up[: mode - low][::-1])[::-1], [1.0], np.cumprod(up[mode - low :])]
    )
    law[law < 1e-300] = 0.0
    return law / law.sum()


def binary_others(n: int, epsilon0: float, ones: int) -> Array:
    """The number of reported ones among n - 1 users of binary randomized response, of whom ``ones``
    hold a one.
    """
    lie = 1.0 / (math.exp(epsilon0) + 1.0)
    return np.convolve(binomial(ones, 1.0 - lie), binomial(n - 1 - ones, lie))


def binary_datasets(n: int, epsilon0: float, *, rounds: int = 1, ones: Iterable[int] | None = None) -> Iterator[Laws]:
    """Binary randomized response: the count of ones is all there is. Half of the datasets in both
    orders are all of them (exchange 0 and 1).
    """
    truth, lie = (math.exp(epsilon0) / (math.exp(epsilon0) + 1.0), 1.0 / (math.exp(epsilon0) + 1.0))
    for j in range((n - 1) // 2 + 1) if ones is None else ones:
        others = binary_others(n, epsilon0, j)
        zero, one = np.append(others, 0.0), np.insert(others, 0, 0.0)  # the target's report is 0, or 1
        P, Q = truth * zero + lie * one, lie * zero + truth * one
        kept = np.minimum(P, Q) > (TINY if ones is None or rounds == 1 else NEGLIGIBLE)
        products = [reduce(lambda A, B: np.multiply.outer(A, B).ravel(), [law[kept]] * rounds) for law in (P, Q)]
        yield from permutations(products, 2)


def all_others_hold(n: int, hay: Array, needle0: Array, needle1: Array, *, deviations: float = 9.0) -> Iterator[Laws]:
    """Three classes of outputs, and n - 1 users who all send a report with law ``hay``: the counts
    of the first two classes, cut to where the mass is.

    Only cells whose three predecessors are in the table are kept, so both laws are exact in every
    cell that is.
    """

    def window(trials: int, p: float) -> tuple[int, int]:
        width = deviations * math.sqrt(trials * p * (1.0 - p)) + deviations
        return max(0, int(trials * p - width)), min(trials, int(trials * p + width) + 1)

    low, high = window(n - 1, hay[0])
    first = binomial(n - 1, hay[0])
    start, stop = window(n - 1, hay[1])
    table = np.zeros((high - low + 1, stop - start + 1))
    for a in range(low, high + 1):
        row = binomial(n - 1 - a, hay[1] / (hay[1] + hay[2]))[start : stop + 1]
        table[a - low, : len(row)] = first[a] * row
    table = np.pad(
        table, ((1 if low == 0 else 0, 1 if high == n - 1 else 0), (1 if start == 0 else 0, 1 if stop == n - 1 else 0))
    )  # counts -1 and n: impossible
    stay, left, below = table[1:, 1:], table[:-1, 1:], table[1:, :-1]
    P, Q = ((needle[0] * left + needle[1] * below + needle[2] * stay).ravel() for needle in (needle0, needle1))
    kept = (P > TINY) & (Q > TINY)
    yield from permutations((P[kept], Q[kept]), 2)
