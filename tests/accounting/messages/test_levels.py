"""All levels of a tree at once, against everything that the shuffler of a handful of people may
hand on: every pair of values, whatever the others hold, both orders, one and two rounds.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from shuffledp import shuffle
from shuffledp._types import Floats
from shuffledp.randomizers import ShufflerDummies, TreeDummies
from tests.oracle.views import tree_view

SHAPES = {(3, 2, 2): 3, (4, 2, 2): 2, (4, 2, 3): 2, (5, 3, 2): 2}  # values, levels, branches; numbers of dummies


def seen(law: TreeDummies, values: tuple[int, ...], counts: int) -> dict[tuple[int, ...], float]:
    """Of so many different numbers of dummies; the rest is rare."""
    table = law.numbers
    dummies = [0.0] * table.first + table.chances.tolist()[:counts]
    return tree_view(values, law.k, law.levels, law.branches, dummies)


def side_by_side(one: dict[tuple[int, ...], float], two: dict[tuple[int, ...], float]) -> tuple[Floats, Floats]:
    places = sorted({*one, *two})
    return np.array([one.get(at, 0.0) for at in places]), np.array([two.get(at, 0.0) for at in places])


def of_pairs(law: TreeDummies, n: int, counts: int) -> Iterator[tuple[tuple[int, int], Floats, Floats]]:
    """Every two values of the target, and every multiset that all others may hold."""
    for others in itertools.combinations_with_replacement(range(law.k), n - 1):
        views = [seen(law, (value, *others), counts) for value in range(law.k)]
        for a, b in itertools.combinations(range(law.k), 2):
            yield (a, b), *side_by_side(views[a], views[b])


def exactly(one: Floats, two: Floats, epsilon: float) -> tuple[float, float]:
    """delta in both orders."""
    x = np.exp(epsilon)
    return float(np.maximum(one - x * two, 0.0).sum()), float(np.maximum(two - x * one, 0.0).sum())


def laws(seed: int) -> Iterator[tuple[TreeDummies, int]]:
    """Trees with few numbers of dummies, and how many of these matter; the more nodes, the fewer."""
    rng = np.random.default_rng(seed)
    for (k, levels, branches), most in SHAPES.items():
        shape = {"k": k, "levels": levels, "branches": branches}
        left, right = float(rng.uniform(0.1, 0.9)), float(rng.uniform(1e-9, 1e-7))
        yield TreeDummies(**shape, center=most - 1, left=left, right=0.0), most  # type: ignore[arg-type]
        if most > 2:
            yield TreeDummies(**shape, center=most - 2, left=left, right=right), most  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_one_round_of_a_tree_by_all_that_may_be_seen(n: int) -> None:
    for law, counts in itertools.islice(laws(n), None if n == 1 else 3):
        survey, pairs = shuffle(law, n=n), list(of_pairs(law, n, counts))
        for epsilon in (0.0, 0.4, 1.5):
            exact = {pair: max(exactly(one, two, epsilon)) for pair, one, two in pairs}
            lower, upper = survey.delta(epsilon=epsilon)
            assert max(exact.values()) <= upper + 1e-9
            # Two values that differ on every level are the worst, whatever all others hold.
            assert lower <= exact[0, law.k - 1] + 1e-9
            assert exact[0, law.k - 1] == pytest.approx(max(exact.values()), rel=1e-9, abs=1e-12)


def test_two_rounds_of_a_tree_by_all_that_may_be_seen() -> None:
    law = TreeDummies(k=3, levels=2, branches=2, center=1, left=0.7, right=0.0)
    survey = shuffle(law, n=1).compose(2)
    for _, one, two in of_pairs(law, 1, 2):
        twice = np.outer(one, one).ravel(), np.outer(two, two).ravel()
        for epsilon in (0.0, 0.5, 1.0):
            assert max(exactly(*twice, epsilon)) <= survey.delta_at_most(epsilon=epsilon) + 1e-9
    worst = side_by_side(seen(law, (0,), 2), seen(law, (2,), 2))
    for epsilon in (0.0, 0.5, 1.0):
        exact = max(exactly(*(np.outer(law_, law_).ravel() for law_ in worst), epsilon))
        assert survey.delta_at_least(epsilon=epsilon) <= exact + 1e-9


def test_a_tree_is_as_many_rounds_of_one_of_its_levels() -> None:
    numbers = {"center": 51, "left": 0.8, "right": 0.8}
    tree = TreeDummies(k=100, levels=2, branches=10, **numbers)  # type: ignore[arg-type]
    level = shuffle(ShufflerDummies(k=10, **numbers), n=1000)  # type: ignore[arg-type]
    for one, many in ((shuffle(tree, n=1000), 2), (shuffle(tree, n=1000).compose(3), 6)):
        assert one.epsilon_at_most(delta=1e-4) == level.compose(many).epsilon_at_most(delta=1e-4)
        assert 0.98 * one.epsilon_at_most(delta=1e-4) < one.epsilon_at_least(delta=1e-4)
    flat = TreeDummies(k=100, levels=1, branches=10, **numbers)  # type: ignore[arg-type]
    assert shuffle(flat, n=1000).epsilon(delta=1e-4).upper == pytest.approx(level.epsilon(delta=1e-4).upper, rel=1e-9)
    assert "levels composed" in shuffle(tree, n=1000).explain(delta=1e-4).bound.method


def test_dummies_whose_number_everybody_knows_hide_nothing() -> None:
    guarantee = shuffle(TreeDummies(k=5, levels=2, branches=2, center=3), n=3)
    assert guarantee.delta(epsilon=1.0).upper == 1.0
    assert guarantee.epsilon(delta=1e-6).upper == math.inf
