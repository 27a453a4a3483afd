"""Random wrappers, nested, against the enumeration of all datasets of a few users; see
docs/theory.md.

    python -m tests.randomizers.wrappers.search SECONDS [SEED]

runs for so many seconds of CPU time, and says how many comparisons there were and how close the
ends came.
"""

from __future__ import annotations

import sys
import time
from itertools import permutations

import numpy as np

import shuffledp as sdp
from shuffledp import judge
from shuffledp.randomizers import AllOf, CheckIn, OneOf, Randomizer
from shuffledp.testing import assert_between, merged
from tests.randomizers.wrappers.matrices_of import matrix_of

MOST_ROWS = 12
MOST_STATES = 60_000
SHARES = np.array([0.0, 1e-3, 0.05, 0.3, 0.7, 0.97])


def leaf(rng: np.random.Generator) -> Randomizer:
    kind, epsilon0 = rng.random(), float(rng.choice([0.05, 0.5, 1.0, 2.0, 4.0]) * rng.uniform(0.5, 1.5))
    if kind < 0.6:
        return sdp.KRR(k=int(rng.integers(2, 4)), epsilon0=epsilon0)
    if kind < 0.75:
        return sdp.OUE(k=2, epsilon0=epsilon0)
    rows = rng.dirichlet(np.full(int(rng.integers(2, 4)), rng.choice([0.3, 1.0, 5.0])), size=int(rng.integers(2, 4)))
    if rng.random() < 0.2:
        rows[0, 0] = 0.0
    return sdp.FromMatrix(rows / rows.sum(axis=1, keepdims=True))


def nested(rng: np.random.Generator, depth: int) -> Randomizer:
    if depth == 0:
        return leaf(rng)
    kind = rng.random()
    if kind < 0.35:
        return CheckIn(nested(rng, depth - 1), probability=float(rng.choice([0.01, 0.1, 0.5, 0.9])))
    parts = [nested(rng, int(rng.integers(0, depth))) for _ in range(int(rng.integers(1, 3)))]
    if rng.random() < 0.4:
        parts = [parts[0]] * len(parts)
    if kind >= 0.7:
        return AllOf(parts)
    weights = rng.dirichlet(np.ones(len(parts)))
    return OneOf(parts, weights=None if rng.random() < 0.4 else (weights / weights.sum()).tolist())


def compare(wrapper: Randomizer, rng: np.random.Generator) -> tuple[int, float]:
    """How many comparisons there were, and the least ratio of an upper end to the truth."""
    rows = matrix_of(wrapper)
    table, at = merged(rows), SHARES * min(wrapper.epsilon0, 10.0)
    done, closest = 0, float("inf")
    for n in range(1, 6):
        for rounds in (1, 2):
            states = int(np.prod([(n + 1 + i) / (1 + i) for i in range(table.shape[1] - 1)])) ** rounds
            if states * len(rows) ** 2 > MOST_STATES or len(rows) ** (n + 1) > MOST_STATES:
                continue
            band = sdp.shuffle(wrapper, n=n).compose(rounds).profile(at, gap=2e-4)
            truth = judge.rounds_delta([table] * rounds, n, at)
            assert_between(band.lower, truth, band.upper, (wrapper, n, rounds))
            done += at.size
            if np.any(seen := truth > 1e-9):
                closest = min(closest, float(np.min(band.upper[seen] / truth[seen])))
    for view, slow in (("weak", judge.weak_delta), ("strong", judge.strong_delta)):
        if len(rows) <= 6 and rng.random() < 0.3:
            band = sdp.shuffle(wrapper, n=2, adversary=view).profile(at, gap=2e-4)  # type: ignore[arg-type]
            pairs = list(permutations(range(len(rows)), 2))
            truth = np.array([max(slow(table, 2, pair, float(epsilon)) for pair in pairs) for epsilon in at])
            assert_between(band.lower, truth, band.upper, (wrapper, view))
            done += at.size
    return done, closest


def main(seconds: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cases, comparisons, refused, closest = 0, 0, 0, float("inf")
    while time.process_time() < seconds:
        try:
            wrapper = nested(rng, int(rng.integers(1, 4)))
            if len(matrix_of(wrapper)) > MOST_ROWS:
                continue
            done, ratio = compare(wrapper, rng)
        except sdp.InvalidInput:
            refused += 1
            continue
        cases, comparisons, closest = cases + 1, comparisons + done, min(closest, ratio)
    print(f"{cases} wrappers, {comparisons} comparisons, {refused} refused; least upper end / truth: {closest:.15g}")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
