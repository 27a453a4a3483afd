"""Erlingsson, Feldman, Mironov, Raghunathan, Talwar and Thakurta 2019, arXiv 1811.12469:
amplification by shuffling.
"""

import math

from shuffledp.literature.bound import Published, require


def epsilon(n: int, epsilon0: float, delta: float) -> float:
    """The simple form of Theorem 7 (version 2): 12 eps0 sqrt(log(1/delta) / n), for any eps0-LDP
    randomizers, also adaptive ones.

    For eps0 < 1/2, n >= 1000 and delta < 1/100; the code of Balle et al. 2019 admits eps0 = 1/2.
    """
    require(epsilon0 < 0.5, "epsilon0 must be below 1/2", f"{epsilon0:g}")
    require(n >= 1000, "n must be at least 1000", n)
    require(delta < 0.01, "delta must be below 1/100", f"{delta:g}")
    return 12.0 * epsilon0 * math.sqrt(math.log(1.0 / delta) / n)


def general(n: int, epsilon0: float, delta: float) -> float:
    """The first form of Theorem 7 (version 2): e1 sqrt(2 n log(1/delta)) + n e1 (e^e1 - 1) with e1
    = 2 E^2 (E - 1) / n, E = e^eps0: advanced composition of n steps of e1 each.

    It holds for every eps0, but above log(n/2)/3 it exceeds eps0.
    """
    require(epsilon0 <= math.log(n / 2.0) / 3.0, "it says nothing above epsilon0 = log(n/2)/3", f"{epsilon0:g}")
    step = 2.0 * math.exp(2.0 * epsilon0) * math.expm1(epsilon0) / n
    return step * math.sqrt(2.0 * n * math.log(1.0 / delta)) + n * step * math.expm1(step)


PAPER = "Erlingsson et al. 2019"
COVERS = "any epsilon0-LDP randomizers, also adaptive in a secret random order"
ERLINGSSON = Published(
    name="erlingsson-2019",
    paper=PAPER,
    where="Thm 7 of version 2, its simple form; quoted as Thm 4 of Balle et al. 2019",
    covers=COVERS,
    conditions="epsilon0 < 1/2, n >= 1000, delta < 1/100",
    status="proven",
    epsilon_at=lambda setting, delta: epsilon(setting.n, setting.epsilon0, delta),
)
GENERAL = Published(
    name="erlingsson-2019-general",
    paper=PAPER,
    where="Thm 7 of version 2, its first form",
    covers=COVERS,
    conditions="epsilon0 <= log(n/2)/3, above which it holds, but says nothing",
    status="proven",
    epsilon_at=lambda setting, delta: general(setting.n, setting.epsilon0, delta),
)
BOUNDS = (ERLINGSSON, GENERAL)
