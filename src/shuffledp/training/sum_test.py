"""A lower end where a record takes part in k of t steps: what one good test sees.

The exact likelihood ratio is the k-th elementary symmetric polynomial of the steps' ratios u_i. A
test may look at less. Let T be the sum over all steps of f(u_i), f(u) = log(1 + k/t (u - 1)),
rounded to a lattice at random: nearly the logarithm of that ratio, and whatever k of the steps the
record was in, T has the law of k steps with it and t - k without it. For any 0 <= h <= 1

    delta(eps) >= E h(T) - e^eps E' h(T),

with E and E' the record there and not there. With h(T) = (1 - e^(-a (T - threshold)))_+ both are
what ``pld.Composition`` computes of a sum of independent losses aT, with its errors counted; a
large ``a`` makes h nearly a threshold. Epochs only add steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, ROUGH_GAP
from shuffledp.accounting.pld import Composition, LossDistribution
from shuffledp.training.step_pairs import StepPair

SHARP = 40.0  # how often h rises from 0 to 1 within a typical deviation of T
BLUR = 1e-3  # of the variance of T, by rounding to the lattice
WINDOW, MOST_POINTS = 40.0, 1 << 20  # deviations that must fit into the largest transform
MOST_INDEX = 2.0**60  # of the largest sum
SMALLEST = 1e-280
ROUNDING = 1e-14
LEAST_DEVIATION = 1e-9  # of T, relative to its largest term
TRIED = np.array([-0.6, -0.2, 0.2, 0.6])  # thresholds, in deviations around epsilon,
CLOSER = 4  # so often around the best
FEWEST, MOST = 1.02, 100.0  # times delta: how often a test may catch the record that is best at delta,
SPOTS = 12  # and how many thresholds are tried between these, twice


class _Sums(NamedTuple):
    """About the deviation of T, the factor a, and aT with the record and without."""

    deviation: float
    sharpness: float
    present: Composition
    absent: Composition


@dataclass(frozen=True, eq=False)
class SumTest:
    """A record takes ``participations`` of ``steps`` steps, ``epochs`` times; or is added."""

    step: StepPair
    steps: int
    participations: int
    epochs: int = 1
    removed: bool = True

    @property
    def name(self) -> str:
        return f"one record {'removed' if self.removed else 'added'}: a test of the sum over all steps"

    def swapped(self) -> SumTest:
        return replace(self, removed=not self.removed)

    @cached_property
    def _sums(self) -> _Sums | None:
        """What the test looks at; None where a single step tells the laws apart."""
        atoms = self.step.atoms("lower")
        share = self.participations / self.steps
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ratio = np.minimum(atoms.needle0 / atoms.hay, 1e300)
        f = np.log1p(share * (ratio - 1.0)) if share < 1.0 else np.log(np.maximum(ratio, 1e-300))
        f = f if self.removed else -f
        masses = [atoms.needle0, atoms.hay]
        kept = np.maximum(*masses) > 0.0
        f, masses = f[kept], [mass[kept] for mass in masses]
        total = self.steps * self.epochs
        with_it = self.participations * self.epochs
        mean = f @ masses[1]
        deviation = math.sqrt(total * max(float(((f - mean) ** 2) @ masses[1]), 1e-300))
        # What only the record can cause tells by itself. Any score will do: a far larger one only
        # asks for a far longer transform.
        lone = masses[1] == 0.0
        f = np.where(lone, np.sign(f) * np.minimum(np.abs(f), np.abs(f[~lone]).max() + WINDOW * deviation), f)
        if deviation < LEAST_DEVIATION * float(np.abs(f).max()):
            return None
        # Rounded at random, preserving the mean, a step adds at most spacing^2 / 4 to the variance.
        spacing = deviation * max(math.sqrt(4.0 * BLUR / total), WINDOW / MOST_POINTS)
        spacing = max(spacing, total * float(np.abs(f).max()) / MOST_INDEX)
        below = np.floor(f / spacing)
        up = np.clip(f / spacing - below, 0.0, 1.0)
        index, where = np.unique(np.concatenate([below, below + 1.0]), return_inverse=True)
        sharpness = SHARP / deviation
        laws = []
        for mass in masses:
            both = np.concatenate([mass * (1.0 - up), mass * up])
            summed = np.bincount(where, weights=both, minlength=index.size).astype(np.float64)
            seen = summed > SMALLEST
            lost = float(summed[~seen].sum())
            laws.append(LossDistribution(sharpness * spacing, index[seen], summed[seen], lost))
        present, absent = laws
        parts = [(present, with_it), (absent, total - with_it)]
        there = Composition([(law, times) for law, times in parts if times])
        return _Sums(deviation, sharpness, there, Composition([(absent, total)]))

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """What the best threshold tried certifies, as both ends: the test is one curve."""
        times = 1 if gap >= ROUGH_GAP else CLOSER
        if self._sums is None:
            return np.zeros_like(epsilons), np.zeros_like(epsilons)
        values = np.array([self._best(self._sums, float(epsilon), times) for epsilon in epsilons])
        return values, values

    def epsilon(self, delta: float) -> float:
        """The largest epsilon that the thresholds tried certify at ``delta``, or 0: a test that
        catches with probability a, and falsely with b, certifies log((a - delta) / b).
        """
        if self._sums is None:
            return 0.0
        right, _ = self._order(self._sums)
        levels = [min(delta * times, 0.5 * (1.0 + delta)) for times in (MOST, FEWEST)]
        low, high = (right.epsilon(level, "lower") / self._sums.sharpness for level in levels)
        best = 0.0
        for _ in range(2):
            thresholds = np.linspace(low, high, SPOTS)
            caught, false_alarms = self._rates(self._sums, thresholds)
            with np.errstate(divide="ignore", invalid="ignore"):
                more, less = np.log(caught - delta) * (1.0 + ROUNDING), np.log(false_alarms) * (1.0 - ROUNDING)
                certified = np.where(caught > delta, more - less, 0.0)
            place = int(certified.argmax())
            best = max(best, float(certified[place]) - ROUNDING)
            low, high = float(thresholds[max(place - 1, 0)]), float(thresholds[min(place + 1, SPOTS - 1)])
        return best

    def _best(self, sums: _Sums, epsilon: float, times: int) -> float:
        middle, reach, best = epsilon, sums.deviation, 0.0
        for _ in range(times):
            thresholds = np.maximum(middle + reach * TRIED, 0.0)
            values = self._value(sums, epsilon, thresholds)
            place = int(values.argmax())
            middle, reach, best = float(thresholds[place]), 0.4 * reach, max(best, float(values[place]))
        return best

    def _value(self, sums: _Sums, epsilon: float, thresholds: Floats) -> Floats:
        caught, false_alarms = self._rates(sums, thresholds)
        return np.maximum(caught - math.exp(epsilon) * false_alarms, 0.0)

    def _rates(self, sums: _Sums, thresholds: Floats) -> tuple[Floats, Floats]:
        """How often a present record is found, at least, and an absent one, at most."""
        right, wrong = self._order(sums)
        caught = right.deltas(sums.sharpness * thresholds, "lower")
        false_alarms = wrong.deltas(sums.sharpness * thresholds, "upper")
        return caught * (1.0 - ROUNDING), false_alarms * (1.0 + ROUNDING)

    def _order(self, sums: _Sums) -> tuple[Composition, Composition]:
        return (sums.present, sums.absent) if self.removed else (sums.absent, sums.present)
