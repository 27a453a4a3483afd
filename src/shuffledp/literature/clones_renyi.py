"""Feldman, McMillan and Talwar 2020, section 6.1: rounds composed through the Renyi divergence of
the clones pair.

The paper sums the divergence over all (C, A). Here it comes from certified upper ends of the pair's
delta(eps) curve (``shuffledp.accounting.renyi``), so nothing is truncated and the cost does not
grow with n. Divergences add up over rounds, adaptive ones too (Mironov 2017), and convert to
(epsilon, delta) by Canonne, Kamath and Steinke 2020, Prop. 12.
"""

from collections.abc import Callable
from functools import lru_cache

from shuffledp.accounting import renyi
from shuffledp.accounting.accuracy import CURVE_GAP
from shuffledp.accounting.guarantee import check_order
from shuffledp.errors import check_users
from shuffledp.literature.bound import Published, Setting
from shuffledp.literature.own_bounds import clones_curve, cost


def divergence(n: int, epsilon0: float, order: float) -> float:
    """An upper end of the Renyi divergence of the clones pair, for any real order above 1; the pair
    is symmetric, so in both directions.
    """
    curve, order = clones_curve(check_users(n)[0], epsilon0), check_order(order)
    return renyi.divergence_at_most(lambda epsilons: curve(epsilons, CURVE_GAP), epsilon0, order)


@lru_cache(maxsize=64)
def _divergence(n: int, epsilon0: float) -> Callable[[float], float]:
    curve = clones_curve(n, epsilon0)
    return renyi.any_order(lambda epsilons: curve(epsilons, CURVE_GAP), epsilon0)


def _of_rounds(setting: Setting) -> Callable[[float], float]:
    once = _divergence(setting.n, setting.epsilon0)
    return lambda order: setting.rounds * once(order)


CLONES_RENYI = Published(
    name="feldman-2020-clones-renyi",
    paper="Feldman, McMillan and Talwar 2020",
    where="Thm 3.2 and section 6.1; Canonne, Kamath and Steinke 2020, Prop. 12",
    covers="any epsilon0-LDP randomizers, also adaptive in a secret random order",
    status="proven",
    rounds="any",
    epsilon_at=lambda setting, delta: renyi.best_epsilon(_of_rounds(setting), delta, between=float),
    delta_at=lambda setting, epsilon: renyi.best_delta(_of_rounds(setting), epsilon, between=float),
    cost=cost(lambda setting: setting.epsilon0, 0.25, 0.25),
)
BOUNDS = (CLONES_RENYI,)
