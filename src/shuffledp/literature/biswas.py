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

The paper's double sums over s and r are coefficients t_s of (1 + az)^n0 (1 + bz)^m, and those have
a recurrence of three terms,

    (s+1) t_{s+1} = (a (n0-s) + b (m-s)) t_s + a b (n0+m-s+1) t_{s-1}.

It is used upwards from s = 0 while its first factor is not negative, and for the reversed
polynomial, a and b inverted, from the other end; the two runs meet. Nothing is ever subtracted from
a t. The factor itself may be a difference, but (s+1) t_{s+1} / t_s = a E[n0-R | s] + b E[m-Y | s]
is at least half of a |n0-s| + b |m-s| on the way up. So a step costs at most 8 u, u = 2^-53, and
the errors of a and b cost 4 u more; with both runs and the sum that they are divided by, a
probability is off by at most 48 n u, relatively. So is Y's share, and the loss by at most 96 n u
eps0. ``ROUNDING`` is above both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.errors import LARGEST_EPSILON, InvalidInput, Refusal, check_count, check_epsilon, shown
from shuffledp.literature.bound import Published, Setting, require
from shuffledp.randomizers.parameters import check_epsilon0

MOST_USERS = 10**6  # each costs a microsecond
MOST_CATEGORIES = 10**100
MOST_STEPS = 2 * 10**7  # of a dataset: users times different counts
ROUNDING = 2.0**-46  # per user: 128 units of rounding, of a probability and, times eps0, of a loss
TINY = float(np.finfo(np.float64).tiny)  # below it numbers have fewer digits
UNIT = 300  # probabilities are in units of 2^-300, so that a delta near TINY has all its terms


def delta_printed(n: int, k: int, epsilon0: float, n0: int, epsilon: float) -> float:
    """Theorem 1 as printed, which is what Tables 1 and 3 of the paper show. It bounds nothing.

    >>> delta_printed(
    ...     n=100, k=10, epsilon0=2.0, n0=80, epsilon=0.5
    ... )  # the paper's Table 3 has 3.25E-22
    3.245e-22
    """
    return _delta(*_bin(*_checked(n, k, epsilon0, n0), printed=True), check_epsilon(epsilon))


def delta_corrected(n: int, k: int, epsilon0: float, n0: int, epsilon: float) -> float:
    """Theorem 1 corrected: the exact delta between the counts of x_0 with the target holding x_0
    and x_1, while n0 of the others hold x_0.

    >>> delta_corrected(n=100, k=10, epsilon0=2.0, n0=80, epsilon=0.5)
    2.606e-08
    """
    return _delta(*_bin(*_checked(n, k, epsilon0, n0), printed=False), check_epsilon(epsilon))


def delta_of_dataset(counts: Sequence[int], epsilon0: float, epsilon: float, *, printed: bool = False) -> float:
    """Equation (15), delta-hat of the dataset with these counts: the largest delta of Theorem 1,
    corrected or as printed, over the values that occur. One of those who have the value is the
    target, the others are its n0.

    It is a property of one dataset, not a guarantee: it compares one bin's count, in one order, and
    other datasets leak more. Corrected, it bounds the worst case from below.

    >>> delta_of_dataset([80, 15, 5], epsilon0=2.0, epsilon=0.5)
    0.000439
    """
    if isinstance(counts, Mapping) or not isinstance(counts, Iterable):
        remedy = "Of a dict pass list(counts.values())."
        raise InvalidInput(Refusal("counts must be a list, one count per value", shown(counts), remedy))
    held = [check_count("counts", each, least=0, remedy="Each counts the holders of one value.") for each in counts]
    if not any(held):
        raise InvalidInput(f"counts must count at least one user, got {held!r}. Pass the counts of all values.")
    different = {*held} - {0}
    if (steps := sum(held) * len(different)) > MOST_STEPS:
        rule = f"counts must have few users or few different counts, their product at most {MOST_STEPS:,}"
        remedy = "Call delta_corrected or delta_printed for the values that matter."
        raise InvalidInput(Refusal(rule, f"{steps:,}", remedy))
    delta = delta_printed if printed else delta_corrected
    return max(delta(sum(held), len(held), epsilon0, each - 1, epsilon) for each in different)


def _checked(n: int, k: int, epsilon0: float, n0: int) -> tuple[int, int, float, int]:
    n = check_count("n", n, least=1, remedy="n counts the users.")
    require(n <= MOST_USERS, f"n must be at most {MOST_USERS}, as every user is a step of a sum", shown(n))
    n0 = check_count("n0", n0, least=0, remedy="n0 counts those of the others who hold x_0.")
    require(n0 < n, "n0 must be below n, as it counts others than the target", shown(n0))
    k = check_count("k", k, least=2, remedy="k counts the categories.")
    require(k <= MOST_CATEGORIES, "k must be at most 1e100, as it becomes a float", shown(k))
    return n, k, check_epsilon0(epsilon0), n0


@lru_cache(maxsize=64)
def _bin(n: int, k: int, epsilon0: float, n0: int, *, printed: bool) -> tuple[Floats, Floats]:
    """P(s | x_0), in units, for every s where it is at least TINY, and the privacy loss there, as
    misprinted if ``printed``. Losses below 0 are shown as 0: they never count.
    """
    m, E = n - n0, math.exp(epsilon0)
    others, share = _others(n0, m - 1, k, epsilon0)
    truth = E / (E + k - 1)
    chances = truth * np.append(0.0, others) + (k - 1) / (E + k - 1) * np.append(others, 0.0)
    if printed:  # E[(Y/m)^2 | s]: if one of the m is among the s reports, the others share s-1 reports
        pairs = (m - 1) * np.append(0.0, _others(n0, m - 2, k, epsilon0)[1]) if m > 1 else 0.0
        share = share * (1.0 + pairs) / m
    # the ratio less 1; as 1 - kappa = (E-1)/(E+k-2), nothing cancels where epsilon0 is small
    gain = math.expm1(epsilon0) * (share - (1.0 - share) / (E + (k - 2)))
    kept = chances >= TINY
    return chances[kept], np.log1p(np.maximum(gain[kept], 0.0))


def _others(n0: int, m: int, k: int, epsilon0: float) -> tuple[Floats, Floats]:
    """P(R + Y = s), in units, s = 0..n0+m, with m users in Y; and, with one more user in Y,
    E[Y | R + Y = s] / (m+1), s = 0..n0+m+1: the probability that this one reported x_0.
    """
    n, E = n0 + m, math.exp(epsilon0)
    up, powers = _climb(n0, m, E / (k - 1), 1.0 / (E + (k - 2)))
    down, falls = _climb(n0, m, (k - 1) / E, E + (k - 2))
    rest = n + 1 - up.size  # the two runs share the point before
    terms = np.concatenate([up, up[-1] / down[rest] * down[:rest][::-1]])
    powers = np.concatenate([powers, powers[-1] - falls[rest] + falls[:rest][::-1]])
    law = np.ldexp(terms, powers - powers.max() + UNIT)
    odds = np.ldexp(terms[1:] / terms[:-1], np.diff(powers)) * (E + (k - 2))
    return law / math.ldexp(law.sum(), -UNIT), np.concatenate([[0.0], 1.0 / (1.0 + odds), [1.0]])


def _climb(n0: int, m: int, a: float, b: float) -> tuple[Floats, NDArray[np.int64]]:
    """Coefficients of (1 + az)^n0 (1 + bz)^m from the first on, up to where the recurrence would
    subtract: numbers near 1, and the powers of 2 to multiply them by.
    """
    before, now, power = 0.0, 1.0, 0
    terms, powers = [now], [power]
    for s in range(n0 + m):
        factor = a * (n0 - s) + b * (m - s)
        if factor < 0.0:
            break
        before, now = now, (factor * now + a * b * (n0 + m - s + 1) * before) / (s + 1)
        if not 1e-100 < now < 1e100:
            now, shift = math.frexp(now)
            before, power = math.ldexp(before, -shift), power + shift
        terms.append(now)
        powers.append(power)
    found, shifts = np.frexp(terms)
    return found, np.array(powers) + shifts


def _delta(chances: Floats, loss: Floats, epsilon: float) -> float:
    """Sum over s with loss > epsilon of P(s | x_0) (1 - e^(epsilon - loss))."""
    counts = loss > epsilon
    terms = chances[counts] * -np.expm1(epsilon - loss[counts])
    delta = math.ldexp(math.fsum(terms[terms >= TINY]), -UNIT)
    return min(1.0, delta) if delta >= TINY else 0.0


def _largest(delta: Callable[..., float], setting: Setting, epsilon: float) -> float:
    """Of a few n0: few holders make the count least noisy, many make the largest losses likely; the
    paper has 0.8 n.
    """
    n, krr = setting.n, setting.krr
    tried = {0, n // 4, n // 2, min(4 * n // 5, n - 1), n - 1}
    return max(delta(n, krr.k, krr.epsilon0, n0, epsilon) for n0 in sorted(tried))


def _one_bin(setting: Setting, epsilon: float) -> float:
    error = ROUNDING * setting.n
    farther = min(epsilon + error * setting.krr.epsilon0, LARGEST_EPSILON)
    return (1.0 - error) * _largest(delta_corrected, setting, farther)


def _seconds(setting: Setting) -> float:
    _checked(setting.n, setting.krr.k, setting.krr.epsilon0, 0)
    return 2e-4 + 4e-6 * setting.n


_bound = partial(
    Published,
    paper="Biswas et al. 2023",
    covers="k-ary randomized response; the worst of a few n0",
    conditions=f"n <= {MOST_USERS}",
    cost=_seconds,
)
PRINTED = _bound(
    "biswas-2023-printed",
    "Thm 1 and Cor 1, as printed",
    status="invalid",
    remark=(
        "(s-r) and C(n-1-n0, s-1-r) should not both be there: n=100, k=10, eps0=2, n0=80, eps=0.5 gives 3.2e-22, "
        "and the count it is about has 2.6e-8; here the largest of five n0, for one n0 call biswas.delta_printed"
    ),
    delta_at=partial(_largest, delta_printed),
)
CORRECTED = _bound(
    "biswas-2023-corrected",
    "Thm 1 and Cor 1, misprint corrected",
    status="invalid",
    remark=(
        "it is about one bin in one order, not about the histogram released: n=6, k=3, eps0=1, eps=0.5 gives <= "
        "0.0202 for all n0, the truth is 0.0387"
    ),
    delta_at=partial(_largest, delta_corrected),
)
ONE_BIN = _bound(
    "biswas-2023-one-bin",
    "Thm 1, misprint corrected, read as a lower bound",
    status="proven",
    remark="exact for one bin's count on one dataset, and the whole histogram shows that count, too",
    side="lower",
    delta_at=_one_bin,
)
BOUNDS = (PRINTED, CORRECTED, ONE_BIN)
