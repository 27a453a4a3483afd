"""A fixed-size random sample of the users: against the enumeration of all samples and datasets."""

from __future__ import annotations

import math
from itertools import combinations, combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import shuffledp as sdp
from shuffledp import Accountant, InvalidInput, judge
from shuffledp.accounting import SampleAndThreshold
from shuffledp.randomizers import CheckIn
from shuffledp.testing import assert_between

CASES = {
    "krr": (lambda: sdp.KRR(k=3, epsilon0=2.0), lambda: judge.krr(3, 2.0)),
    "rr": (lambda: sdp.RR(epsilon0=1.0), lambda: judge.krr(2, 1.0)),
    "oue": (lambda: sdp.OUE(k=2, epsilon0=1.5), lambda: judge.unary(2, 0.5, 1.0 / (np.exp(1.5) + 1.0))),
    "matrix": (lambda: sdp.FromMatrix(UNEVEN), lambda: np.array(UNEVEN)),
    "check-in": (
        lambda: CheckIn(sdp.RR(epsilon0=2.0), probability=0.5),
        lambda: np.column_stack([0.5 * judge.krr(2, 2.0), [0.5, 0.5]]),
    ),
}
UNEVEN = [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]


def histograms(table: Any, values: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The law of the histogram of one report of each value."""
    laws: dict[tuple[int, ...], float] = {(0,) * table.shape[1]: 1.0}
    for value in values:
        new: dict[tuple[int, ...], float] = {}
        for seen, mass in laws.items():
            for y, chance in enumerate(table[value]):
                now = (*seen[:y], seen[y] + 1, *seen[y + 1 :])
                new[now] = new.get(now, 0.0) + mass * chance
        laws = new
    return laws


def sampled_law(table: Any, values: tuple[int, ...], n: int) -> dict[tuple[int, ...], float]:
    """Averaged over all samples of n of the values."""
    law: dict[tuple[int, ...], float] = {}
    samples = list(combinations(values, n))
    for sample in samples:
        for seen, mass in histograms(table, sample).items():
            law[seen] = law.get(seen, 0.0) + mass / len(samples)
    return law


def enumerated(table: Any, users: int, n: int, at: Any, rounds: int = 1) -> Any:
    """The largest delta over all others and both orders of all pairs; rounds with fresh samples."""
    worst = np.zeros(len(at))
    for others in combinations_with_replacement(range(len(table)), users - 1):
        laws = [sampled_law(table, (value, *others), n) for value in range(len(table))]
        for one, two in permutations(laws, 2):
            views = list(product(one, repeat=rounds))
            first = np.array([np.prod([one[each] for each in view]) for view in views])
            second = np.array([np.prod([two[each] for each in view]) for view in views])
            found = np.maximum(first - np.exp(at)[:, None] * second, 0.0).sum(axis=1)
            worst = np.maximum(worst, found)
    return worst


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("users", "n"), [(2, 1), (4, 2), (5, 3), (3, 3)])
def test_ends_hold_the_enumerated_truth(name: str, users: int, n: int) -> None:
    make, rows = CASES[name]
    survey = sdp.shuffle(make(), n=n).sampled(users=users)
    at = np.array([0.0, 0.02, 0.2, 0.7, 0.97]) * survey.ceiling
    band = survey.profile(at, gap=2e-4)
    assert_between(band.lower, enumerated(rows(), users, n, at), band.upper, (name, users, n))
    assert survey.delta(epsilon=survey.ceiling).upper == 0.0


def test_two_rounds() -> None:
    survey = sdp.shuffle(sdp.RR(epsilon0=1.0), n=2).sampled(users=4).compose(2)
    at = np.array([0.0, 0.1, 0.5, 1.0])
    band = survey.profile(at, gap=2e-4)
    assert_between(band.lower, enumerated(judge.krr(2, 1.0), 4, 2, at, rounds=2), band.upper)


def test_it_attains_the_formula_for_one_user() -> None:
    """With one report the formula is attained, and both ends meet."""
    bound = sdp.shuffle(sdp.RR(epsilon0=1.0), n=1).sampled(users=10).delta(epsilon=0.05)
    assert bound.lower == pytest.approx(bound.upper, rel=1e-6)


def test_at_the_size_of_a_survey() -> None:
    """The draft's number, and the accountant adds it up with others."""
    alone = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000)
    survey = alone.sampled(users=100_000)
    bound = survey.epsilon(delta=1e-6)
    assert bound.upper == pytest.approx(0.03558, abs=1e-5)
    assert 0.0303 < bound.lower < bound.upper
    whole = sdp.Accountant().add(survey, rounds=5).add(alone).add(survey)
    total = whole.epsilon(delta=1e-6)
    assert 0.36 < total.lower <= total.upper < 0.4
    assert "a random sample of 100,000" in str(survey.compose(3))
    assert any("stays secret" in each for each in bound.assumptions)
    assert repr(survey) == "shuffle(KRR(k=16, epsilon0=4.0), n=10000).sampled(users=100000)"
    everybody = alone.sampled(users=10_000).delta_at_most(epsilon=0.3)
    assert everybody == pytest.approx(alone.delta_at_most(epsilon=0.3), rel=1e-6)


def test_a_tiny_share() -> None:
    survey = sdp.shuffle(sdp.KRR(k=4, epsilon0=50.0), n=2).sampled(users=10**15)
    assert 0.0 <= survey.delta(epsilon=1.0).lower <= survey.delta(epsilon=1.0).upper <= 2.1e-15


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda survey: survey.sampled(users=9), "users must be at least n = 10"),
        (lambda survey: survey.sampled(users=0.5), "whole number"),
        (lambda survey: sdp.shuffle(survey.randomizer, n=10, honest=9).sampled(users=50), "of honest people"),
        (lambda survey: sdp.shuffle(survey.randomizer, n=10, adversary="weak").sampled(users=50), "seen as usual"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(make: Any, words: str) -> None:
    with pytest.raises(sdp.InvalidInput, match=words):
        make(sdp.shuffle(sdp.RR(epsilon0=1.0), n=10))


def exactly(p: float, threshold: int, c: int, epsilon: float) -> float:
    """The larger of both orders for c holders and c + 1, from the two laws as they are published."""
    laws = [binom.pmf(np.arange(c + 2), number, p) for number in (c, c + 1)]
    few, many = (np.append(law[threshold:], law[:threshold].sum()) for law in laws)
    growth = math.exp(epsilon)
    return max(np.maximum(many - growth * few, 0.0).sum(), np.maximum(few - growth * many, 0.0).sum())


@pytest.mark.parametrize(
    ("p", "threshold", "epsilon"),
    [(0.1, 5, 0.2), (0.3, 10, 0.5), (0.5, 3, 0.05), (0.9, 2, 1.0), (0.02, 1, 0.01), (0.25, 1, 0.0), (0.99, 7, 3.0)],
)
def test_the_scan_finds_the_worst_number_of_holders(p: float, threshold: int, epsilon: float) -> None:
    worst = max(exactly(p, threshold, c, epsilon) for c in range(400))
    bound = SampleAndThreshold(p=p, threshold=threshold).delta(epsilon=epsilon)
    assert bound.lower * (1.0 - 1e-9) <= worst <= bound.upper * (1.0 + 1e-9)
    assert bound.upper - bound.lower <= 1e-6 * bound.upper


def test_what_is_deployed() -> None:
    bound = SampleAndThreshold(p=0.105, threshold=20).epsilon(delta=1e-8)
    assert 0.3180 < bound.lower <= bound.upper < 0.3181
    assert "add-or-remove" in bound.assumptions[0]


def test_values_add_up() -> None:
    counts = SampleAndThreshold(p=0.1, threshold=20)
    one, two = counts.epsilon(delta=1e-6), Accountant().add(counts, rounds=2).epsilon(delta=1e-6)
    assert one.upper < two.upper <= 2.1 * one.upper
    assert two.lower <= two.upper


@pytest.mark.parametrize(
    ("arguments", "said"), [({"p": 1.0, "threshold": 5}, "p must"), ({"p": 0.5, "threshold": 0}, "threshold must")]
)
def test_bad_input_is_refused(arguments: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        SampleAndThreshold(**arguments)  # type: ignore[arg-type]


def test_what_no_sample_meets_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must leave room"):
        SampleAndThreshold.largest_p(threshold=1, epsilon=0.1, delta=1e-12)
