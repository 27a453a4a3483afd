"""The pairs of laws of Koskela, Heikkila and Honkela, arXiv 2106.00477, term by term, for the
Fourier accountant.

Binary randomized response and the first form of the k-RR views are printed only in the first
version (sections 4 and 5), the second form of the k-RR views in the revision (Thms 8, 10, 11 and
(2.4)), the clones pair in both. The pairs follow the paper, errors included, unless their docstring
says otherwise. The double sums run one row at a time over Hoeffding's ranges (section 6.2 of the
first version, 5.2 of the revision).
"""

import math
from typing import Literal

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from shuffledp._types import Floats, Integers
from shuffledp.literature.fourier import BATCH, ROUNDED, Pair, Terms, log_ratio

StrongReading = Literal["independent", "exact"]
WeakReading = Literal["independent", "multinomial", "exact"]
TAU = 1e-12  # section 6.2 of the first version, 5.2 of the revision: what each truncated sum may lose, added to delta


def clones_pair(n: int, epsilon0: float, *, tau: float = TAU) -> Pair:
    """(6.1) of the first version, (5.1) of the revision: P = (A+D, C-A), Q = (A, C-A+D), C ~
    Bin(n-1, p), p = e^-eps0, A ~ Bin(C, 1/2), D ~ Bern(q), q = E/(E+1). Symmetric: one order is
    enough.

    Not Feldman's pair (erratum 5), but it dominates it, so it is valid and looser. Proof (ours):
    with P_1 = (A+1, C-A), Q_1 = (A, C-A+1), P_0 = (A, C-A) and x = e^eps >= 1, Feldman's divergence
    is that of a set S = {a > r b}, r >= x, namely q P_1 + (1-q) Q_1 - x (q Q_1 + (1-q) P_1) there.
    Koskela's pair has (1-q)(x P_1 - Q_1 - (x-1) P_0) more on S. P_1 = (a/b) Q_1 >= x Q_1 on S, and
    P_1(S) >= P_0(S) as S is closed under one more a; so that is at least (1-q)(x - 1/x - x + 1)
    P_1(S) >= 0. Both pairs are symmetric, so x < 1 follows, and compositions are dominated too.

    (6.5)-(6.8) of the first version, (5.5)-(5.8) of the revision, all follow from P_1(a,b) =
    P(C=a+b-1) C(a+b-1,a-1)/2^(a+b-1), P_0(a,b) = P(C=a+b) C(a+b,a)/2^(a+b) and Q_1(a,b) = P_1(b,a).
    Rows run over a+b, one wider than Hoeffding's range, so that both halves of the mixture are
    covered.
    """
    p, q, rest = math.exp(-epsilon0), 1.0 / (1.0 + math.exp(-epsilon0)), 1.0 / (1.0 + math.exp(epsilon0))
    low, high = hoeffding(n - 1, p, tau)

    def terms() -> Terms:
        factorials = _factorials(high + 1)
        count = _binomial(n - 1, np.arange(low - 1, high + 2), p)
        for total in range(low, high + 2):  # a + b
            first, last = hoeffding(total, 0.5, tau)
            a = np.arange(max(first - 1, 0), min(last + 1, total) + 1)  # one wider too: A = a or A = a - 1
            ways = np.exp(factorials[total] - factorials[a] - factorials[total - a] - total * math.log(2.0))
            one, zero = count[total - low], count[total - low + 1]
            shared = rest * zero * ways
            probability = shared + q * one * ways * (2.0 * a / max(total, 1))
            other = shared + q * one * ways * (2.0 * (total - a) / max(total, 1))
            yield log_ratio(probability, other), probability

    return Pair(terms, 2.0 * tau, weighted=True, rounded=_rounded(n))


def feldman_pair(n: int, epsilon0: float, *, tau: float = TAU) -> Pair:
    """Feldman et al. 2020, Thm 3.2: P = (A+D, C-A+1-D), Q = (A+1-D, C-A+D), the pair that
    ``clones_pair`` stands for. In neither version of Koskela's paper; their algorithm.

    Given C = c, (a, b) with a+b = c+1 has P-mass C(c+1, a) (q a + (1-q) b)/((c+1) 2^c), and its
    loss is log((E a + b)/(a + E b)). Symmetric.
    """
    e, q, rest = math.exp(-epsilon0), 1.0 / (1.0 + math.exp(-epsilon0)), 1.0 / (1.0 + math.exp(epsilon0))
    low, high = hoeffding(n - 1, e, tau)

    def terms() -> Terms:
        factorials = _factorials(high + 1)
        count = _binomial(n - 1, np.arange(low, high + 1), e)
        for c in range(low, high + 1):
            first, last = hoeffding(c, 0.5, tau)
            a = np.arange(first, last + 2)  # a = A + D is at most one above A
            b = c + 1 - a
            ways = np.exp(factorials[c + 1] - factorials[a] - factorials[b] - c * math.log(2.0))
            yield np.log((a + e * b) / (e * a + b)), count[c - low] * ways * (q * a + rest * b) / (c + 1)

    return Pair(terms, 2.0 * tau, weighted=True, rounded=_rounded(n))


def krr_strong_pair(n: int, k: int, gamma: float, *, reading: StrongReading = "independent", tau: float = TAU) -> Pair:
    """The strong adversary of k-RR.

    - "independent", Thm 8 of the revision: delta(eps) = P(N_1/N_2 >= e^eps), N_1 ~ Bin(n-1,
      gamma/k) + 1 and N_2 ~ Bin(n-1, gamma/k), independent as its section 4 has them. **Not an
      upper bound**, and for most parameters loose (erratum 4).
    - "exact": the adversary's own divergence. With probability gamma the target's report is noise
      and nothing is learned; otherwise (N_1 - 1, N_2) is multinomial, and the loss is log(N_1/N_2),
      by (2.3). Printed in neither version.
    """
    p = gamma / k
    low, high = hoeffding(n - 1, p, tau)

    def terms() -> Terms:
        one = _binomial(n - 1, np.arange(low, high + 1), p)
        if reading == "exact":
            yield np.zeros(1), np.array([gamma])
        for a in range(low, high + 1):
            first, last = (low, high) if reading == "independent" else hoeffding(n - 1 - a, p / (1.0 - p), tau)
            count = np.arange(first, last + 1)
            two = one if reading == "independent" else (1.0 - gamma) * _binomial(n - 1 - a, count, p / (1.0 - p))
            losses = np.where(count > 0, math.log(a + 1.0) - np.log(np.maximum(count, 1)), math.inf)
            yield losses, one[a - low] * two

    return Pair(terms, 2.0 * tau, weighted=reading == "exact", rounded=_rounded(n, gamma))


def krr_weak_pair(n: int, k: int, gamma: float, *, reading: WeakReading = "independent", tau: float = TAU) -> Pair:
    """Thm 10 of the revision: B ~ Bin(n-1, gamma) noise reports, loss log(((1-gamma) N_1 + gamma
    (B+1)/k) / ((1-gamma) N_2 + gamma (B+1)/k)), delta(eps) = P(loss >= eps).

    The theorem prints the laws of N_1|B ~ Bin(B, 1/k) + Bern(1-gamma+gamma/k) and N_2|B ~ Bin(B,
    1/k) + Bern(gamma/k), not how they depend on each other:

    - "independent": independent given B, as erratum 10 reads it. **Not an upper bound**.
    - "multinomial": the law of the view in the theorem's proof, the noise reports multinomial and
      the target's report on 1, on 2 or elsewhere. An upper bound.
    - "exact": the same law, integrated by (2.3) instead of the revision's (2.4). The weak
      adversary's own divergence. Printed in neither version.
    """
    low, high = hoeffding(n - 1, gamma, tau)
    law = _independent_law if reading == "independent" else _multinomial_law

    def terms() -> Terms:
        factorials = _factorials(high + 1)
        weight = _binomial(n - 1, np.arange(low, high + 1), gamma)
        for b in range(low, high + 1):
            first, last = hoeffding(b, 1.0 / k, tau)
            count = np.arange(first, last + 2)  # one wider: the target's own report
            score = np.log((1.0 - gamma) * count + gamma * (b + 1) / k)
            for block in np.array_split(np.arange(len(count)), 1 + len(count) ** 2 // BATCH):
                losses = score[block][:, None] - score[None, :]
                yield losses.ravel(), (weight[b - low] * law(factorials, b, count[block], count, k, gamma)).ravel()

    return Pair(terms, 3.0 * tau, weighted=reading == "exact", rounded=_rounded(n, gamma))


def one_count_pair(
    n: int, k: int, gamma: float, *, adversary: Literal["weak", "strong"], reverse: bool = False, tau: float = TAU
) -> Pair:
    """First version, section 5: the hockey-stick divergence of P_s from Q_s, its (5.1), or of P_w
    from Q_w, its (5.2), both of which are laws of one count.

    Strong: Bin(n-1, gamma/k) + 1 against Bin(n-1, gamma/k), without the factor 1-gamma. Weak: given
    B, Bin(B, 1/k) + Bern(1-gamma+gamma/k) against Bin(B, 1/k) + Bern(gamma/k), where B is read off
    the value too (true for almost every gamma). The view has both counts, so looking at one of them
    loses information: **not an upper bound** (erratum 3). For the weak adversary it is therefore a
    lower one. ``reverse`` swaps the pair: by Definition 1 both orders count.
    """
    strong = adversary == "strong"
    low, high = (n - 1, n - 1) if strong else hoeffding(n - 1, gamma, tau)
    hay, (own, other) = (gamma / k, (1.0, 0.0)) if strong else (1.0 / k, (1.0 - gamma + gamma / k, gamma / k))

    def terms() -> Terms:
        weight = np.ones(1) if strong else _binomial(n - 1, np.arange(low, high + 1), gamma)
        for b in range(low, high + 1):
            first, last = hoeffding(b, hay, tau)
            count = np.arange(first, last + 2)
            p, q = (weight[b - low] * _shifted(b, count, hay, success) for success in (own, other))
            yield (log_ratio(q, p), q) if reverse else (log_ratio(p, q), p)

    return Pair(terms, (1.0 if strong else 2.0) * tau, weighted=True, rounded=_rounded(n, gamma))


def rr_pair(n: int, epsilon0: float, *, reverse: bool = False) -> Pair:
    """First version, section 4: 2-RR where all others hold 0. P ~ Bin(n, p), Q ~ Bin(n-1, p) +
    Bern(1-p), p = 1/(E+1).

    The loss of Q against P; ``reverse`` gives P against Q, and the answer is the larger of the two.
    All n+1 terms, as printed: no truncation. It is one dataset, not always the worst (erratum 6).
    """
    p, e = 1.0 / (math.exp(epsilon0) + 1.0), math.exp(epsilon0)

    def terms() -> Terms:
        for start in range(0, n + 1, BATCH):
            ones = np.arange(start, min(start + BATCH, n + 1))
            ratio = (n - ones) / n / e + ones / n * e  # Q over P
            mass = _binomial(n, ones, p)
            yield (-np.log(ratio), mass) if reverse else (np.log(ratio), mass * ratio)

    return Pair(terms, 0.0, weighted=True, rounded=_rounded(n))


def hoeffding(trials: int, p: float, tau: float = TAU) -> tuple[int, int]:
    """The inclusive range outside which Bin(trials, p) has mass at most tau, by Hoeffding's
    inequality: section 6.2 of the first version, 5.2 of the revision.
    """
    c = math.sqrt(math.log(2.0 / tau) / (2.0 * max(trials, 1)))
    return max(0, math.floor((p - c) * trials)), min(trials, math.ceil((p + c) * trials))


def _rounded(n: int, gamma: float = 0.0) -> float:
    """What half a dozen logarithms of factorials up to n! lose, each rounded to 52 bits, and what
    1 - gamma does, where gamma is nearly 1.
    """
    lost = min(2.0**-51 / max(1.0 - gamma, 2.0**-53), 1.0)
    return max(ROUNDED, lost) + 6.0 * 2.0**-52 * n * math.log(n)


def _factorials(largest: int) -> Floats:
    return np.asarray(gammaln(np.arange(largest + 1) + 1.0))


def _binomial(trials: int, count: Integers, p: float) -> Floats:
    """P(Bin(trials, p) = count), 0 outside its support."""
    inside = np.clip(count, 0, trials)
    ways = gammaln(trials + 1.0) - gammaln(inside + 1.0) - gammaln(trials - inside + 1.0)
    return np.where(inside == count, np.exp(ways + xlogy(inside, p) + xlog1py(trials - inside, -p)), 0.0)


def _shifted(trials: int, count: Integers, p: float, success: float) -> Floats:
    """The law of Bin(trials, p) + Bern(success) at ``count``."""
    return (1.0 - success) * _binomial(trials, count, p) + success * _binomial(trials, count - 1, p)


def _independent_law(_factorials: Floats, b: int, one: Integers, two: Integers, k: int, gamma: float) -> Floats:
    """N_1 and N_2 given B = b, independent, (4.5) of the revision."""
    return np.outer(_shifted(b, one, 1.0 / k, 1.0 - gamma + gamma / k), _shifted(b, two, 1.0 / k, gamma / k))


def _multinomial_law(factorials: Floats, b: int, one: Integers, two: Integers, k: int, gamma: float) -> Floats:
    """(N_1, N_2) given B = b when the b noise reports are multinomial and the target's report falls
    on 1, on 2, or elsewhere.

    Appendix A, both versions: multinomial(b+1; n_1, n_2, rest)/k^b times ((1-gamma) n_1 + gamma
    (b+1)/k)/(b+1).
    """
    rest = b + 1 - one[:, None] - two[None, :]
    inside = rest >= 0 if k > 2 else rest == 0
    tables = factorials[b + 1] - b * math.log(k) - factorials[one][:, None] - factorials[two][None, :]
    others = factorials - np.arange(len(factorials)) * math.log(k - 2) if k > 2 else factorials
    target = ((1.0 - gamma) * one + gamma * (b + 1) / k) / (b + 1)
    return np.exp(np.where(inside, tables - others[np.maximum(rest, 0)], -math.inf)) * target[:, None]
