"""Where to evaluate a curve whose large losses are rare and count: closely to where delta is tiny,
in steps by which neither delta nor epsilon changes much.

A chord over a step by which delta falls by a factor of e^f lies above the curve by about f^2 / 8 of
it. Any choice is valid; these make the cost in epsilon a tenth of a percent.
"""

from __future__ import annotations

import math

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import CURVE_GAP, FARTHEST_LOSS, RAREST_LOSS
from shuffledp.accounting.rounds import Round

__all__ = ["tail_knots"]

STRIDE = 2  # grid points, up to so many typical losses:
NEAR = 2.5
FALL, GROWTH = 0.25, 0.06  # of log delta, and of log epsilon, from one knot to the next
TINY, COARSER = 1e-18, 8.0  # below, knots are so many times sparser
PROBED = 1.12


def tail_knots(part: Round, spacing: float) -> Floats:
    """Indices on the grid of multiples of ``spacing``, ascending from 0."""
    near, far = min(NEAR * part.typical_loss, part.ceiling), min(part.ceiling, FARTHEST_LOSS)
    probes = np.append(near * PROBED ** np.arange(math.log(max(far / near, 1.0)) / math.log(PROBED)), far)
    values = part._end("upper", probes, CURVE_GAP)
    last = np.flatnonzero((values <= RAREST_LOSS) | (probes == far))[0] + 1
    probes, values = probes[:last], np.minimum.accumulate(values[:last])
    fallen = np.maximum(-np.log(np.maximum(values, 1e-300)), 0.0)
    steps = np.minimum(fallen, -math.log(TINY)) / FALL + np.maximum(fallen + math.log(TINY), 0.0) / (COARSER * FALL)
    steps += np.log(probes / probes[0]) / GROWTH
    apart = np.interp(np.arange(steps[0], steps[-1]), steps, probes)
    close = STRIDE * np.arange(math.ceil(near / spacing / STRIDE) + 1)
    places = np.concatenate([[0, 1], close, np.ceil(np.append(apart, probes[-1]) / spacing)])
    return np.unique(places).astype(np.float64)
