"""The numerical clones bound of Feldman, McMillan and Talwar, arXiv 2012.12803, Appendix F (Algorithms 4, 5 and 6).

The pair (Thm 3.2): C ~ Bin(n-1, e^-eps0), A ~ Bin(C, 1/2), D ~ Bern(E/(E+1)) with E = e^eps0; the number of ones is
A+1-D under P and A+D under Q, and C is public. The formulas and the listings of Appendix F are lost in our copy: B(c) was derived again from the
prose of Lemma F.1, and the two rules that end Algorithm 6 are those of the authors' released code (formulas.md section 1), whose digits this reproduces.

Kept as published: one block of C after the other in a Python loop, scalar calls of ``scipy.stats.binom.cdf``, both orders of the pair although they
are mirror images, and the rule that adds the unused mass, which may double delta. The released code also evaluates B at each block's larger end, which
its maximum never takes; that is left out.
"""

import math

from scipy.stats import binom

__all__ = ["closed_form_start", "delta_upper", "divergence_given_count", "epsilon"]


def divergence_given_count(c: int, epsilon: float, epsilon0: float, *, reverse: bool = False) -> float:
    """Algorithm 5, B(c): the hockey-stick divergence of P from Q (of Q from P if ``reverse``) given C = c, exact by Lemma F.1.

    With a = E/(E+1), P has a Bin(c) + (1-a) (Bin(c)+1) ones. P(x) > e^eps Q(x) exactly below the cutoff b (c+1), b = u/(u+v), u = (1+e^eps) a - e^eps,
    v = (1+e^eps) a - 1; Q(x) > e^eps P(x) exactly above (1-b)(c+1). Needs 0 <= epsilon < epsilon0.
    """
    a = math.exp(epsilon0) / (math.exp(epsilon0) + 1.0)
    e = math.exp(epsilon)
    u = (1.0 + e) * a - e
    v = (1.0 + e) * a - 1.0
    cutoff = (v if reverse else u) / (u + v) * (c + 1)
    at = float(binom.cdf(cutoff, c, 0.5))
    below = float(binom.cdf(cutoff - 1.0, c, 0.5))
    p = a * at + (1.0 - a) * below
    q = (1.0 - a) * at + a * below
    return (1.0 - q) - e * (1.0 - p) if reverse else p - e * q


def delta_upper(n: int, epsilon: float, epsilon0: float, *, step: int, enough: float = 1.0, centre: int | None = None) -> float:
    """Algorithm 6: an upper bound on delta(epsilon) of the pair; ``enough`` is returned as soon as delta is seen to exceed it.

    Blocks of ``step`` values of C, from the mean outwards, above and below in turn. B falls as c grows (Lemma F.2), so a block adds at most
    P(C in block) B(its smallest c). When the mass not yet used is below both sums, it is added whole and the loop ends.
    ``centre`` is where the blocks begin, the mean of C unless told; the authors' first release began at n/2, and its README's digits need that.
    """
    p = math.exp(-epsilon0)
    centre = math.ceil((n - 1) * p) if centre is None else centre
    forward = backward = used = 0.0
    for turn in range(math.ceil(n / step) + 1):
        for first in (centre + turn * step, centre - (turn + 1) * step):
            low, high = max(first, 0), min(first + step, n) - 1
            if low > high:
                continue
            if max(forward, backward) > enough:
                return enough
            if 1.0 - used < min(forward, backward):
                return max(forward, backward) + 1.0 - used
            mass = float(binom.cdf(high, n - 1, p)) - float(binom.cdf(low - 1, n - 1, p))
            forward += mass * divergence_given_count(low, epsilon, epsilon0)
            backward += mass * divergence_given_count(low, epsilon, epsilon0, reverse=True)
            used += mass
    return max(forward, backward)


def epsilon(n: int, epsilon0: float, delta: float, *, iterations: int, step: int, start: float | None = None, centre: int | None = None) -> float:
    """Algorithm 4: bisection for the smallest epsilon whose Algorithm 6 value is below ``delta``; the upper end is returned.

    ``iterations`` is the paper's T, ``step`` its S. The bracket is [0, epsilon0] as in the paper; where delta(epsilon) is nearly 0, as it is for
    the first guesses there, no rule ends Algorithm 6 before all n/S blocks are done. The authors' code starts from their closed form
    instead, which is far quicker: pass ``start=closed_form_start(...)`` for that.
    """
    low, high = 0.0, epsilon0 if start is None else start
    for _ in range(iterations):
        middle = (low + high) / 2.0
        if delta_upper(n, middle, epsilon0, step=step, enough=delta, centre=centre) < delta:
            high = middle
        else:
            low = middle
    return high


def closed_form_start(n: int, epsilon0: float, delta: float) -> float:
    """The upper end from which the authors' released code starts its bisection (theirs, not eq (1) of the paper; formulas.md section 1).

    epsilon0 itself outside eps0 < log(n / (16 log(4/delta))), as in their code.
    """
    if epsilon0 >= math.log(n / (16.0 * math.log(4.0 / delta))):
        return epsilon0
    x = 8.0 * math.sqrt(math.exp(epsilon0) * math.log(4.0 / delta) / n) + 8.0 * math.exp(epsilon0) / n
    return math.log1p((1.0 - math.exp(-epsilon0)) / (1.0 + math.exp(-epsilon0) / (1.0 + x)) * x)
