"""One rule for the people whose spread is unknown: levels of bins, and randomizers that are known by their
matrix alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.mechanisms import mechanism_of
from shuffledp.randomizers.matrix import Unmixed
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.workload import Each, Workload, below
from tests.mechanisms.simulation import pooled

RUNS = 2_000
FOUR: Workload = Each(tuple(range(4)))
BELOW: Workload = below(tuple(range(1, 16)))


def random_matrix(seed: int) -> Unmixed:
    """Four inputs and six reports, of which one is likelier than others."""
    rows = np.random.default_rng(seed).dirichlet(np.full(6, 0.7), 4)
    rows[np.arange(4), np.arange(4)] += 0.8
    return Unmixed(sdp.FromMatrix(rows / rows.sum(axis=1, keepdims=True)))


def levels() -> OneLevel:
    return OneLevel.of_sizes(sizes=(4, 16), epsilon0=3.0).realised


CASES: list[tuple[Any, Workload]] = [(random_matrix(4), FOUR), (random_matrix(5), FOUR), (levels(), BELOW)]


@pytest.mark.parametrize("people", [100, 2_000])
@pytest.mark.parametrize("spread", ["crowded", "two", "even"])
@pytest.mark.parametrize(("law", "workload"), CASES, ids=["matrix", "another matrix", "levels"])
def test_limits_cover_at_the_worst_row_whatever_people_hold(
    law: Any, workload: Workload, people: int, spread: str
) -> None:
    table = law.table if isinstance(law, Unmixed) else law.rows
    used = {"crowded": [0], "two": [0, 1], "even": list(range(law.k))}[spread]
    held = np.zeros(law.k, dtype=np.int64)
    held[used] = people // len(used)
    n, truth, covered = int(held.sum()), workload.apply(held), np.zeros(len(workload))
    rng, mechanism = np.random.default_rng(people), mechanism_of(law)
    seen = sum(rng.multinomial(held[place], table[place] / table[place].sum(), size=RUNS) for place in used)
    for each in seen:
        tally = pooled(n, held[:0], each) if isinstance(law, Unmixed) else pooled(n, each)
        low, high = mechanism.estimate(tally, workload).interval()
        covered += (low <= truth + 1e-9) & (truth - 1e-9 <= high)
    assert covered.min() / RUNS > 0.93 - 3.0 * (0.93 * 0.07 / RUNS) ** 0.5
