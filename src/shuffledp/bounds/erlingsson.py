"""Erlingsson, Feldman, Mironov, Raghunathan, Talwar and Thakurta 2019, arXiv 1811.12469: amplification by shuffling."""

import math

from shuffledp.bounds.base import Published, Setting, require

__all__ = ["ERLINGSSON", "epsilon"]


def epsilon(n: int, epsilon0: float, delta: float) -> float:
    """Theorem 7: 12 eps0 sqrt(log(1/delta) / n), for any eps0-LDP randomizers, also adaptive ones."""
    require(epsilon0 < 0.5, "epsilon0 must be below 1/2", f"{epsilon0:g}")
    require(n >= 1000, "n must be at least 1000", n)
    require(delta < 0.01, "delta must be below 1/100", f"{delta:g}")
    return 12.0 * epsilon0 * math.sqrt(math.log(1.0 / delta) / n)


def _epsilon(setting: Setting, delta: float) -> float:
    return epsilon(setting.n, setting.epsilon0, delta)


ERLINGSSON = Published(
    name="erlingsson-2019",
    paper="Erlingsson et al. 2019",
    where="Thm 7",
    covers="any epsilon0-LDP randomizers, also adaptive",
    conditions="epsilon0 < 1/2, n >= 1000, delta < 1/100",
    status="proven",
    epsilon_at=_epsilon,
)
