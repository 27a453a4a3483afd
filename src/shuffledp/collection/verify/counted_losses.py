"""Dummies over several rounds, or levels: what is seen of two counts each time, as losses that add
up.

A count of a value that the target holds has the law ``held``, of one that it does not ``without``.
The loss of one round is log(held/without) at the one count less the same at the other. Losses are
rounded up or down to a grid, which is the whole difference between the two ends: under the law that
is seen, delta is the mean of (1 - e^(eps - loss))_+, and grows with every loss.
"""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from shuffledp.literature.exact.lattice import Array

__all__ = ["losses_of_counts"]

CELLS = 1 << 20  # of the grid on which all rounds together lie
NEAR = 1e-6  # of a step: what is so close to the grid is on it, and all losses are moved by as much
LOST = 1e-14  # of a transform
RARE = 1e-22  # counts so rare, and losses beyond them, are seen for certain, or never


def losses_of_counts(chances: Array, keep: float, times: int, epsilons: Array) -> tuple[Array, Array]:
    """Both ends of delta at every epsilon, where ``chances`` are those of a number of dummies and a
    message is handed on with probability ``keep``, so many times over.
    """
    without = np.append(chances, 0.0)
    held = keep * np.append(0.0, chances) + (1.0 - keep) * without
    both = (held > RARE) & (without > RARE)
    loss = np.log(held[both]) - np.log(without[both])
    # Where one of the laws has nothing, the loss of whoever sees it is infinite.
    finite = float(held[both].sum()) * float(without[both].sum())
    rare = 2.0 * RARE * len(held)
    ends = []
    # The likeliest loss is on the grid: the others of a geometric law are as large, up to rounding.
    finest, likeliest = max(2.0 * times * float(np.ptp(loss)) / CELLS, 1e-12), abs(float(loss[np.argmax(held[both])]))
    step = likeliest / np.ceil(likeliest / finest) if likeliest > finest else finest
    for turn, sign, infinite in ((np.floor, 1.0, 1.0 - finite - rare), (np.ceil, -1.0, 1.0 - finite + rare)):
        places = [turn(each / step + sign * NEAR).astype(np.int64) for each in (loss, -loss)]
        weights = zip(places, (held[both], without[both]), strict=True)
        laws = [np.bincount(place - place.min(), weights=mass) for place, mass in weights]
        least = sum(int(place.min()) for place in places)
        size = next_fast_len(times * (sum(map(len, laws)) - 2) + 1, real=True)
        one, two = (rfft(law, size) for law in laws)
        total = np.maximum(irfft((one * two) ** times, size), 0.0)
        losses = step * (times * least + np.arange(size) - sign * 2.0 * times * NEAR)
        always = 1.0 - (1.0 - min(max(infinite, 0.0), 1.0)) ** times
        ends.append(
            always + np.array([float(total @ -np.expm1(np.minimum(each - losses, 0.0))) for each in epsilons.tolist()])
        )
    low, high = ends
    return np.maximum(low * (1.0 - 1e-9) - LOST, 0.0), np.minimum(high * (1.0 + 1e-9) + LOST, 1.0)
