"""Papers of one bound or two: Erlingsson et al. 2019, Cheu et al. 2019, Balle et al. 2020, Girgis
et al. 2021 and Wang et al. 2023.

In every formula E = e^epsilon0.
"""

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from scipy.special import gammaln, logsumexp

from shuffledp.accounting import renyi
from shuffledp.accounting.curves import Envelope
from shuffledp.accounting.haystack import Haystack
from shuffledp.literature.bound import Published, Setting, enveloped, require
from shuffledp.literature.own_bounds import ADAPTIVE, cost
from shuffledp.randomizers.randomizer import Atoms

ORDERS = (*range(2, 33), *range(36, 65, 4), 80, 96, 128, 192, 256, 384, 512)


def erlingsson(n: int, epsilon0: float, delta: float) -> float:
    """Erlingsson, Feldman, Mironov, Raghunathan, Talwar and Thakurta 2019, arXiv 1811.12469, the
    simple form of Theorem 7 (version 2): 12 eps0 sqrt(log(1/delta) / n), for any eps0-LDP
    randomizers, also adaptive ones.

    For eps0 < 1/2, n >= 1000 and delta < 1/100; the code of Balle et al. 2019 admits eps0 = 1/2.
    """
    require(epsilon0 < 0.5, "epsilon0 must be below 1/2", f"{epsilon0:g}")
    require(n >= 1000, "n must be at least 1000", n)
    require(delta < 0.01, "delta must be below 1/100", f"{delta:g}")
    return 12.0 * epsilon0 * math.sqrt(math.log(1.0 / delta) / n)


def erlingsson_general(n: int, epsilon0: float, delta: float) -> float:
    """The first form of Theorem 7 (version 2): e1 sqrt(2 n log(1/delta)) + n e1 (e^e1 - 1) with e1
    = 2 E^2 (E - 1) / n: advanced composition of n steps of e1 each.

    It holds for every eps0, but above log(n/2)/3 it exceeds eps0.
    """
    require(epsilon0 <= math.log(n / 2.0) / 3.0, "it says nothing above epsilon0 = log(n/2)/3", f"{epsilon0:g}")
    step = 2.0 * math.exp(2.0 * epsilon0) * math.expm1(epsilon0) / n
    return step * math.sqrt(2.0 * n * math.log(1.0 / delta)) + n * step * math.expm1(step)


_erlingsson = partial(Published, covers=ADAPTIVE, paper="Erlingsson et al. 2019", status="proven")
ERLINGSSON = _erlingsson(
    "erlingsson-2019",
    "Thm 7 of version 2, its simple form; quoted as Thm 4 of Balle et al. 2019",
    conditions="epsilon0 < 1/2, n >= 1000, delta < 1/100",
    epsilon_at=lambda setting, delta: erlingsson(setting.n, setting.epsilon0, delta),
)
ERLINGSSON_GENERAL = _erlingsson(
    "erlingsson-2019-general",
    "Thm 7 of version 2, its first form",
    conditions="epsilon0 <= log(n/2)/3, above which it holds, but says nothing",
    epsilon_at=lambda setting, delta: erlingsson_general(setting.n, setting.epsilon0, delta),
)


def cheu(setting: Setting, delta: float) -> float:
    """Cheu, Smith, Ullman, Zeber and Zhilyaev 2019, arXiv 1808.01394, Corollary 4.7, for binary
    randomized response: sqrt(32 log(4/delta) / x) (1 - x/n), where x = lam - sqrt(2 lam
    log(2/delta)) and lam = 2n/(E+1), the mean number of users who answer at random, for lam >= 14
    log(4/delta).

    The number of ones among s random answers stays within sqrt(s log(4/delta)/2) of s/2 (Hoeffding,
    delta/2), so for s > 8 log(4/delta) one more changes the odds by at most 1 + sqrt(32
    log(4/delta)/s) (Claim 4.4). The target is among them with probability s/n, and then says
    nothing (Claim 4.5). s >= x but for delta/2 (Chernoff), and x > 8 log(4/delta), as 14 - sqrt(28)
    > 8.
    """
    require(setting.krr.binary, "it is about binary randomized response", setting.krr)
    n, epsilon0 = setting.n, setting.epsilon0
    lam, least = 2.0 * n * math.exp(-epsilon0) / (1.0 + math.exp(-epsilon0)), 14.0 * math.log(4.0 / delta)
    require(lam >= least, f"2n/(e^epsilon0 + 1) must be at least 14 log(4/delta) = {least:.4g}", f"{lam:.4g}")
    x = lam - math.sqrt(2.0 * lam * math.log(2.0 / delta))
    truthful = math.tanh(epsilon0 / 2.0)  # 1 - lam/n
    return math.sqrt(32.0 * math.log(4.0 / delta) / x) * (truthful + (lam - x) / n)


CHEU = Published(
    "cheu-2019",
    "Cor 4.7 of version 3",
    "binary randomized response",
    paper="Cheu et al. 2019",
    conditions="2n/(e^epsilon0 + 1) >= 14 log(4/delta)",
    status="proven",
    epsilon_at=cheu,
)


def checkins(setting: Setting, delta: float) -> float:
    """Balle, Kairouz, McMahan, Thakkar and Thakurta 2020, arXiv 2007.06605, random check-ins: E^3
    (E-1)^2 / (2n) + E^1.5 (E-1) sqrt(2 log(1/delta) / n), for any eps0-LDP randomizers, also
    adaptive ones.

    Reconstructed: neither the theorem's text nor code of it was found. Soon above eps0, where the
    local guarantee alone is better.
    """
    n, epsilon0 = setting.n, setting.epsilon0
    spread = math.exp(1.5 * epsilon0) * math.expm1(epsilon0)
    return spread * spread / (2.0 * n) + spread * math.sqrt(2.0 * math.log(1.0 / delta) / n)


CHECKINS = Published(
    "balle-2020-checkins",
    "amplification by shuffling",
    ADAPTIVE,
    paper="Balle et al. 2020",
    status="unproven",
    remark=(
        "reconstructed: neither the theorem's text nor code of it was found, so its constants and conditions may not "
        "be those printed; it held in every exact comparison"
    ),
    epsilon_at=checkins,
)


@lru_cache(maxsize=512)
def girgis(n: int, epsilon0: float, order: float) -> float:
    """Girgis, Data, Diggavi, Suresh and Kairouz 2021, arXiv 2105.05180, Theorem 1: the Renyi
    divergence of integer order l >= 2, for any eps0-LDP randomizer with finitely many outputs. With
    nb = floor((n-1)/(2E)) + 1,

    log(1 + C(l,2) (E-1)^2/(nb E) + sum_{i=3..l} C(l,i) i Gamma(i/2) ((E^2-1)^2/(2 nb E^2))^(i/2) +
    e^(eps0 l - (n-1)/(8E))) / (l-1).

    Reconstructed from public code of other authors (class GDDTK'21 in yixuanLL/HPS), whose sum
    starts at i = 2 and so counts C(l,2) twice. The base of the power fits what it must bound:
    E|X|^i <= i Gamma(i/2) (2 s^2)^(i/2) for the mean X of nb variables in a range of E - 1/E, which
    is sub-Gaussian with s^2 = (E - 1/E)^2/(4 nb).
    """
    require(order >= 2 and float(order).is_integer(), "the order must be an integer of at least 2", order)
    whole = int(order)
    hidden = math.floor((n - 1) * math.exp(-epsilon0) / 2.0) + 1
    rise = 2.0 * math.log(2.0 * math.sinh(epsilon0 / 2.0)) - math.log(hidden)  # (E-1)^2/(nb E)
    spread = 2.0 * math.log(2.0 * math.sinh(epsilon0)) - math.log(2.0 * hidden)  # (E^2-1)^2/(2 nb E^2)
    logs = [0.0, math.log(whole * (whole - 1) / 2.0) + rise, epsilon0 * whole - (n - 1) * math.exp(-epsilon0) / 8.0]
    for i in range(3, whole + 1):
        choices = float(gammaln(whole + 1) - gammaln(i + 1) - gammaln(whole - i + 1))
        logs.append(choices + math.log(i) + float(gammaln(i / 2.0)) + i / 2.0 * spread)
    rest = float(logsumexp(logs[1:]))  # log1p keeps a small divergence
    return (math.log1p(math.exp(rest)) if rest < 30.0 else float(logsumexp(logs))) / (whole - 1)


def _whole(order: float) -> float:
    return min(max(float(round(order)), 2.0), float(ORDERS[-1]))


def _girgis_rounds(setting: Setting) -> Callable[[float], float]:
    return lambda order: setting.rounds * girgis(setting.n, setting.epsilon0, order)


GIRGIS = Published(
    "girgis-2021",
    "Thm 1; converted by Canonne, Kamath and Steinke 2020, Prop. 12",
    "any epsilon0-LDP randomizer with finitely many outputs",
    paper="Girgis et al. 2021",
    status="unproven",
    remark=(
        "reconstructed: the theorem's text was not found; its constants are those of public code by other authors, "
        "whose sum starts at i = 2 and ours at 3; it held in every exact comparison"
    ),
    rounds="any",
    epsilon_at=lambda setting, delta: renyi.best_epsilon(_girgis_rounds(setting), delta, ORDERS, _whole),
    delta_at=lambda setting, epsilon: renyi.best_delta(_girgis_rounds(setting), epsilon, ORDERS, _whole),
    cost=cost(lambda setting: setting.epsilon0, 0.02, 0.02),
)


def variation_ratio_pair(k: int, epsilon0: float) -> Atoms:
    """Wang, Peng, Li, Wen, Li, Yu, Wang and Yang 2023, arXiv 2304.05007: the pair of the
    "variation-ratio" reduction for k-RR.

    The target reports one of two symbols with probabilities p a and a, where a = beta/(p-1) and
    beta is the total variation of its two laws, and "other" with the rest. Every other user reports
    each of the two symbols with probability r = a p/q, and "other" with the rest, as in the
    authors' released code (github.com/wangsw/PrivacyAmplification). For any eps0-LDP randomizer p =
    q = E and beta = (E-1)/(E+1), so a = r = 1/(E+1), the target never reports "other", and the pair
    is that of "stronger clones": see ``own_bounds.ANY_RANDOMIZER``. For k-RR p = q = E, beta =
    (E-1)/(E+k-1).

    For k >= 3 it is a dataset, that in which all others hold a third value, with all outputs but
    two merged: a *lower* bound. For k = 2 it is the pair of the any-randomizer theorem.
    """
    rare = 1.0 / (math.exp(epsilon0) + k - 1.0)
    common, other = math.exp(epsilon0) * rare, (k - 2.0) * rare
    hay, needles = np.array([rare, rare, 1.0 - 2.0 * rare]), ([common, rare, other], [rare, common, other])
    return Atoms(f"variation ratio of {k}-RR", hay, *map(np.array, needles))


def _variation_ratio(setting: Setting) -> Envelope:
    krr = setting.krr
    require(krr.k >= 3, "k must be at least 3 (for k = 2 it is the pair of the any-randomizer theorem)", krr.k)
    return Envelope([Haystack.of(variation_ratio_pair(krr.k, krr.epsilon0), setting.n)], "upper", krr.epsilon0)


VARIATION_RATIO_KRR = Published(
    "wang-2023-variation-ratio-krr",
    "variation-ratio reduction with the parameters of k-RR",
    "k-ary randomized response",
    paper="Wang et al. 2023",
    conditions="k >= 3",
    status="invalid",
    remark=(
        "n = 6, k = 3, epsilon0 = 1: delta(0.9) = 2.10e-4, exactly 3.48e-3; it is what one dataset leaks, all "
        "others holding a third value"
    ),
    **enveloped(_variation_ratio),
)
