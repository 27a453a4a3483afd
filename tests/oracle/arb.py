"""Arbitrary-precision references for n up to 1e7 and delta down to 1e-50, and the golden table made
of them (`python -m tests.oracle.arb`).

Each returns an Arb ball. A haystack (theory.md 2) with sub-probability hay and likelihood ratios V
= (mu_0 - e^eps mu_1) / hay has delta = E(V_1 + ... + V_n)_+ / n, which counts.py sums: rigorously
for two classes, and for three up to n = 20000; above that with a declared 1e-10.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from flint import arb, ctx
from scipy.optimize import brentq

from tests.oracle.counts import BITS, TAIL, Counts, above, binomial_pmf, binomial_window, lower_tail, mean_positive_part

GOLDEN = Path(__file__).with_name("golden.json")


def two_atom_counts(n: int, gamma: float | arb, eps0: float, eps: float) -> Counts:
    """Hay uniform on {0, 1} with probability gamma, needles binary RR."""
    e, x, g = arb(eps0).exp(), arb(eps).exp(), arb(gamma) / 2
    return Counts(n, g, g, arb(0), (e - x) / ((e + 1) * g), (x * e - 1) / ((e + 1) * g), arb(0), arb(0))


def krr_blanket_counts(n: int, k: int, eps0: float, eps: float) -> Counts:
    """Hay: 1/(e+k-1) on each of the k values. The needle's two values are classes of their own, the
    other k - 2 form the third.
    """
    e, x = arb(eps0).exp(), arb(eps).exp()
    g = 1 / (e + k - 1)
    return Counts(n, g, g, (k - 2) * g, e - x, x * e - 1, x - 1, arb(0))


def krr_strong_counts(n: int, k: int, eps0: float, eps: float) -> Counts:
    """The same hay; unless the target's coin, which is seen, chose the blanket (probability k g),
    the needle is its own value for sure.
    """
    e, x = arb(eps0).exp(), arb(eps).exp()
    g = 1 / (e + k - 1)
    return Counts(n, g, g, arb(0), e - 1, x * (e - 1), arb(0), arb(0))  # (1 - k g) / g = e - 1


def krr_third_value_counts(n: int, k: int, eps0: float, eps: float) -> Counts:
    """All others hold a third value, whose count n - A - B - S is eliminated; S counts the
    remaining k - 3 values.
    """
    e, x = arb(eps0).exp(), arb(eps).exp()
    g, c = 1 / (e + k - 1), x - 1
    return Counts(n, g, g, (k - 3) * g, e - x + c / e, x * e - 1 - c / e, c - c / e, n * c / e)


def two_atom_delta(n: int, gamma: float | arb, eps0: float, eps: float) -> arb:
    """Clones: gamma = e^-eps0. Any eps0-LDP randomizer (theory.md 2b): gamma = 2 / (e^eps0 + 1)."""
    with ctx.workprec(BITS):
        return mean_positive_part(two_atom_counts(n, gamma, eps0, eps)) / n


def krr_blanket_delta(n: int, k: int, eps0: float, eps: float, dtype: Any = None) -> arb:
    """k-RR, weak adversary. Two classes for k = 2, three otherwise."""
    with ctx.workprec(BITS):
        return mean_positive_part(krr_blanket_counts(n, k, eps0, eps), dtype) / n


def krr_strong_delta(n: int, k: int, eps0: float, eps: float) -> arb:
    """k-RR, strong adversary, eps >= 0."""
    with ctx.workprec(BITS):
        return mean_positive_part(krr_strong_counts(n, k, eps0, eps)) / n


def krr_third_value_delta(n: int, k: int, eps0: float, eps: float, dtype: Any = None) -> arb:
    """k-RR, k >= 3, the exact delta of the dataset where all others hold a third value. For eps >=
    eps0 it is zero.
    """
    with ctx.workprec(BITS):
        return arb(0) if eps >= eps0 else mean_positive_part(krr_third_value_counts(n, k, eps0, eps), dtype) / n


def rr_dataset_delta(n: int, j: int, eps0: float, eps: float) -> arb:
    """Binary RR, j of the n - 1 others hold 1; P: the target holds 0, Q: the target holds 1. The
    other order is j -> n - 1 - j. eps >= 0.

    With X the others' number of reported ones, f its pmf and F its cdf: P - x Q = (q - x p) f(h) +
    (p - x q) f(h - 1) at h ones, positive up to some h because f is log-concave. Summed: (q - x p)
    f(h) + (1 - x) F(h - 1).
    """
    with ctx.workprec(BITS):
        x, q = arb(eps).exp(), 1 / (1 + arb(-eps0).exp())
        p, rest = 1 - q, n - 1 - j
        gain, loss = q - x * p, x * q - p
        if not gain > 0:
            return arb(0)
        u = float(gain / loss)  # e^-lam, lam being the saddle point
        t1, t2 = (float(w) * u / (float(w) * u + 1 - float(w)) for w in (q, p))
        lo, hi = binomial_window(j, t1)
        log_m = j * math.log1p(float(q) * (u - 1)) + rest * math.log1p(float(p) * (u - 1))

        def law(h: int) -> tuple[arb, arb]:
            """f(h) and F(h - 1): reports of the j summed from hi down to lo, those of the rest by
            recurrence.
            """
            i, top = min(hi, h), arb(0)
            m, below = h - i, arb(0)
            weight, pmf = binomial_pmf(j, q, i), binomial_pmf(rest, p, m)
            cdf = lower_tail(rest, p, m - 1)[1] if m > 0 else arb(0)
            while True:
                top += weight * pmf
                below += weight * cdf
                if i <= lo:
                    break
                cdf += pmf
                pmf *= p / q * max(rest - m, 0) / (m + 1)
                weight *= p / q * i / (j - i + 1)
                m, i = m + 1, i - 1
            left_out = above(2 * TAIL, log_m - h * math.log(u))
            return top + left_out, below + left_out

        h = min(max(round(j * t1 + rest * t2), 0), n - 1)
        while h > 0 and law(h)[0] * gain < law(h - 1)[0] * loss:
            h -= 1
        while h < n and law(h + 1)[0] * gain > law(h)[0] * loss:
            h += 1
        f, cdf = law(h)
        return gain * f + (1 - x) * cdf


COUNTS: dict[str, Callable[[int, Any, float, float], Counts]] = {
    "clones": lambda n, _, eps0, eps: two_atom_counts(n, arb(-eps0).exp(), eps0, eps),
    "any_ldp": lambda n, _, eps0, eps: two_atom_counts(n, 2 / (arb(eps0).exp() + 1), eps0, eps),
    "krr_blanket": krr_blanket_counts,
    "krr_strong": krr_strong_counts,
    "krr_third_value": krr_third_value_counts,
}


def evaluate(case: str, n: int, k: int | None, eps0: float, eps: float, j: int | None = None) -> arb:
    """The reference value of an entry of the golden table."""
    with ctx.workprec(BITS):
        return (
            rr_dataset_delta(n, j, eps0, eps)
            if j is not None
            else mean_positive_part(COUNTS[case](n, k, eps0, eps)) / n
        )


def _cases(n: int) -> Iterator[tuple[str, int | None, int | None]]:
    """(case, k, j): j is the number of ones among the others, for binary RR only."""
    yield from [("clones", None, None), ("any_ldp", None, None)]
    yield from [("krr_blanket", k, None) for k in (2, 4, 32)]
    yield from [("krr_strong", k, None) for k in (2, 4, 32)]
    yield from [("krr_third_value", k, None) for k in (3, 4, 32)]
    yield from [("rr_dataset", 2, j) for j in (0, n // 4, n - 1)]


def _epsilon_near(case: str, n: int, k: int | None, j: int | None, eps0: float, delta: float) -> float | None:
    """An epsilon of four digits whose delta is about min(delta, delta(0) / 3), or None when it lies
    beyond 0.99 eps0.
    """

    def log_delta(eps: float) -> float:
        if j is not None:
            return float(evaluate(case, n, k, eps0, eps, j).log())
        return COUNTS[case](n, k, eps0, eps).log_estimate() - math.log(n)

    low, high = 1e-9, 0.99 * eps0
    goal = min(math.log(delta), log_delta(low) - math.log(3))
    return (
        float(f"{brentq(lambda eps: log_delta(eps) - goal, low, high, rtol=1e-5):.4g}")
        if log_delta(high) < goal
        else None
    )


def main(seconds: float = 1800.0) -> None:
    """Write golden.json: small n first, until done or out of time."""
    started, entries = time.monotonic(), []
    for n, eps0, delta in product(
        [10**3, 10**4, 10**5, 10**6, 10**7], [0.5, 2.0, 4.0], [1e-2, 1e-6, 1e-12, 1e-25, 1e-50]
    ):
        for case, k, j in _cases(n):
            eps = None if time.monotonic() - started > seconds else _epsilon_near(case, n, k, j, eps0, delta)
            if eps is None:
                continue
            value = evaluate(case, n, k, eps0, eps, j)
            entry = {
                "case": case,
                "n": n,
                "k": k,
                "j": j,
                "eps0": eps0,
                "eps": eps,
                "delta": float(value.mid()),
                "error": float(value.rad() / value),
            }
            entries.append({field: setting for field, setting in entry.items() if setting is not None})
    GOLDEN.write_text("[\n" + ",\n".join(map(json.dumps, entries)) + "\n]\n")
    print(f"{len(entries)} entries in {time.monotonic() - started:.0f} s")


def golden() -> list[dict[str, Any]]:
    """The golden table: case, n, k (k-RR and RR), j (RR), eps0, eps, delta and the relative error
    of delta.
    """
    table: list[dict[str, Any]] = json.loads(GOLDEN.read_text())
    return table


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
