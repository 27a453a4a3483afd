"""Erlingsson, Feldman, Mironov, Raghunathan, Talwar and Thakurta 2019, arXiv 1811.12469:
amplification by shuffling.
"""

import math

from shuffledp.literature.bounds.published import Published, Setting, require

__all__ = ["BOUNDS", "ERLINGSSON", "epsilon"]


def epsilon(n: int, epsilon0: float, delta: float) -> float:
    """12 eps0 sqrt(log(1/delta) / n), for any eps0-LDP randomizers, also adaptive ones.

    For eps0 < 1/2, n >= 1000 and delta < 1/100. Seen as Balle et al. 2019 quote it, Thm 4, and in
    their code, which admits eps0 = 1/2 too.
    """
    require(epsilon0 < 0.5, "epsilon0 must be below 1/2", f"{epsilon0:g}")
    require(n >= 1000, "n must be at least 1000", n)
    require(delta < 0.01, "delta must be below 1/100", f"{delta:g}")
    return 12.0 * epsilon0 * math.sqrt(math.log(1.0 / delta) / n)


def _epsilon(setting: Setting, delta: float) -> float:
    return epsilon(setting.n, setting.epsilon0, delta)


ERLINGSSON = Published(
    name="erlingsson-2019",
    paper="Erlingsson et al. 2019",
    where="main theorem, quoted as Thm 4 of Balle et al. 2019",
    covers="any epsilon0-LDP randomizers, also adaptive in a secret random order",
    conditions="epsilon0 < 1/2, n >= 1000, delta < 1/100",
    status="proven",
    epsilon_at=_epsilon,
)

BOUNDS = (ERLINGSSON,)
