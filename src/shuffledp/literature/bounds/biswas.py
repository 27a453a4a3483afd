"""Biswas, Jung and Palamidessi 2023 (FPS 2023, LNCS 14551): "tight" guarantees for k-RR, one
misprinted and all of them too narrow.

The target holds x_0 or x_1, and of the n-1 others n0 hold x_0. Theorem 1 is about one bin, the
number s of reports x_0. With E = e^eps0, let R ~ Bin(n0, E/(E+k-1)) and Y ~ Bin(m, 1/(E+k-1)), m =
n - n0, so that the count is R + Y if the target holds x_1. Then

    P(s | x_0) / P(s | x_1) = kappa + (E - kappa) E[ Y/m | R + Y = s ],     kappa = (k-1) / (E+k-2).

Theorem 1 and equation (11) print this ratio with both the factor (s-r) and C(m-1, s-1-r) = (s-r)/m
C(m, s-r): that is E[(Y/m)^2 | s] in place of E[Y/m | s], so that the loss, and with it delta, comes
out far too small (erratum 1). The tables of the paper are the misprint's values. Corrected, it is
the exact delta of one bin's count, for one dataset, in one order. The released histogram has k
bins, and other datasets are worse: it is not a guarantee (erratum 2), but it does bound the worst
case from below.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from shuffledp._types import Floats
from shuffledp.errors import LARGEST_EPSILON, check_count, check_epsilon, check_positive
from shuffledp.literature.bounds.published import Published, Setting, require

__all__ = ["BOUNDS", "CORRECTED", "ONE_BIN", "PRINTED", "delta_corrected", "delta_printed"]

MOST_USERS = 2000  # the formula is a double sum
ROUNDING = 1e-10  # far above the error of the sums at MOST_USERS, so that a lower bound stays below


def delta_printed(n: int, k: int, epsilon0: float, n0: int, epsilon: float) -> float:
    """Theorem 1 as printed, which is what Tables 1 and 3 of the paper show. It bounds nothing.

    >>> delta_printed(
    ...     n=100, k=10, epsilon0=2.0, n0=80, epsilon=0.5
    ... )  # the paper's Table 3 has 3.25E-22
    3.245e-22
    """
    log_law, _, misprinted = _bin(*_checked(n, k, epsilon0, n0))
    return _delta(log_law, misprinted, check_epsilon(epsilon))


def delta_corrected(n: int, k: int, epsilon0: float, n0: int, epsilon: float) -> float:
    """Theorem 1 corrected: the exact delta between the counts of x_0 with the target holding x_0
    and x_1, while n0 of the others hold x_0.

    >>> delta_corrected(n=100, k=10, epsilon0=2.0, n0=80, epsilon=0.5)
    2.606e-08
    """
    log_law, loss, _ = _bin(*_checked(n, k, epsilon0, n0))
    return _delta(log_law, loss, check_epsilon(epsilon))


def _checked(n: int, k: int, epsilon0: float, n0: int) -> tuple[int, int, float, int]:
    n = check_count("n", n, least=1, remedy="n counts the users.")
    require(n <= MOST_USERS, f"n must be at most {MOST_USERS}, as it is a double sum over the users", n)
    n0 = check_count("n0", n0, least=0, remedy="n0 counts those of the others who hold x_0.")
    require(n0 < n, "n0 must be below n, as it counts others than the target", n0)
    return (
        n,
        check_count("k", k, least=2, remedy="k counts the categories."),
        check_positive("epsilon0", epsilon0, remedy="epsilon0 is one report's."),
        n0,
    )


@lru_cache(maxsize=64)
def _bin(n: int, k: int, epsilon0: float, n0: int) -> tuple[Floats, Floats, Floats]:
    """For s = 0..n: log P(s | x_0), the privacy loss, and the loss as misprinted. Losses below 0
    are shown as 0: they never count.
    """
    m = n - n0
    log_truth = -math.log1p((k - 1) * math.exp(-epsilon0))
    log_lie = log_truth - epsilon0
    holders = _log_binomial(n0, log_truth, log_lie + math.log(k - 1))
    rest = _log_binomial(m, log_lie, math.log1p(-math.exp(log_lie)))
    share = np.arange(m + 1) / m
    moments = np.empty((3, n + 1))  # log P(s | x_1), E[Y/m | s], E[(Y/m)^2 | s]
    for s in range(n + 1):
        y = np.arange(max(0, s - n0), min(s, m) + 1)
        logs = holders[s - y] + rest[y]
        top = logs.max()
        weights = np.exp(logs - top)
        total = weights.sum()
        moments[:, s] = top + math.log(total), weights @ share[y] / total, weights @ share[y] ** 2 / total
    log_law = moments[0] + np.log(_ratio(k, epsilon0, moments[1], floor=False))
    loss, misprinted = (np.log1p(_ratio(k, epsilon0, moment, floor=True)) for moment in moments[1:])
    return log_law, loss, misprinted


def _ratio(k: int, epsilon0: float, share: Floats, *, floor: bool) -> Floats:
    """kappa + (E - kappa) share; with ``floor``, the same less 1, at least 0, and without the
    cancellation that a small epsilon0 would bring.
    """
    # 1 - kappa = (E-1)/(E+k-2), all of it in units of E - 1
    growth, other = math.expm1(epsilon0), math.exp(epsilon0) + (k - 2)
    if floor:
        return np.maximum(growth * (share - (1.0 - share) / other), 0.0)
    return (k - 1) / other * (1.0 - share) + math.exp(epsilon0) * share


def _log_binomial(n: int, log_p: float, log_other: float) -> Floats:
    x = np.arange(n + 1)
    return np.asarray(gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1) + x * log_p + (n - x) * log_other)


def _delta(log_law: Floats, loss: Floats, epsilon: float) -> float:
    """Sum over s with loss > epsilon of P(s | x_0) (1 - e^(epsilon - loss))."""
    counts = loss > epsilon
    terms = log_law[counts] + np.log(-np.expm1(epsilon - loss[counts]))
    return min(1.0, math.fsum(np.exp(terms))) if terms.size else 0.0


def _datasets(n: int) -> list[int]:
    """Values of n0 to try: few holders make the count least noisy, many make the largest losses
    likely; the paper has 0.8 n.
    """
    return sorted({0, n // 4, n // 2, min(4 * n // 5, n - 1), n - 1})


def _printed(setting: Setting, epsilon: float) -> float:
    krr = setting.krr
    return max(delta_printed(setting.n, krr.k, krr.epsilon0, n0, epsilon) for n0 in _datasets(setting.n))


def _corrected(setting: Setting, epsilon: float) -> float:
    krr = setting.krr
    return max(delta_corrected(setting.n, krr.k, krr.epsilon0, n0, epsilon) for n0 in _datasets(setting.n))


def _one_bin(setting: Setting, epsilon: float) -> float:
    return (1.0 - ROUNDING) * _corrected(setting, min(epsilon + ROUNDING * setting.krr.epsilon0, LARGEST_EPSILON))


def _seconds(setting: Setting) -> float:
    return 1e-4 * min(setting.n, MOST_USERS)


PRINTED = Published(
    name="biswas-2023-printed",
    paper="Biswas et al. 2023",
    where="Thm 1 and Cor 1, as printed",
    covers="k-ary randomized response; the worst of a few n0",
    conditions=f"n <= {MOST_USERS}",
    status="invalid",
    remark=(
        "(s-r) and C(n-1-n0, s-1-r) should not both be there: n=100, k=10, eps0=2, n0=80, eps=0.5 gives 3.2e-22, "
        "and the count it is about has 2.6e-8"
    ),
    delta_at=_printed,
    cost=_seconds,
)
CORRECTED = Published(
    name="biswas-2023-corrected",
    paper="Biswas et al. 2023",
    where="Thm 1 and Cor 1, misprint corrected",
    covers="k-ary randomized response; the worst of a few n0",
    conditions=f"n <= {MOST_USERS}",
    status="invalid",
    remark=(
        "it is about one bin in one order, not about the histogram released: n=6, k=3, eps0=1, eps=0.5 gives <= "
        "0.0202 for all n0, the truth is 0.0387"
    ),
    delta_at=_corrected,
    cost=_seconds,
)
ONE_BIN = Published(
    name="biswas-2023-one-bin",
    paper="Biswas et al. 2023",
    where="Thm 1, misprint corrected, read as a lower bound",
    covers="k-ary randomized response; the worst of a few n0",
    conditions=f"n <= {MOST_USERS}",
    status="proven",
    remark="exact for one bin's count on one dataset, which nobody who sees the whole histogram can know less than",
    side="lower",
    delta_at=_one_bin,
    cost=_seconds,
)
BOUNDS: tuple[Published, ...] = (PRINTED, CORRECTED, ONE_BIN)
