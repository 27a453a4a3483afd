"""Rounds of the same people add up to one tally, from which the estimate of the average is made."""

from __future__ import annotations

import math
from functools import cache, reduce
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.mechanisms import mechanism_of
from shuffledp.mechanisms.mechanism import Mechanism
from shuffledp.mechanisms.results import Tally
from shuffledp.randomizers import ShufflerDummies, SignedUnits, UserFakes
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.workload import Each, Ranges, Weights, Workload, below

RUNS, ROUNDS, PEOPLE = 2_000, 3, 40
HALF = 0.6065306597126334  # e^-1/2
FOUR: Workload = Each(tuple("abcd"))
CASES: dict[str, tuple[Any, Workload]] = {
    "krr": (sdp.KRR(k=4, epsilon0=2.0).realised, FOUR),
    "krr, little noise": (sdp.KRR(k=4, epsilon0=5.0).realised, FOUR),
    "hadamard": (sdp.Hadamard(k=4, epsilon0=2.0).realised, FOUR),
    "fakes": (UserFakes(k=4, slots=1, chance=0.3), FOUR),
    "dummies": (ShufflerDummies(k=4, center=28, left=HALF, right=HALF), FOUR),
    "signed": (
        SignedUnits(honest=PEOPLE, decay=0.5, pairs=80, messages=24),
        Ranges(("yes",), ((1, 2),)),
    ),
    "levels": (OneLevel.of_sizes(sizes=(3, 4), epsilon0=3.0).realised, below((1, 2, 3))),
    "mean by krr": (sdp.KRR(k=5, epsilon0=2.0).realised, Weights.grid("mean", 4)),
}


@cache
def drawn(name: str) -> tuple[Mechanism, np.ndarray, list[list[Tally]]]:
    """Tallies of every round, of people of whom half hold the first place."""
    law, rng = CASES[name][0], np.random.default_rng(3)
    values = np.where(np.arange(PEOPLE) % 2, 0, np.arange(PEOPLE) // 2 % law.k)
    reports = law.randomize(np.tile(values, RUNS * ROUNDS), rng=rng)
    tallies = [Tally.of(law, part).mixed(rng=rng) for part in np.split(reports, RUNS * ROUNDS)]
    runs = [tallies[start : start + ROUNDS] for start in range(0, len(tallies), ROUNDS)]
    return mechanism_of(law), np.bincount(values, minlength=law.k), runs


@pytest.mark.parametrize("name", CASES)
def test_the_estimate_from_all_rounds_is_their_mean_and_has_the_error_of_one(name: str) -> None:
    (mechanism, held, runs), workload = drawn(name), CASES[name][1]
    errors = mechanism.predicted(workload, held) / math.sqrt(ROUNDS)
    truth, off = workload.apply(held), np.zeros(len(workload))
    for run in runs:
        each = [mechanism.estimate(tally, workload) for tally in run]
        pooled = mechanism.estimate(reduce(Tally.again, run), workload)
        assert pooled.n == PEOPLE
        np.testing.assert_allclose(pooled.values, np.mean([one.values for one in each], axis=0), atol=1e-11)
        off += (pooled.values - truth) ** 2
    assert np.all(np.abs(np.sqrt(off / RUNS) / errors - 1.0) < 4.0 / math.sqrt(2.0 * RUNS))
