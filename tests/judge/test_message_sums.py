"""Sums for any number of people: against what a handful may send, and against the accountant, which
shares no code with them."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from shuffledp import shuffle
from shuffledp.accounting.messages.sums import mixing_distance
from shuffledp.judge import hockey_stick
from shuffledp.judge.effort import TooLarge
from shuffledp.judge.fakes import CountedFakes
from shuffledp.judge.messages import LightSums, MessageSums, colorings_excess
from shuffledp.judge.shares import SHARED
from shuffledp.randomizers.law_file import law_of
from shuffledp.randomizers.messages import MessageLaw, ShufflerDummies, SignedUnits, SplitShares, UserFakes
from tests.accounting.messages.enclosed import both_orders
from tests.oracle.views import dummies_view, fakes_view

EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 1.3])


def summed(law: MessageLaw, people: int, epsilons: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of what the theorem says, from the law as it is written."""
    written = law_of(law)
    if written["type"] in SHARED:
        return MessageSums.of(written, people).deltas(epsilons)
    return CountedFakes.of(written).spans(people, epsilons, lambda: None)[0]


@pytest.mark.parametrize(
    ("build", "people"),
    [
        (lambda: UserFakes(k=16, slots=1, chance=0.0685), 10_000),
        (lambda: UserFakes(k=16, slots=2, chance=85 * 8e-7), 10**7),
        (lambda: UserFakes(k=2, slots=1, chance=1.0), 1),
        (lambda: ShufflerDummies(k=16, center=25, left=0.6, right=0.6), 10_000),
        (lambda: ShufflerDummies(k=16, keep=0.6, kind="poisson", rate=30.0), 10_000),
        (lambda: ShufflerDummies(k=16, kind="poisson", rate=85.0, epsilon0=9.0), 100),
        (lambda: SignedUnits(honest=10_000, decay=0.9, pairs=1_360, messages=20), 10_000),
        (lambda: SplitShares(k=1001, honest=10_000, decay=1e-3, share_bits=40, messages=9, reach=10_000), 10_000),
    ],
)
def test_they_agree_with_the_accountant(build: Callable[[], MessageLaw], people: int) -> None:
    law = build()
    survey = shuffle(law, n=people)
    low, high = summed(law, people, EPSILONS)
    lower, upper = (survey.deltas(EPSILONS, end=end) for end in ("lower", "upper"))
    assert np.all(low <= upper * (1.0 + 1e-8) + 1e-28)
    assert np.all(lower <= high * (1.0 + 1e-8))
    if not isinstance(law, SplitShares) or mixing_distance(people, law.messages, law.modulus) < 1e-9:
        assert np.all(upper <= high * (1.0 + 1e-6) + 1e-28)  # the theorem itself, to many digits


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0])
def test_they_are_what_a_handful_of_people_may_send(epsilon: float) -> None:
    fakes = UserFakes(k=3, slots=1, chance=0.4)
    one, two = (fakes_view([value, 2], 3, [0.6, 0.4]) for value in (0, 1))
    (low,), (high,) = summed(fakes, 2, np.array([epsilon]))
    assert low * (1.0 - 1e-9) <= both_orders(one, two, epsilon)[0] <= high * (1.0 + 1e-9)
    dummies = ShufflerDummies(k=3, keep=0.7, center=1, left=0.3, right=1e-4)
    one, two = (dummies_view([value, 2], 3, dummies.numbers.chances.tolist(), 0.7) for value in (0, 1))
    (low,), (high,) = summed(dummies, 2, np.array([epsilon]))
    assert low * (1.0 - 1e-9) <= both_orders(one, two, epsilon)[0] <= high * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("points", "permutations", "bits"), [(19, 29, 8), (600, 11, 16), (10**4, 10, 32), (10**9, 6, 32)]
)
def test_colors_count_what_components_do(points: int, permutations: int, bits: int) -> None:
    colors = 0.5 * math.sqrt(colorings_excess(points, permutations, 1 << bits))
    components = mixing_distance(points, permutations + 1, 1 << bits)
    assert components == pytest.approx(colors, rel=0.01)


def test_what_has_no_sum_is_said_so() -> None:
    with pytest.raises(TooLarge):
        summed(SignedUnits(honest=100, decay=0.9, pairs=10, messages=20), 50, EPSILONS)


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
