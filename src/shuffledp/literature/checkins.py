"""Balle, Kairouz, McMahan, Thakkar and Thakurta 2020, arXiv 2007.06605: privacy amplification via
random check-ins, its bound for shuffling.
"""

import math

from shuffledp.literature.bound import Published


def epsilon(n: int, epsilon0: float, delta: float) -> float:
    """E^3 (E-1)^2 / (2n) + E^1.5 (E-1) sqrt(2 log(1/delta) / n) with E = e^eps0, for any eps0-LDP
    randomizers, also adaptive ones.

    Reconstructed: neither the theorem's text nor code of it was found. Soon above eps0, where the
    local guarantee alone is better.
    """
    spread = math.exp(1.5 * epsilon0) * math.expm1(epsilon0)
    return spread * spread / (2.0 * n) + spread * math.sqrt(2.0 * math.log(1.0 / delta) / n)


CHECKINS = Published(
    name="balle-2020-checkins",
    paper="Balle et al. 2020",
    where="amplification by shuffling",
    covers="any epsilon0-LDP randomizers, also adaptive in a secret random order",
    status="unproven",
    remark=(
        "reconstructed: neither the theorem's text nor code of it was found, so its constants and conditions may not "
        "be those printed; it held in every exact comparison"
    ),
    epsilon_at=lambda setting, delta: epsilon(setting.n, setting.epsilon0, delta),
)

BOUNDS = (CHECKINS,)
