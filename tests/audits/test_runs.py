from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from shuffledp.audits.attack import _merged, agreeing, bag_chance, bennett, unrelated

LAWS = [
    ([0.5, 0.3, 0.2], [0.1, 0.1, 0.8]),
    ([0.98, 0.01, 0.01], [0.01, 0.98, 0.01]),
    ([0.7, 0.3, 0.0], [0.1, 0.8, 0.1]),
    ([0.0, 0.6, 0.4], [1.0, 0.0, 0.0]),
]


@pytest.mark.parametrize(("hay", "needle"), LAWS)
@pytest.mark.parametrize("n", [2, 3, 5])
def test_agreements_and_chances_of_bags_are_those_of_enumeration(hay, needle, n):
    hay, needle = np.array(hay), np.array(needle)
    chances, agreements, bags = [], [], {}
    for reports in product(range(3), repeat=n):
        chance = float(needle[reports[0]] * np.prod(hay[list(reports[1:])]))
        counts = np.bincount(reports, minlength=3)
        chances.append(chance)
        agreements.append(float((counts * (counts - 1)).sum()))
        bags[tuple(counts.tolist())] = bags.get(tuple(counts.tolist()), 0.0) + chance
    mean, variance = agreeing(n, hay, needle)
    assert mean == pytest.approx(np.dot(chances, agreements), abs=1e-12)
    assert variance == pytest.approx(np.dot(chances, np.square(agreements)) - mean**2, abs=1e-10)
    for counts, chance in bags.items():
        assert bag_chance(np.array(counts), hay, needle) == pytest.approx(chance, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.3, 1.0 - 1e-6])
def test_bennett_is_never_below_the_exact_tail(share):
    runs = 2000
    counts = np.arange(runs + 1)
    above, below = binom.sf(counts - 1, runs, share), binom.cdf(counts, runs, share)
    for count in counts:
        p = bennett(float(count - runs * share), runs * share * (1.0 - share), above=1.0 - share, below=share)
        exact = above[count] if count > runs * share else below[count]
        assert p >= min(exact, 1.0) * (1.0 - 1e-9)


def test_bennett_finds_what_is_far_from_the_mean():
    assert bennett(100.0, 100.0, above=1.0, below=1.0) < 1e-15
    assert bennett(0.0, 0.0, above=1.0, below=1.0) == bennett(3.0, 0.0, above=0.0, below=1.0) == 1.0


def test_one_coincidence_of_rare_scores_is_as_likely_as_it_is():
    first, second = np.zeros(1000), np.zeros(1000)
    first[7] = second[7] = 1.0
    assert unrelated(first, second) == pytest.approx(2e-3)
    assert unrelated(np.zeros(1000), np.zeros(1000)) == 1.0
    second[7], second[8] = 0.0, 1.0
    assert unrelated(first, second) == 1.0


def test_scores_that_go_together_are_found():
    rng = np.random.default_rng(1)
    first = rng.normal(size=1000)
    assert unrelated(first, first + 0.5 * rng.normal(size=1000)) < 1e-20
    assert unrelated(first, rng.normal(size=1000)) > 1e-3


def test_every_cell_of_the_chi_square_test_expects_enough():
    rng = np.random.default_rng(2)
    for _ in range(50):
        expected = 10.0 ** rng.uniform(-3.0, 4.0, size=30)
        seen, wanted = _merged(expected + 1.0, expected)
        assert len(wanted) == 1 or wanted.min() >= 100.0
        assert (seen.sum(), wanted.sum()) == pytest.approx((expected.sum() + 30.0, expected.sum()))
