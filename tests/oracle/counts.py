"""E(Y)_+ for Y = alpha A - beta B - kappa S - offset, where (A, B, S) are multinomial counts of n:
the sum behind every reference in arb.py.

Two classes: one outer sum over A, the inner binomial mean carried along by recurrences, all in Arb
balls. Three classes: two outer sums and a table over S; in Arb balls up to n = ARB_LIMIT, beyond
that in float64 (every sum has positive terms only, and the tables are rebuilt every 256 steps), for
which a relative error of 1e-10 is declared, not proven: tests compare it with Arb at smaller n.

Truncation is rigorous: y_+ <= e^(lam y) / (e lam), so dropping an event costs at most M(lam) / (e
lam) times its probability under the tilted multinomial, and Chernoff's bound for that one is at
most TAIL for each end of each window. The bound is added to the ball.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb
from scipy.optimize import brentq, minimize_scalar

BITS = 256
TAIL = 1e-18
ARB_LIMIT = 20_000
DOUBLE_ERROR = 1e-10


@dataclass(frozen=True)
class Counts:
    """Y = alpha A - beta B - kappa S - offset with (A, B, S) ~ Multinomial(n; p_a, p_b, p_s), the
    rest of the mass being absent.
    """

    n: int
    p_a: arb
    p_b: arb
    p_s: arb
    alpha: arb
    beta: arb
    kappa: arb
    offset: arb

    def tilt(self) -> tuple[float, float, float, tuple[float, float, float]]:
        """(log of M(lam) / (e lam), lam, sd of Y, class probabilities), the last two under the
        tilted law; lam minimises the first.
        """
        p = np.array([float(self.p_a), float(self.p_b), float(self.p_s)])
        v = np.array([float(self.alpha), -float(self.beta), -float(self.kappa)])

        def log_bound(log_lam: float) -> float:
            lam = math.exp(log_lam)
            return self.n * math.log1p(float(p @ np.expm1(lam * v))) - lam * float(self.offset) - 1 - log_lam

        top = math.log(600 / float(self.alpha))  # beyond it exp overflows
        found = minimize_scalar(log_bound, bounds=(top - 60, top), method="bounded", options={"xatol": 1e-10})
        lam = math.exp(found.x)
        tilted = p * np.exp(lam * v) / (1 + float(p @ np.expm1(lam * v)))
        sd = math.sqrt(self.n * float(tilted @ v**2 - (tilted @ v) ** 2))
        return float(found.fun), lam, sd, (float(tilted[0]), float(tilted[1]), float(tilted[2]))

    def log_estimate(self) -> float:
        """Saddle-point estimate of log E(Y)_+, to choose epsilons with; never part of a reference
        value.
        """
        log_bound, lam, sd, _ = self.tilt()
        return log_bound + 1 - math.log(lam * sd + 1) - 0.919


def binomial_window(n: int, p: float) -> tuple[int, int]:
    """[lo, hi] such that Chernoff's bound for X < lo and for X > hi, X ~ Bin(n, p), is at most TAIL
    each.
    """

    def excess(t: float) -> float:
        kl = (t * math.log(t / p) if t > 0 else 0.0) + ((1 - t) * math.log((1 - t) / (1 - p)) if t < 1 else 0.0)
        return n * kl + math.log(TAIL)

    lo = math.floor(n * brentq(excess, 0.0, p)) if excess(0.0) > 0 else 0
    hi = math.ceil(n * brentq(excess, p, 1.0)) if excess(1.0) > 0 else n
    return max(lo - 1, 0), min(hi + 1, n)


def binomial_pmf(n: int, p: arb, k: int) -> arb:
    """P(Bin(n, p) = k)."""
    if not 0 <= k <= n:
        return arb(0)
    log = arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma() + k * p.log() + (n - k) * (-p).log1p()
    return log.exp()


def lower_tail(n: int, p: arb, m: int) -> tuple[arb, arb, arb]:
    """P(X = m), P(X <= m) and E(m - X)_+ for X ~ Bin(n, p), m >= 0, summed downwards; what is left
    below goes into the radius.
    """
    if m >= n:
        return binomial_pmf(n, p, m), arb(1), m - n * p
    pmf = term = binomial_pmf(n, p, m)
    cdf, mean, odds, k, small = term, arb(0), (1 - p) / p, m, arb(2) ** -BITS
    while k > 0 and (k > float(n * p) or term > cdf * small):
        term *= odds * k / (n - k + 1)
        k -= 1
        cdf += term
        mean += (m - k) * term
    rest = term * k  # below the mode the terms fall: k of them, each at most the last
    return pmf, cdf + arb(0, rest), mean + arb(0, rest * m)


def above(probability: float, log_bound: float) -> arb:
    """A ball from 0 to probability * e^log_bound, for positive terms left out of a sum. log_bound
    may be off by 1e-6: it is a float.
    """
    half = arb(probability / 2) * arb(log_bound + 1e-6).exp()
    return half + arb(0, half)


def _two_classes(c: Counts) -> arb:
    """sum_A P(A) beta E(s - B)_+ with s = (alpha A - offset) / beta and B ~ Bin(n - A, p). Going up
    in A, every update is an addition.
    """
    lo, hi = binomial_window(c.n, c.tilt()[3][0])
    first = int((c.offset / c.alpha).mid().ceil().unique_fmpz())
    a, p = max(lo, first, 0), c.p_b / (1 - c.p_a)
    odds, odds_a, stay, step = p / (1 - p), c.p_a / (1 - c.p_a), 1 / (1 - p), c.alpha / c.beta
    if a > hi:
        return arb(0)
    n, s = c.n - a, (c.alpha * a - c.offset) / c.beta
    m = max(int(s.mid().floor().unique_fmpz()), 0)
    pmf, cdf, mean = lower_tail(n, p, m)
    weight, total = binomial_pmf(c.n, c.p_a, a), arb(0)
    while True:
        total += weight * (mean + (s - m) * cdf)
        if a == hi:
            return total * c.beta
        weight *= odds_a * (c.n - a) / (a + 1)
        a += 1
        pmf *= stay * max(n - m, 0) / n  # B: one trial fewer
        mean += p * (cdf - (1 - p) * pmf)
        cdf += p * pmf
        n -= 1
        s += step
        while s > m + 1:  # m: up to floor(s). The sum is continuous in s, so a tie may be broken either way
            mean += cdf
            pmf *= odds * max(n - m, 0) / (m + 1)
            cdf += pmf
            m += 1


def _number(value: arb, dtype: Any) -> Any:
    return value if dtype is object else dtype(value.str(30, radius=False))


def _pmf_table(n: int, p: arb, lo: int, hi: int, dtype: Any) -> Any:
    """P(Bin(n, p) = k) for k = lo..hi, by ratios from the lower end."""
    k = np.arange(lo, hi).astype(dtype)
    ratios = (
        np.maximum(n - k, 0) / (k + 1) * _number(p / (1 - p), dtype)
        if dtype is not object
        else [p / (1 - p) * max(n - i, 0) / (i + 1) for i in k]
    )
    return np.multiply.accumulate(np.array([_number(binomial_pmf(n, p, lo), dtype), *ratios], dtype=dtype))


def _three_classes(c: Counts, dtype: Any) -> arb:
    """sum over D = A + B and A of P(D) P(A | D) kappa E(s - S)_+ with s = (alpha A - beta B -
    offset) / kappa and S ~ Bin(n - D, p).
    """
    t_a, t_b, t_s = c.tilt()[3]
    (d_lo, d_hi), (a_lo, a_hi), (s_lo, s_hi) = (
        binomial_window(c.n, t_a + t_b),
        binomial_window(c.n, t_a),
        binomial_window(c.n, t_s),
    )
    d_lo = max(d_lo, a_lo)
    p_d = c.p_a + c.p_b
    r, p = c.p_a / p_d, c.p_s / (1 - p_d)
    weights = _pmf_table(c.n, p_d, d_lo, d_hi, dtype)
    per_a, per_d, start = (_number(x / c.kappa, dtype) for x in (c.alpha + c.beta, c.beta, c.offset))
    leave, stay = _number(1 - r, dtype), _number(1 / (1 - p), dtype)
    a_all, s_all = np.arange(a_lo, a_hi + 1).astype(dtype), np.arange(s_lo, s_hi + 1).astype(dtype)
    s_of_a = per_a * a_all
    total = _number(arb(0), dtype)
    for i, d in enumerate(range(d_lo, d_hi + 1)):
        trials = c.n - d
        if i % 256 == 0 or a_hi >= d or s_hi >= trials:
            a_pmf, s_pmf = _pmf_table(d, r, a_lo, a_hi, dtype), _pmf_table(trials, p, s_lo, s_hi, dtype)
        else:
            a_pmf = a_pmf * (d * leave / (d - a_all))
            s_pmf = s_pmf * ((trials + 1 - s_all) * (stay / (trials + 1)))
        cdf = np.add.accumulate(s_pmf)
        mean = np.zeros_like(cdf)
        mean[1:] = np.add.accumulate(cdf[:-1])  # E(m - S)_+ = sum of the cdf below m
        s = s_of_a - (per_d * d + start)
        used = slice(int(np.searchsorted(s, s_lo)), min(a_hi, d) + 1 - a_lo)
        s = s[used]
        whole = (
            s.astype(np.int64)
            if dtype is not object
            else np.array([int(x.mid().floor().unique_fmpz()) for x in s], dtype=np.int64)
        )
        m = np.minimum(whole, s_hi) - s_lo
        total = total + weights[i] * np.sum(a_pmf[used] * (mean[m] + (s - s_all[m]) * cdf[m]))
    if dtype is object:
        return arb(total) * c.kappa
    value = arb(float(total)) + arb(float(total - dtype(float(total))))
    return value * c.kappa * arb(1, DOUBLE_ERROR)


def mean_positive_part(c: Counts, dtype: Any = None) -> arb:
    """E(Y)_+ with truncation in the radius. dtype (three classes only): object for Arb, np.float64
    or np.longdouble; by default chosen from n.
    """
    if not c.alpha > 0:
        return arb(0)
    if c.p_s.is_zero() or c.kappa.is_zero():
        ends, value = 2, _two_classes(c)
    else:
        ends, value = 6, _three_classes(c, dtype or (object if c.n <= ARB_LIMIT else np.float64))
    return value + above(ends * TAIL, c.tilt()[0])
