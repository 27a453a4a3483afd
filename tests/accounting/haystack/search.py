"""How far apart the two ends of one curve are, on random cases: `python -m tests.accounting.haystack.search
COUNT SEED FIRST` prints the worst.

This is the numerical gap: both ends enclose delta(eps) of one and the same haystack. What lies
between a theorem's upper end and a dataset's lower end is another matter (docs/limits.md).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import shuffledp as sdp
from shuffledp._types import Adversary
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.reductions import ADVERSARIES, reduce
from shuffledp.randomizers.randomizer import Randomizer

__all__ = ["Case", "cases", "numerical_gap"]

EVERY = 250
LEAST = 1e-50  # a delta below this is nobody's question


@dataclass(frozen=True, slots=True)
class Case:
    """One question to one randomizer in one view."""

    randomizer: Randomizer
    adversary: Adversary
    n: int
    epsilon: float


def _randomizer(rng: np.random.Generator) -> Randomizer:
    e0, k = float(10.0 ** rng.uniform(-3.0, 1.18)), int(2.0 ** rng.uniform(1.0, 10.0))
    if rng.uniform() < 0.3:
        noise = (
            sdp.Gaussian(sigma=float(10.0 ** rng.uniform(-1.3, 1.5)))
            if rng.uniform() < 0.6
            else sdp.Laplace(epsilon0=e0)
        )
        return noise if rng.uniform() < 0.7 or e0 < 0.01 else noise.realised
    if rng.uniform() < 0.2:
        inputs, outputs = int(rng.integers(2, 6)), int(rng.integers(2, 9))
        return sdp.FromMatrix(
            rng.dirichlet(np.full(outputs, 10.0 ** rng.uniform(-0.5, 1.0)), size=inputs) * 0.999999 + 1e-6 / outputs
        )
    families = (sdp.KRR, sdp.OUE, sdp.RAPPOR, sdp.Hadamard, sdp.SubsetSelection, sdp.OLH, sdp.BLH)
    kind = int(rng.integers(len(families) + 1))
    return families[kind](k=k, epsilon0=e0) if kind < len(families) else sdp.AnyLDP(epsilon0=e0)


def cases(last: int, seed: int, first: int = 0) -> Iterator[Case]:
    """Random randomizers, views, numbers of people up to 1e9, and epsilons from typical to local."""
    for number in range(first, last):
        rng = np.random.default_rng([seed, number])
        randomizer = _randomizer(rng)
        adversary = "shuffled" if isinstance(randomizer, sdp.AnyLDP) else ADVERSARIES[int(rng.integers(3))]
        n = int(10.0 ** rng.uniform(0.31, 9.0)) if rng.uniform() < 0.7 else int(rng.integers(2, 40))
        reach = min(randomizer.epsilon0, 20.0)
        epsilon = reach * (rng.uniform() if rng.uniform() < 0.5 else 10.0 ** rng.uniform(-5.0, 0.0))
        yield Case(randomizer, adversary, n, float(epsilon))


def numerical_gap(case: Case) -> tuple[float, str]:
    """The largest relative distance of the ends of any haystack in the case, and which it is."""
    reduction = reduce(case.randomizer, case.n, case.adversary)
    worst, where = 0.0, ""
    for curve in dict.fromkeys((*reduction.uppers, *reduction.lowers)):
        if isinstance(curve, Haystack):
            (lower,), (upper,) = curve.bounds(np.array([case.epsilon]))
            gap = float((upper - lower) / upper) if upper > LEAST else 0.0
            if gap > worst:
                worst, where = gap, f"{curve.name}: [{lower:.6g}, {upper:.6g}]"
    return worst, where


def main(first: int, last: int, seed: int) -> None:
    """Search; print the worst cases, and how many exceed each power of ten, every now and then."""
    found: list[tuple[float, str, str, float]] = []
    for case in cases(last, seed, first):
        start = time.process_time()
        gap, where = numerical_gap(case)
        found.append((gap, where, str(case), time.process_time() - start))
        if len(found) % EVERY == 0 or first + len(found) == last:
            _show(found, f"cases {first} to {first + len(found) - 1}, seed {seed}")


def _show(found: list[tuple[float, str, str, float]], what: str) -> None:
    gaps = np.array([gap for gap, *_ in found])
    print(f"{what}: {len(found)} cases, the worst gap is {gaps.max(initial=0.0):.3g}")
    for power in range(-8, 0):
        print(f"above 1e{power}: {np.count_nonzero(gaps > 10.0**power)}")
    print(
        "widest:",
        *(f"  {gap:.3g} {where} {case}" for gap, where, case, _ in sorted(found, reverse=True)[:15]),
        sep="\n",
    )
    print(
        "slowest:",
        *(f"  {spent:.2f} s {case}" for *_, case, spent in sorted(found, key=lambda row: -row[3])[:6]),
        sep="\n",
        flush=True,
    )


if __name__ == "__main__":
    count, seed, first = (int(word) for word in [*sys.argv[1:], "0", "0"][:3])
    main(first, first + count, seed)
