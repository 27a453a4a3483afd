"""Girgis, Data, Diggavi, Suresh and Kairouz 2021, arXiv 2105.05180: the Renyi differential privacy
of the shuffle model.
"""

import math
from collections.abc import Callable
from functools import lru_cache

from scipy.special import gammaln, logsumexp

from shuffledp.accounting import renyi
from shuffledp.literature.bound import Published, Setting, require
from shuffledp.literature.own_bounds import cost

ORDERS = (*range(2, 33), *range(36, 65, 4), 80, 96, 128, 192, 256, 384, 512)


@lru_cache(maxsize=512)
def divergence(n: int, epsilon0: float, order: float) -> float:
    """Theorem 1: the Renyi divergence of integer order l >= 2, for any eps0-LDP randomizer with
    finitely many outputs. With nb = floor((n-1)/(2E)) + 1,

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
    logs += [
        _log_choose(whole, i) + math.log(i) + float(gammaln(i / 2.0)) + i / 2.0 * spread for i in range(3, whole + 1)
    ]
    rest = float(logsumexp(logs[1:]))  # log1p keeps a small divergence
    return (math.log1p(math.exp(rest)) if rest < 30.0 else float(logsumexp(logs))) / (whole - 1)


def _log_choose(n: int, k: int) -> float:
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _whole(order: float) -> float:
    return min(max(float(round(order)), 2.0), float(ORDERS[-1]))


def _of_rounds(setting: Setting) -> Callable[[float], float]:
    return lambda order: setting.rounds * divergence(setting.n, setting.epsilon0, order)


GIRGIS = Published(
    name="girgis-2021",
    paper="Girgis et al. 2021",
    where="Thm 1; converted by Canonne, Kamath and Steinke 2020, Prop. 12",
    covers="any epsilon0-LDP randomizer with finitely many outputs",
    status="unproven",
    remark=(
        "reconstructed: the theorem's text was not found; its constants are those of public code by other authors, "
        "whose sum starts at i = 2 and ours at 3; it held in every exact comparison"
    ),
    rounds="any",
    epsilon_at=lambda setting, delta: renyi.best_epsilon(_of_rounds(setting), delta, ORDERS, _whole),
    delta_at=lambda setting, epsilon: renyi.best_delta(_of_rounds(setting), epsilon, ORDERS, _whole),
    cost=cost(lambda setting: setting.epsilon0, 0.02, 0.02),
)
BOUNDS = (GIRGIS,)
