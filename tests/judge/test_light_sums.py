"""Randomized values among fakes and dummies: sums over two counts, against all that may be seen."""

import itertools
import math

import numpy as np
import pytest

from shuffledp.judge import hockey_stick
from shuffledp.judge.lattice import TooLarge
from shuffledp.judge.messages import LightSums
from tests.oracle.views import dummies_view, fakes_view


def worst(views: list[list[dict[tuple[int, ...], float]]], epsilon: float) -> float:
    """The largest delta of some pairs, in both orders."""
    return max(hockey_stick(p, q, epsilon) for one, two in views for p, q in ((one, two), (two, one)))


def test_what_a_handful_of_people_show_lies_between_the_ends() -> None:
    rng = np.random.default_rng(5)
    for case in range(16):
        k, people, epsilon0 = int(rng.integers(2, 5)), int(rng.integers(1, 4)), float(rng.uniform(0.5, 5.0))
        q = 1.0 / (math.expm1(epsilon0) + k)
        p, chance, epsilon = math.exp(epsilon0) * q, float(rng.uniform(0.05, 1.0)), float(rng.uniform(0.0, epsilon0))
        sums, at = LightSums(k, p, q, people - 1), np.array([epsilon])
        held = list(itertools.combinations_with_replacement(range(k), people - 1))
        if case % 2:
            share = chance / k
            drop = share * (k - 2) / max(1.0 - 2.0 * share, 1e-300)
            both = np.array(
                [math.comb(people, j) * (2 * share) ** j * (1 - 2 * share) ** (people - j) for j in range(people + 1)]
            )
            theorem, seen = sums.among_fakes(0, both, people * drop, drop, at)
            views = [[fakes_view([x, *others], k, [1 - chance, chance], p) for x in (0, 1)] for others in held]
        else:
            dummies, keep = [0.2, 0.5, 0.3], float(rng.choice([1.0, 0.7]))
            theorem, seen = sums.among_dummies(np.array(dummies), keep, at)
            views = [[dummies_view([x, *others], k, dummies, keep, p) for x in (0, 1)] for others in held]
        exact = worst(views, epsilon)
        assert seen[0][0] <= exact * (1.0 + 1e-9)
        assert exact <= theorem[1][0] * (1.0 + 1e-9)


def test_too_many_counts_are_not_paired() -> None:
    with pytest.raises(TooLarge, match="too many to be paired"):
        LightSums(3, 0.9, 0.05, 9).among_dummies(np.full(2000, 1 / 2000), 1.0, np.ones(1))
    with pytest.raises(TooLarge):
        LightSums(3, 0.9, 0.05, 10**15).among_fakes(0, np.ones(1), 0.0, 0.0, np.ones(1))
