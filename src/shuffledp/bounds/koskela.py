"""The Fourier accountant for shuffled mechanisms: Koskela, Heikkila and Honkela, arXiv 2106.00477.

Algorithm 1 and the binary randomised response are printed only in the first version (sections 2.2 and 4), the weak and strong k-RR views in the form used
here in the revision (Thms 8, 10, 11 and eq (2.4)), the clones pair in both (section 5 of the revision, Lemma 12, B.1-B.3). theory.md lists what is wrong
with them (errata 4 and 5): the pairs below follow the paper, errors included, unless their docstring says otherwise.

A pair builder returns the losses and their probabilities after the Hoeffding truncation of section 5.2. The paper's double sums are filled one row
(one value of C or B) at a time with numpy; the paper does not say how it fills them.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

__all__ = ["Pair", "WeakReading", "clones_pair", "compose", "delta", "epsilon", "feldman_pair", "krr_strong_pair", "krr_weak_pair", "place", "rr_pair"]

Floats = NDArray[np.float64]
WeakReading = Literal["independent", "multinomial", "exact"]
TAU = 1e-12  # section 5.2: the mass that each truncated sum may lose, added to delta afterwards
CHUNK = 1 << 20


class Pair(NamedTuple):
    """A privacy loss distribution, eq (2.2), cut to the terms that are worth placing on the grid.

    ``infinity`` is the mass of outputs that are impossible under the other law, ``neglected`` a bound on the mass that truncation dropped.
    ``weighted``: delta(eps) integrates 1 - e^(eps-s) over the composed losses s > eps, eq (2.3); otherwise their plain mass s >= eps, eq (2.4).
    """

    losses: Floats
    probabilities: Floats
    infinity: float
    neglected: float
    weighted: bool


def clones_pair(n: int, epsilon0: float, *, tau: float = TAU) -> Pair:
    """Eq (5.1): P = (A+D, C-A), Q = (A, C-A+D), C ~ Bin(n-1, p), p = e^-eps0, A ~ Bin(C, 1/2), D ~ Bern(q), q = E/(E+1). Symmetric: one order is enough.

    Not Feldman's pair, and looser (erratum 5). (5.5)-(5.8) all follow from P_1(a,b) = P(C=a+b-1) C(a+b-1,a-1)/2^(a+b-1), P_0(a,b) = P(C=a+b) C(a+b,a)/2^(a+b)
    and Q_1(a,b) = P_1(b,a). Rows run over a+b, one wider than Hoeffding's range, so that both halves of the mixture are covered.
    """
    p, q = math.exp(-epsilon0), math.exp(epsilon0) / (math.exp(epsilon0) + 1.0)
    factorials = gammaln(np.arange(n + 2) + 1.0)
    low, high = _hoeffding(n - 1, p, tau)
    losses, probabilities = [], []
    for total in range(low, high + 2):  # a + b
        first, last = _row(total, 0.5, tau)
        a = np.arange(max(first - 1, 0), min(last, total) + 1)  # one wider too: A = a or A = a - 1
        b = total - a
        one = _log_binomial(factorials, n - 1, total - 1, p) - (total - 1) * math.log(2.0) if total >= 1 else -math.inf
        zero = _log_binomial(factorials, n - 1, total, p) - total * math.log(2.0) if total <= n - 1 else -math.inf
        ways = factorials[total] - factorials[a] - factorials[b]
        p0 = np.exp(zero + ways)
        p1 = np.exp(one + ways) * a / max(total, 1)
        q1 = np.exp(one + ways) * b / max(total, 1)
        probability, other = q * p1 + (1.0 - q) * p0, q * q1 + (1.0 - q) * p0
        kept = (probability > 0.0) & (other > 0.0)
        losses.append(np.log(probability[kept] / other[kept]))
        probabilities.append(probability[kept])
    infinity = math.exp(-(n - 1) * (epsilon0 + math.log(2.0))) * q  # (A+D, C-A) = (n, 0)
    return Pair(np.concatenate(losses), np.concatenate(probabilities), infinity, 2.0 * tau, weighted=True)


def feldman_pair(n: int, epsilon0: float, *, tau: float = TAU) -> Pair:
    """Feldman et al. 2020, Thm 3.2: P = (A+D, C-A+1-D), Q = (A+1-D, C-A+D), the pair that eq (5.1) stands for. Not in Koskela's paper; their algorithm.

    Given C = c, (a, b) with a+b = c+1 has P-mass C(c+1, a) (q a + (1-q) b)/((c+1) 2^c), and its loss is log((E a + b)/(a + E b)). Symmetric.
    """
    e = math.exp(epsilon0)
    q = e / (e + 1.0)
    factorials = gammaln(np.arange(n + 2) + 1.0)
    low, high = _hoeffding(n - 1, math.exp(-epsilon0), tau)
    losses, probabilities = [], []
    for c in range(low, high + 1):
        first, last = _row(c, 0.5, tau)
        a = np.arange(first, last + 1)  # a = A + D is at most one above A
        b = c + 1 - a
        weight = _log_binomial(factorials, n - 1, c, math.exp(-epsilon0)) - c * math.log(2.0)
        ways = factorials[c + 1] - factorials[a] - factorials[b]
        probabilities.append(np.exp(weight + ways) * (q * a + (1.0 - q) * b) / (c + 1))
        losses.append(np.log((e * a + b) / (a + e * b)))
    return Pair(np.concatenate(losses), np.concatenate(probabilities), 0.0, 2.0 * tau, weighted=True)


def krr_strong_pair(n: int, k: int, gamma: float, *, tau: float = TAU) -> Pair:
    """Thm 8: delta(eps) = P(N_1/N_2 >= e^eps), N_1 ~ Bin(n-1, gamma/k) + 1 and N_2 ~ Bin(n-1, gamma/k) independent. Loose (erratum 4)."""
    low, high = _hoeffding(n - 1, gamma / k, tau)
    count = np.arange(low, high + 1)
    mass = np.exp(_log_binomial(gammaln(np.arange(n + 1) + 1.0), n - 1, count, gamma / k))
    loss = np.log(count[:, None] + 1.0) - np.log(np.maximum(count, 1))[None, :]
    joint = mass[:, None] * mass[None, :]
    finite = np.broadcast_to(count > 0, joint.shape)
    infinity = (1.0 - gamma / k) ** (n - 1)  # N_2 = 0
    return Pair(loss[finite], joint[finite], infinity, 2.0 * tau, weighted=False)


def krr_weak_pair(n: int, k: int, gamma: float, *, reading: WeakReading = "independent", tau: float = TAU) -> Pair:
    """Thm 10: B ~ Bin(n-1, gamma) noise reports, loss log(((1-gamma) N_1 + gamma (B+1)/k) / ((1-gamma) N_2 + gamma (B+1)/k)), delta(eps) = P(loss >= eps).

    The theorem prints the laws of N_1|B ~ Bin(B, 1/k) + Bern(1-gamma+gamma/k) and N_2|B ~ Bin(B, 1/k) + Bern(gamma/k), not how they depend on each other:

    - "independent": independent given B, as theory.md's erratum 4 reads it. For one round loose in every case tried; for several rounds **not an upper
      bound** (n=30, k=3, gamma=0.4, delta=1e-6, 2 rounds: 2.775, exact 2.869).
    - "multinomial": the law of the view in the theorem's proof, the noise reports multinomial and the target's report on 1, on 2 or elsewhere. An upper bound.
    - "exact": the same law, integrated by eq (2.3) instead of (2.4). The weak adversary's own divergence. Not in the paper.
    """
    factorials = gammaln(np.arange(n + 2) + 1.0)
    low, high = _hoeffding(n - 1, gamma, tau)
    rows = [_row(b, 1.0 / k, tau) for b in range(low, high + 1)]
    size = sum((last + 1 - first) ** 2 for first, last in rows)
    losses, probabilities = np.empty(size), np.empty(size)
    law = _independent_law if reading == "independent" else _multinomial_law
    at = 0
    for b, (first, last) in zip(range(low, high + 1), rows, strict=True):
        count = np.arange(first, last + 1)  # one wider: the target's own report
        here = slice(at, at + len(count) ** 2)
        at = here.stop
        score = np.log((1.0 - gamma) * count + gamma * (b + 1) / k)
        losses[here] = (score[:, None] - score[None, :]).ravel()
        weight = math.exp(_log_binomial(factorials, n - 1, b, gamma))
        joint = law(factorials, b, count, k, gamma)
        probabilities[here] = weight * joint.ravel()
    return Pair(losses, probabilities, 0.0, 3.0 * tau, weighted=reading == "exact")


def rr_pair(n: int, epsilon0: float, *, reverse: bool = False) -> Pair:
    """First version, section 4: 2-RR where all others hold 0. P ~ Bin(n, p), Q ~ Bin(n-1, p) + Bern(1-p), p = 1/(E+1).

    The loss of Q against P; ``reverse`` gives P against Q, and the bound is the larger of the two. All n+1 terms, as printed: no truncation.
    It is one dataset, not always the worst (erratum 6).
    """
    p = 1.0 / (math.exp(epsilon0) + 1.0)
    ones = np.arange(n + 1)
    ratio = p / (1.0 - p) * (n - ones) / n + (1.0 - p) / p * ones / n  # Q over P
    mass = np.exp(_log_binomial(gammaln(np.arange(n + 2) + 1.0), n, ones, p))
    if reverse:
        return Pair(-np.log(ratio), mass, 0.0, 0.0, weighted=True)
    return Pair(np.log(ratio), mass * ratio, 0.0, 0.0, weighted=True)


def place(pair: Pair, *, L: float, m: int, lower: bool = False) -> Floats:
    """Eq (2.5) of the first version: each loss moves to the next grid point -L + i 2L/m on its right, or on its left if ``lower``."""
    step = 2.0 * L / m
    grid = np.zeros(m)
    for start in range(0, len(pair.losses), CHUNK):
        position = (pair.losses[start : start + CHUNK] + L) / step
        index = (np.floor(position) if lower else np.ceil(position)).astype(np.int64)
        if index.min() < 0 or index.max() >= m:
            raise ValueError(f"every loss must lie in [-L, L - 2L/m], got one outside L={L}. Choose a larger L.")
        np.add.at(grid, index, pair.probabilities[start : start + CHUNK])
    return grid


def compose(grid: Floats, rounds: int) -> Floats:
    """Algorithm 1: b = D F^-1(F(D a)^nc), where D swaps the two halves. What leaves [-L, L) wraps around; L = 20 keeps that negligible in the paper's cases."""
    if len(grid) % 2:
        raise ValueError(f"m must be even, got {len(grid)}. Algorithm 1 swaps two halves of the grid.")
    spectrum = np.fft.fft(np.fft.fftshift(grid))
    np.power(spectrum, rounds, out=spectrum)
    return np.fft.fftshift(np.fft.ifft(spectrum).real)


def delta(pair: Pair, rounds: int, epsilon: float, *, L: float = 20.0, m: int = 10_000_000, lower: bool = False) -> float:
    """Algorithm 1's delta(epsilon) after ``rounds`` rounds: 1 - (1 - delta_inf)^nc + the tail of the composed losses.

    An upper value (right rounding, neglected mass added to delta_inf) or, if ``lower``, a lower one. Strict up to the wrap-around and the FFT's rounding.
    """
    tail = _Tail(compose(place(pair, L=L, m=m, lower=lower), rounds), L, pair.weighted)
    first = min(max(math.floor((epsilon + L) / (2.0 * L / m)), 0), m)
    while first < m and (tail.points[first] <= epsilon if pair.weighted else tail.points[first] < epsilon):
        first += 1
    return _infinite(pair, rounds, lower) + tail.delta(first, epsilon)


def epsilon(pair: Pair, rounds: int, delta: float, *, L: float = 20.0, m: int = 10_000_000, lower: bool = False) -> float:
    """The smallest epsilon >= 0 with ``delta(...)`` at most ``delta``: one FFT, bisection over the grid cells, then the cell's closed form.

    The paper states delta(epsilon) and not how it inverts it. Tails are cumulative sums here, so the search itself costs next to nothing.
    """
    tail = _Tail(compose(place(pair, L=L, m=m, lower=lower), rounds), L, pair.weighted)
    target = delta - _infinite(pair, rounds, lower)
    if target <= 0.0:
        return math.inf
    low, high = m // 2 - 1, m  # the points above index low are the losses >= 0
    if tail.delta(m // 2, 0.0) <= target:
        return 0.0
    while high - low > 1:  # delta at the grid point low exceeds the target, at high it does not
        middle = (low + high) // 2
        if tail.delta(middle if not pair.weighted else middle + 1, float(tail.points[middle])) > target:
            low = middle
        else:
            high = middle
    if not pair.weighted:  # delta is constant between grid points
        return float(tail.points[low if lower else min(high, m - 1)])
    return tail.solve(low + 1, target)


class _Tail:
    """Suffix sums of a composed law b and of b e^-z, from which delta at any epsilon is a subtraction."""

    def __init__(self, composed: Floats, L: float, weighted: bool) -> None:
        m = len(composed)
        self.points: Floats = -L + np.arange(m, dtype=np.float64) * (2.0 * L / m)
        self.mass: Floats = np.append(np.cumsum(composed[::-1])[::-1], 0.0)
        self.discounted: Floats | None = np.append(np.cumsum((composed * np.exp(-self.points))[::-1])[::-1], 0.0) if weighted else None

    def delta(self, first: int, epsilon: float) -> float:
        """The sum over grid points from index ``first`` on."""
        return float(self.mass[first]) - (math.exp(epsilon) * float(self.discounted[first]) if self.discounted is not None else 0.0)

    def solve(self, first: int, target: float) -> float:
        """The epsilon inside the cell below index ``first`` at which the weighted tail equals ``target``."""
        assert self.discounted is not None
        return math.log((float(self.mass[first]) - target) / float(self.discounted[first]))


def _infinite(pair: Pair, rounds: int, lower: bool) -> float:
    return -math.expm1(rounds * math.log1p(-(pair.infinity + (0.0 if lower else pair.neglected))))


def _hoeffding(trials: int, p: float, tau: float) -> tuple[int, int]:
    """Section 5.2: the inclusive range outside which Bin(trials, p) has mass at most tau, by Hoeffding's inequality."""
    c = math.sqrt(math.log(2.0 / tau) / (2.0 * max(trials, 1)))
    return max(0, math.floor((p - c) * trials)), min(trials, math.ceil((p + c) * trials))


def _row(trials: int, p: float, tau: float) -> tuple[int, int]:
    """The same as a half-open range: arange(*_row(...)) covers all but tau of Bin(trials, p)."""
    low, high = _hoeffding(trials, p, tau)
    return low, high + 1


def _log_binomial(factorials: Floats, trials: int, count: int | NDArray[np.int64], p: float) -> Floats:
    logs: Floats = factorials[trials] - factorials[count] - factorials[trials - count] + count * math.log(p) + (trials - count) * math.log1p(-p)
    return logs


def _shifted(factorials: Floats, trials: int, count: NDArray[np.int64], p: float, success: float) -> Floats:
    """The law of Bin(trials, p) + Bern(success) at ``count``."""

    def law(at: NDArray[np.int64]) -> Floats:
        inside = (at >= 0) & (at <= trials)
        clipped = np.clip(at, 0, trials)
        return np.where(inside, np.exp(_log_binomial(factorials, trials, clipped, p)), 0.0)

    return (1.0 - success) * law(count) + success * law(count - 1)


def _independent_law(factorials: Floats, b: int, count: NDArray[np.int64], k: int, gamma: float) -> Floats:
    """N_1 and N_2 given B = b, independent, eq (4.5)."""
    one = _shifted(factorials, b, count, 1.0 / k, 1.0 - gamma + gamma / k)
    two = _shifted(factorials, b, count, 1.0 / k, gamma / k)
    return one[:, None] * two[None, :]


def _multinomial_law(factorials: Floats, b: int, count: NDArray[np.int64], k: int, gamma: float) -> Floats:
    """(N_1, N_2) given B = b when the b noise reports are multinomial and the target's report falls on 1, on 2, or elsewhere.

    Appendix A: multinomial(b+1; n_1, n_2, rest)/k^b times ((1-gamma) n_1 + gamma (b+1)/k)/(b+1).
    """
    one, two = count[:, None], count[None, :]
    rest = b + 1 - one - two
    inside = rest >= 0 if k > 2 else rest == 0
    rest = np.maximum(rest, 0)
    logs = factorials[b + 1] - factorials[one] - factorials[two] - factorials[rest] - b * math.log(k)
    if k > 2:
        logs = logs + rest * math.log(k - 2)
    return np.where(inside, np.exp(logs) * ((1.0 - gamma) * one + gamma * (b + 1) / k) / (b + 1), 0.0)
