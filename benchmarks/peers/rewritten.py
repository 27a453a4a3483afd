"""Programs that cannot be installed from an index, written anew from their papers; those that the
package compares with anyway are taken from ``shuffledp.literature``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.peers.installed import Ends
from shuffledp import BLH, KRR, AnyLDP, Randomizer
from shuffledp._types import Floats
from shuffledp.literature.bounds import Setting, find

__all__ = ["REWRITTEN"]

ORDERS = range(2, 41)  # an order's cost is its number of partitions: 37,338 at 40
POINTS = 1 << 20


def liew_takahashi(given: dict[str, Any], delta: float) -> Ends:
    """Liew and Takahashi 2022, "Shuffle Gaussian Mechanism": Renyi divergences of integer order as
    a sum over partitions, converted to epsilon.

    It is the divergence of one order of one pair of neighbors (all others hold 0).
    """
    n, sigma = int(given["steps"]), given["sigma"]
    return None, min(_canonne(order, _partition_rdp(order, n, sigma), delta) for order in ORDERS)


def _partition_rdp(order: int, n: int, sigma: float) -> float:
    logs = [
        math.lgamma(order + 1)
        - sum(math.lgamma(part + 1) for part in parts)
        + math.lgamma(n + 1)
        - math.lgamma(n - len(parts) + 1)
        - sum(math.lgamma(parts.count(part) + 1) for part in set(parts))
        + (sum(part * part for part in parts) - order) / (2.0 * sigma**2)
        - order * math.log(n)
        for parts in _partitions(order)
        if len(parts) <= n
    ]
    top = max(logs)
    return (top + math.log(math.fsum(math.exp(each - top) for each in logs))) / (order - 1)


def _partitions(total: int, largest: int | None = None) -> Iterator[list[int]]:
    if total == 0:
        yield []
    for first in range(min(total, largest or total), 0, -1):
        for rest in _partitions(total - first, first):
            yield [first, *rest]


def _canonne(order: int, divergence: float, delta: float) -> float:
    """Canonne, Kamath and Steinke 2020, Proposition 12."""
    return divergence + math.log((order - 1) / order) - (math.log(delta) + math.log(order)) / (order - 1)


def su_cheng_wang(law: Callable[[dict[str, Any]], tuple[Floats, Floats, Floats]]) -> Callable[..., Ends]:
    """Su, Cheng and Wang 2025: the sum of the scores of all users on a grid, rounded up, by one
    fast Fourier transform; epsilon by bisection.
    """

    def ends(given: dict[str, Any], delta: float) -> Ends:
        hay, first, second = law(given)
        low, high = 0.0, given["epsilon0"]
        for _ in range(30):
            middle = (low + high) / 2.0
            scores = (first - math.exp(middle) * second) / hay
            low, high = (low, middle) if _rounded_up(hay, scores, int(given["n"])) <= delta else (middle, high)
        return None, high

    return ends


def _rounded_up(hay: Floats, scores: Floats, n: int) -> float:
    """E(sum of n scores)_+ / n with every score rounded up to the grid, on as many points as fit
    eight deviations.
    """
    mean = float(hay @ scores)
    deviation = math.sqrt(n * float(hay @ scores**2 - mean**2))
    reach = 8.0 * deviation + 2.0 * float(np.abs(scores).max())
    step = 2.0 * reach / POINTS
    places = np.ceil(scores / step).astype(np.int64)
    places, empty = np.append(places, 0), 1.0 - float(hay.sum())
    weights = np.append(hay, empty)
    centre = round(float(weights @ places))
    law: Floats = np.zeros(POINTS)
    np.add.at(law, (places - centre) % POINTS, weights)
    total = np.fft.irfft(np.fft.rfft(law) ** n, POINTS)
    at = (np.arange(POINTS) + POINTS // 2) % POINTS - POINTS // 2
    return float(np.maximum(total, 0.0) @ np.maximum((at + n * centre) * step, 0.0)) / n


def _clones(given: dict[str, Any]) -> tuple[Floats, Floats, Floats]:
    """The stronger clones of any randomizer."""
    growth = math.exp(given["epsilon0"])
    hay = np.full(2, 1.0 / (growth + 1.0))
    needle = np.array([growth, 1.0]) / (growth + 1.0)
    return hay, needle, needle[::-1]


def _krr(given: dict[str, Any]) -> tuple[Floats, Floats, Floats]:
    return _blanket(KRR(k=int(given["k"]), epsilon0=given["epsilon0"]))


def _hash(given: dict[str, Any]) -> tuple[Floats, Floats, Floats]:
    return _blanket(BLH(k=16, epsilon0=given["epsilon0"]))


def _blanket(randomizer: Randomizer) -> tuple[Floats, Floats, Floats]:
    atoms = randomizer.blankets("upper")[0]
    return atoms.hay, atoms.needle0, atoms.needle1


def known(name: str, randomizer: Callable[[dict[str, Any]], Randomizer]) -> Callable[..., Ends]:
    """A bound that the package compares with."""

    def ends(given: dict[str, Any], delta: float) -> Ends:
        return None, find(name).epsilon(Setting(randomizer(given), int(given["n"])), delta=delta)

    return ends


def _any_of(given: dict[str, Any]) -> Randomizer:
    return AnyLDP(epsilon0=given["epsilon0"])


def _krr_of(given: dict[str, Any]) -> Randomizer:
    return KRR(k=int(given["k"]), epsilon0=given["epsilon0"])


REWRITTEN: dict[str, Callable[..., Ends]] = {
    "liew-takahashi": liew_takahashi,
    "su-cheng-wang-clones": su_cheng_wang(_clones),
    "su-cheng-wang-krr": su_cheng_wang(_krr),
    "su-cheng-wang-hash": su_cheng_wang(_hash),
    "apple": known("feldman-2020-numerical", _any_of),
    "feldman-closed": known("feldman-2020-thm-3.1", _any_of),
    "koskela-clones": known("koskela-2021-feldman", _any_of),
    "koskela-krr": known("koskela-2021-krr-weak-exact", _krr_of),
    "variation-ratio": known("wang-2023-variation-ratio-krr", _krr_of),
}
