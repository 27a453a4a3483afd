"""Quantiles from all levels of a tree at once: the estimate is that of least squares, its error is
what is stated and the same for all data, limits cover, and the best shape is taken.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.dummies import Dummies
from shuffledp.mechanisms.rows import Rows
from shuffledp.mechanisms.tree import Tree, tree_shapes
from shuffledp.randomizers import ShufflerDummies, TreeDummies
from shuffledp.workload import below
from tests.mechanisms.simulation import ends, pooled

PROMISE = {"epsilon": 1.0, "delta": 1e-6}
SHAPES = [(10, 1, 4), (10, 2, 4), (17, 3, 2), (64, 3, 4), (13, 3, 3)]


def tree(k: int, levels: int, branches: int) -> TreeDummies:
    return TreeDummies(k=k, levels=levels, branches=branches, center=10, left=0.6, right=0.5)


def nothing_seen(law: TreeDummies, rounds: int = 1) -> Rows:
    nothing = pooled(0, np.zeros(law.places, int), (), rounds)
    return Tree(law).rows(nothing, below(tuple(range(law.k - 1))))


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_are_those_of_least_squares_with_a_known_number_of_people(shape: tuple[int, int, int]) -> None:
    law = tree(*shape)
    k, nodes = law.k, law.nodes(np.arange(law.k))
    holding = np.zeros((law.places, k))
    holding[nodes.ravel(), np.repeat(np.arange(k), law.levels)] = 1.0
    groups = np.tri(k, k)[:-1]
    spreads = np.linalg.svd(np.ones((1, k)))[2][1:].T  # all ways to spread a known number of people
    right = groups @ spreads @ np.linalg.pinv(holding @ spreads)
    weights, shares = Tree(law).weights(groups)
    assert np.abs(weights - right).max() < 1e-12
    assert np.abs(weights @ holding + shares[:, None] - groups).max() < 1e-12  # unbiased, whatever the data
    errors = Tree(law).predicted(below(tuple(range(k - 1))), None)
    assert errors**2 == pytest.approx(float(law.numbers.variance) * (right**2).sum(axis=1), rel=1e-12)


@pytest.mark.parametrize("people", [np.zeros(400, dtype=int), np.arange(400) % 9])
def test_errors_are_exact_and_limits_cover(people: np.ndarray) -> None:
    law, rng = tree(9, 2, 3), np.random.default_rng(5)
    protocol = Poll("quantile", cuts=range(10), ranges=[(2, 5)], at=[0.5], n=400, randomizer=law, delta=1e-6)
    truth = np.array([(people < cut).sum() for cut in range(1, 9)])
    sent, runs, found, missed = law.tally(law.randomize(people)), 150, [], np.zeros(8)
    for _ in range(runs):
        estimate = protocol.analyse_counts(law.mixed(sent, rng=rng))
        found.append(estimate.values)
        low, high = estimate.interval(0.9)
        missed += (truth < low) | (truth > high)
    errors = protocol.predicted_stderrs(np.bincount(people, minlength=9))
    assert estimate.stderr == pytest.approx(errors, rel=1e-12)
    assert (np.abs(np.mean(found, axis=0) - truth) < 6.0 * errors / math.sqrt(runs)).all()
    assert (np.abs(np.var(found, axis=0) / errors**2 - 1.0) < 6.0 * math.sqrt(3.0 / runs)).all()
    assert (missed < 0.1 * runs + 6.0 * math.sqrt(0.09 * runs)).all()
    ranged = protocol.derive(law.mixed(sent, rng=rng))["ranges"]
    assert abs(ranged.values[0] - ((people >= 2) & (people < 5)).sum()) < 8.0 * ranged.stderr[0]
    assert ranged.stderr[0] < math.hypot(errors[1], errors[4])  # the noise of both ends is partly the same


def test_the_noise_of_several_rounds_is_that_of_their_mean() -> None:
    noise, both = nothing_seen(tree(10, 2, 4)), nothing_seen(tree(10, 2, 4), rounds=4)
    assert both.stderr == pytest.approx(noise.stderr / 2.0)
    wide, narrow = (np.ptp(ends(each, 0.025), axis=0) for each in (noise, both))
    assert (narrow < 0.52 * wide).all()
    some = noise.at(slice(2, 4))
    assert np.array_equal(ends(some, 0.01).upper, ends(noise, 0.01).upper[2:4])


def test_the_shape_with_the_smallest_error_is_taken() -> None:
    errors = {}
    for bins, levels in ((12, 1), (120, 2)):
        best = Poll("quantile", mechanism="dummies", cuts=range(bins + 1), n=10_000, **PROMISE)
        assert best.messages == levels
        for each, branches in tree_shapes(bins)[:3]:
            other = Poll(
                "quantile",
                mechanism="dummies",
                cuts=range(bins + 1),
                n=10_000,
                levels=each,
                branches=branches,
                **PROMISE,
            )
            errors[bins, each] = other.predicted_stderr()
            assert best.predicted_stderr() <= errors[bins, each]
        assert best.worst_stderr() == best.predicted_stderr() == min(errors[bins, each] for each in (1, 2))
        assert best.guarantee.delta_at_most(epsilon=1.0) <= 1e-6
    flat = Poll("quantile", mechanism="dummies", cuts=range(121), n=10_000, keep=0.999, **PROMISE)  # a law of one shape
    assert isinstance(flat.randomizer, ShufflerDummies)
    assert errors[120, 2] < 0.6 * flat.predicted_stderr()
    options = {option.name: option for option in sdp.plan("quantile", n=10_000, categories=120, **PROMISE).options}
    assert options[f"quantile, {Dummies.title}"].messages == 2
    assert options[f"quantile, {Dummies.title}"].error == errors[120, 2]


def test_a_tree_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidInput, match="law that answers a quantile"):
        Poll("quantile", cuts=range(11), n=400, randomizer=tree(9, 2, 3))
    with pytest.raises(InvalidInput, match="law that answers a histogram"):
        Poll("histogram", categories=9, n=400, randomizer=tree(9, 2, 3))
    for wrong in ({"levels": 2}, {"levels": 2, "branches": 3, "keep": 0.5}):
        with pytest.raises(InvalidInput, match="levels and branches must be given together"):
            Poll("quantile", mechanism="dummies", cuts=range(11), n=400, **PROMISE, **wrong)
    with pytest.raises(InvalidInput, match="two nodes or more"):
        Poll("quantile", mechanism="dummies", cuts=range(11), n=400, **PROMISE, levels=3, branches=4)


def test_a_shuffler_without_dummies_is_noticed() -> None:
    law = tree(9, 2, 3)
    protocol = Poll("quantile", cuts=range(10), n=400, randomizer=law, delta=1e-6)
    sent = law.tally(law.randomize(np.arange(400) % 9))
    protocol.analyse_counts(law.mixed(sent, rng=np.random.default_rng(1)))
    with pytest.raises(InvalidInput, match="dummies"):
        protocol.analyse_counts(sent)


def test_a_malicious_person_moves_counts_by_the_influence_and_no_farther() -> None:
    """All messages may name one node: nobody sees whether those of one person fit together."""
    law = tree(9, 2, 3)
    protocol = Poll("quantile", cuts=range(10), n=400, randomizer=law, delta=1e-6)
    honest = law.randomize(np.arange(399) % 9)

    def said(last: tuple[int, ...]) -> np.ndarray:
        rows = np.concatenate([honest, np.array([last], dtype=honest.dtype)])
        return np.asarray(protocol.analyse_counts(law.mixed(law.tally(rows), rng=np.random.default_rng(3))).values)

    estimates = np.array([said((one, two)) for one in range(law.places) for two in range(one, law.places)])
    estimate = protocol.analyse_counts(law.mixed(law.tally(honest), rng=np.random.default_rng(3)))
    assert protocol.influence(estimate) == pytest.approx(np.ptp(estimates, axis=0), rel=1e-9)
    assert protocol.influence(estimate).max() == pytest.approx(2.0)  # twice what a single message could do
