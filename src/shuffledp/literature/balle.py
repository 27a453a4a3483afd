"""Balle, Bell, Gascon and Nissim, "The privacy blanket of the shuffle model", CRYPTO 2019, arXiv
1903.02837.

Their Lemma 8 is theory section 2: delta(eps) <= 1/(gamma n) E[(L_1 + ... + L_M)_+] with M ~ Bin(n,
gamma) and L = (mu_x - e^eps mu_x')/omega on the blanket omega (the 1/gamma^n printed there is
1/(gamma n)). What is left is to bound E[(L_1 + ... + L_m)_+]; here a = e^eps - 1 = -E L:

- Lemma 10 (Hoeffding): b^2/(4a) exp(-2 m a^2/b^2), where b is the width of the range of L;
- Lemma 11 (Bennett): b/log(1 + ab/c) exp(-m c/b^2 phi(ab/c)), where L <= b, E L^2 <= c and phi(u) =
  (1+u) log(1+u) - u. **Printed with a further 1/(a m), which is wrong** (erratum 7): the authors'
  first released code has it too, the later one has it commented out.

Both are K exp(-s m), so that the mean over M is exact: K ((1 - gamma + gamma e^-s)^n - (1-gamma)^n)
whatever n is, with nothing to truncate. Both fall when b or c grows, so bounds on the range and on
the second moment of L serve; those of ``generic``, ``krr`` and ``laplace`` hold for every ordered
pair of inputs. Each lemma was derived again; the values agree with those that the authors' two
notebooks show.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shuffledp.literature.bound import Published, Setting, require
from shuffledp.randomizers import Laplace

SMALLEST = sys.float_info.min  # an upper bound must not underflow to 0
NEGLIGIBLE = 1e-100  # below this epsilon every bound here exceeds 1
MOST_SUMMED = 1_000_000


@dataclass(frozen=True, slots=True)
class Loss:
    """What is known of L at one epsilon: its hay has mass ``gamma``, -E L = ``a``, L <= ``high``,
    its range is ``width`` wide, E L^2 <= ``second``.
    """

    gamma: float
    a: float
    high: float
    width: float
    second: float


Known = Callable[[Setting, float], Loss]
Law = tuple[str, Known]


def generic(epsilon: float, epsilon0: float) -> Loss:
    """Lemmas 7 and 9 for any epsilon0-LDP randomizer, as the authors' code combines them: E =
    e^eps0, hay 1/E, but gamma = 1 in the range of L.

    The bound falls as the hay grows and rises with the range, so both ends of gamma in [1/E, 1] are
    safe. With u = mu_x/omega, v = mu_x'/omega and x = e^eps, E L^2 = E u^2 + x^2 E v^2 - 2x E uv,
    where u <= E, so E u^2 <= E, and u >= gamma, so E uv >= 1/E; the code subtracts less, 2x E^-3.
    """
    x, a = math.exp(epsilon), math.expm1(epsilon)
    second = math.exp(epsilon0) * a * a + 2.0 * x * math.exp(-3.0 * epsilon0) * math.expm1(4.0 * epsilon0)
    high, width = -math.exp(epsilon0) * math.expm1(epsilon - 2.0 * epsilon0), 2.0 * (x + 1.0) * math.sinh(epsilon0)
    return Loss(math.exp(-epsilon0), a, high, width, second)


def krr(epsilon: float, epsilon0: float, k: int) -> Loss:
    """Lemmas 6 and 12, exact: L is gamma (E - x), gamma (1 - x E) or, on the k-2 other outputs,
    gamma (1 - x).
    """
    x, a = math.exp(epsilon), math.expm1(epsilon)
    total = math.expm1(epsilon0) + k
    gamma, rest = k / total, math.expm1(epsilon0) / total
    second = gamma * (2.0 - gamma) * a * a + rest * rest * k * (1.0 + x * x)
    return Loss(gamma, a, -gamma * math.exp(epsilon0) * math.expm1(epsilon - epsilon0), rest * k * (1.0 + x), second)


def laplace(epsilon: float, epsilon0: float) -> Loss:
    """Lemmas 6 and 13, with q = e^(-eps0/2): the range is that of the pair (0, 1), and so is the
    second moment, the largest of all pairs.

    Printed as (x^2+1)/3 (2/q + q^2) - 2x (2q - q^2); regrouped here, as that cancels for small
    epsilon0.
    """
    x, a = math.exp(epsilon), math.expm1(epsilon)
    q, rest = math.exp(-epsilon0 / 2.0), -math.expm1(-epsilon0 / 2.0)
    second = a * a * (2.0 / q + q * q) / 3.0 + 4.0 * x / (3.0 * q) * rest * rest * (1.0 + 2.0 * q)
    return Loss(q, a, -math.expm1(epsilon - epsilon0) / q, 2.0 * (x + 1.0) * math.sinh(epsilon0 / 2.0), second)


def hoeffding(loss: Loss) -> tuple[float, float]:
    """Lemma 10: (K, s) with E[(L_1 + ... + L_m)_+] <= K e^(-s m)."""
    return loss.width**2 / (4.0 * loss.a), 2.0 * (loss.a / loss.width) ** 2


def bennett(loss: Loss) -> tuple[float, float]:
    """Lemma 11, corrected: (K, s) as above.

    E e^(lam L) <= 1 - lam a + c/b^2 (e^(lam b) - 1 - lam b), and P(sum > t) <= e^(-lam t) (E e^(lam
    L))^m; lam = log(1 + ab/c)/b is best at t = 0, and the integral over t gives K = 1/lam.
    """
    b, c = loss.high, loss.second
    u = loss.a * b / c
    # Near 0 the series, cut so that it stays below phi.
    phi = (1.0 + u) * math.log1p(u) - u if u > 1e-4 else u * u / 2.0 - u**3 / 6.0
    return b / math.log1p(u), c / (b * b) * phi


def _averaged(loss: Loss, n: int, factor: float, rate: float) -> float:
    """1/(gamma n) E[factor e^(-rate M); M >= 1] for M ~ Bin(n, gamma)."""
    with_noise = n * math.log1p(loss.gamma * math.expm1(-rate))
    without = n * math.log1p(-loss.gamma) if loss.gamma < 1.0 else -math.inf
    value = factor / (loss.gamma * n) * math.exp(with_noise) * -math.expm1(min(without - with_noise, 0.0))
    return min(max(value, SMALLEST), 1.0)


def delta_hoeffding(loss: Loss, n: int) -> float:
    """Lemmas 8 and 10."""
    return _averaged(loss, n, *hoeffding(loss))


def delta_bennett(loss: Loss, n: int) -> float:
    """Lemmas 8 and 11, corrected."""
    return _averaged(loss, n, *bennett(loss))


def delta_bennett_printed(loss: Loss, n: int) -> float:
    """Lemmas 8 and 11 with the printed factor 1/(a m), as in the authors' first released code. Not
    a bound.

    e^(-s m) tilts the law of M into Bin(n, p), over which 1/m is summed term by term, so n is
    limited.
    """
    from scipy.stats import binom  # slow to import, and needed nowhere else

    require(n <= MOST_SUMMED, f"n must be at most {MOST_SUMMED} for the printed sum to be affordable", n)
    factor, rate = bennett(loss)
    scale = 1.0 + loss.gamma * math.expm1(-rate)
    p = min(loss.gamma * math.exp(-rate) / scale, 1.0)
    reach = 10.0 * math.sqrt(n * p * (1.0 - p)) + 10.0
    m = np.arange(max(1, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach)) + 1)
    inverse = float(np.sum(binom.pmf(m, n, p) / m))
    return min(max(factor / (loss.a * loss.gamma * n) * math.exp(n * math.log(scale)) * inverse, SMALLEST), 1.0)


def theorem_6(epsilon: float, epsilon0: float, n: int) -> float:
    """Theorem 6: (x+1)^2 w^2 / (4 n a) exp(-C n min(1/E, a^2/((x+1)^2 w^2))), w = E - 1/E, C = 1 -
    e^-2; Lemmas 8, 9 and 10 with the true gamma throughout.
    """
    width = 2.0 * (math.exp(epsilon) + 1.0) * math.sinh(epsilon0)
    a = math.expm1(epsilon)
    exponent = math.expm1(-2.0) * n * min(math.exp(-epsilon0), (a / width) ** 2)
    return min(max(width / (4.0 * n) * (width / a) * math.exp(exponent), SMALLEST), 1.0)


def _theorem_1(setting: Setting, delta: float) -> float:
    """Theorem 1 solved for epsilon: max(sqrt(14 k log(2/delta) / ((n-1) gamma)), 27 k / ((n-1)
    gamma)).
    """
    randomizer, n = setting.krr, setting.n
    require(n >= 2, "n must be at least 2", n)
    share = randomizer.k / randomizer.gamma / (n - 1)
    epsilon = max(math.sqrt(14.0 * share * math.log(2.0 / delta)), 27.0 * share)
    require(epsilon <= 1.0, "its epsilon must be at most 1, so n must be larger or epsilon0 smaller", f"{epsilon:.4g}")
    return epsilon


def _laplace(setting: Setting, epsilon: float) -> Loss:
    require(isinstance(setting.randomizer, Laplace), "it is about the Laplace mechanism on [0, 1]", setting.randomizer)
    return laplace(epsilon, setting.epsilon0)


def _theorem_6(setting: Setting, epsilon: float) -> float:
    if epsilon >= setting.epsilon0:
        return 0.0
    return 1.0 if epsilon < NEGLIGIBLE else theorem_6(epsilon, setting.epsilon0, setting.n)


def _at(law: Known, bound: Callable[[Loss, int], float]) -> Callable[[Setting, float], float]:
    """A lemma with what is known of L; from epsilon0 on delta is 0, as the local guarantee alone
    says.
    """

    def delta(setting: Setting, epsilon: float) -> float:
        loss = law(setting, min(max(epsilon, NEGLIGIBLE), setting.epsilon0))
        if epsilon >= setting.epsilon0:
            return 0.0
        return 1.0 if epsilon < NEGLIGIBLE else bound(loss, setting.n)

    return delta


SHARED = (
    "any epsilon0-LDP randomizer that all users share (by the any-randomizer theorem of docs/theory.md also "
    "adaptive ones in a secret random order)"
)
GENERIC: Law = SHARED, lambda setting, epsilon: generic(epsilon, setting.epsilon0)
KRR: Law = "k-ary randomized response", lambda setting, epsilon: krr(epsilon, setting.epsilon0, setting.krr.k)
LAPLACE: Law = "the Laplace mechanism on [0, 1]", _laplace
CORRECTED = "Lemma 11 without its printed 1/(a m), which is wrong (erratum 7); the authors' later code agrees"
_proven = partial(Published, paper="Balle et al. 2019", status="proven")


def _lemma(
    name: str, law: Law, bound: Callable[[Loss, int], float], where: str, remark: str = "", **described: Any
) -> Published:
    """Lemma 8 with one inequality, for what is known of a law."""
    covers, known = law
    described = {"remark": remark, "adversary": "weak", "delta_at": _at(known, bound), **described}
    return _proven(f"balle-2019-{name}", where, covers, **described)


THEOREM_1 = _proven(
    "balle-2019-thm-1", "Thm 1", KRR[0], conditions="epsilon <= 1", adversary="strong", epsilon_at=_theorem_1
)
THEOREM_6 = _proven("balle-2019-thm-6", "Thm 6", SHARED, adversary="weak", delta_at=_theorem_6)
HOEFFDING = _lemma(
    "hoeffding",
    GENERIC,
    delta_hoeffding,
    "Lemmas 7-10, as in the authors' code",
    "the paper's plots call this Theorem 6, whose closed form is looser for small epsilon0 and tighter for large",
)
HOEFFDING_KRR = _lemma("hoeffding-krr", KRR, delta_hoeffding, "Lemmas 6, 8, 10 and 12")
HOEFFDING_LAPLACE = _lemma("hoeffding-laplace", LAPLACE, delta_hoeffding, "Lemmas 6, 8, 10 and 13")
BENNETT = _lemma("bennett", GENERIC, delta_bennett, "Lemmas 7, 8, 9 and 11 corrected", CORRECTED)
BENNETT_KRR = _lemma("bennett-krr", KRR, delta_bennett, "Lemmas 6, 8, 12 and 11 corrected", CORRECTED)
BENNETT_LAPLACE = _lemma("bennett-laplace", LAPLACE, delta_bennett, "Lemmas 6, 8, 13 and 11 corrected", CORRECTED)
BENNETT_PRINTED = _lemma(
    "bennett-krr-printed",
    KRR,
    delta_bennett_printed,
    "Lemmas 6, 8, 12 and 11 as printed",
    "not a bound: for k=2, epsilon0=1, n=1000 it claims delta(0.05) <= 5.63e-4, and one pair of datasets has 1.025e-3",
    conditions=f"n <= {MOST_SUMMED}, for cost",
    status="invalid",
)
BOUNDS = (
    THEOREM_1,
    THEOREM_6,
    *(HOEFFDING, HOEFFDING_KRR, HOEFFDING_LAPLACE),
    *(BENNETT, BENNETT_KRR, BENNETT_LAPLACE, BENNETT_PRINTED),
)
