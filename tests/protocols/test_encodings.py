"""Histograms of many categories: every encoding unbiased, with the errors and the bits it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shuffledp import RAPPOR, InvalidInput, Poll, SubsetSelection, shuffle
from shuffledp.design import Design
from shuffledp.protocols.bag import SummedBag

ENCODINGS = ["hadamard", "hash", "subset", "oue"]


@pytest.mark.parametrize("mechanism", ENCODINGS)
@pytest.mark.parametrize("epsilon0", [1.0, 4.0])
def test_real_reports_estimate_without_bias_with_the_predicted_error_and_cover(mechanism: str, epsilon0: float) -> None:
    k, n, repetitions, rng = 40, 1500, 400, np.random.default_rng(12)
    words = Poll("histogram", categories=k, n=n, epsilon0=epsilon0, mechanism=mechanism)  # type: ignore[arg-type]
    truth = np.sort(rng.multinomial(n, rng.dirichlet(np.full(k, 0.5))))
    people = np.repeat(np.arange(k), truth)
    estimates = [words.analyse(words.shuffle(words.encode(people, rng=rng))) for _ in range(repetitions)]
    values = np.array([each.values for each in estimates])
    predicted = words.predicted_stderrs(truth)
    covered = np.array([(low <= truth) & (truth <= high) for low, high in (each.interval() for each in estimates)])
    assert np.all(np.abs(values.mean(axis=0) - truth) < 4.5 * predicted / math.sqrt(repetitions))
    assert math.sqrt(np.mean((values - truth) ** 2) / np.mean(predicted**2)) == pytest.approx(1.0, abs=0.03)
    assert 0.94 < covered.mean() < 0.975  # votes are whole numbers, and few at epsilon0 = 4
    assert np.mean([each.stderr for each in estimates], axis=0) == pytest.approx(predicted, rel=0.05)


@pytest.mark.long
def test_hadamard_intervals_cover_for_common_and_rare_values_over_10000_repetitions() -> None:
    k, n, repetitions, rng = 6, 400, 10_000, np.random.default_rng(21)
    words = Poll("histogram", categories=k, mechanism="hadamard", n=n, epsilon0=2.0)
    truth = np.array([250, 100, 40, 10, 0, 0])
    randomizer = words.randomizer
    columns = randomizer.block_count * randomizer.block_size
    draws = randomizer.randomize(np.tile(np.repeat(np.arange(k), truth), repetitions), rng=rng).reshape(repetitions, n)
    assert draws.max() < columns
    inside = np.zeros(k)
    for row in draws:
        low, high = words.analyse(words.shuffle(row)).interval()
        inside += (low <= truth) & (truth <= high)
    assert np.all(inside / repetitions > 0.94)
    assert np.all(inside / repetitions < 0.97)  # votes come in steps of two


@pytest.mark.parametrize(
    ("mechanism", "bits"), [("hadamard", 11), ("hash", 64 + 6), ("subset", 18 * 10), ("oue", 1000)]
)
def test_bits_per_report_are_stated(mechanism: str, bits: int) -> None:
    assert Poll("histogram", categories=1000, n=100, epsilon0=4.0, mechanism=mechanism).bits == bits  # type: ignore[arg-type]


def test_listed_values_and_categories_are_estimated_by_name() -> None:
    names = [f"word {i}" for i in range(50)]
    words = Poll("histogram", categories=names, mechanism="hadamard", n=1000, epsilon0=12.0)
    bag = words.shuffle(words.encode(["word 7"] * 600 + ["word 9"] * 400, rng=np.random.default_rng(3)))
    some, every = words.analyse(bag, values=["word 9", "word 7"]), words.analyse(bag)
    assert some.labels == ("word 9", "word 7")
    assert some.values.tolist() == [every["word 9"], every["word 7"]]
    assert some["word 7"] == pytest.approx(600, abs=5 * words.predicted_stderr())
    projected = words.analyse(bag, estimator="simplex")
    assert projected.values.min() >= 0.0
    assert projected.values.sum() == pytest.approx(1000.0)
    assert np.sum((projected.values - every.values) ** 2) > 0.0


def test_a_promise_is_kept_by_the_law_that_runs() -> None:
    words = Poll("histogram", categories=500, mechanism="hadamard", n=20_000, epsilon=1.0, delta=1e-6)
    assert words.randomizer.realised == words.randomizer
    assert (
        words.guarantee.epsilon(delta=1e-6).upper
        == shuffle(words.randomizer, n=20_000).epsilon(delta=1e-6).upper
        <= 1.0
    )


def test_hashing_says_what_it_assumes() -> None:
    words = Poll("histogram", categories=100, n=1000, epsilon0=2.0, mechanism="hash")
    assert any("hash" in assumption for assumption in words.guarantee.assumptions)


@pytest.mark.parametrize("mechanism", ENCODINGS)
def test_a_bag_of_long_reports_forgets_their_order_and_keeps_every_one(mechanism: str) -> None:
    words, rng = Poll("histogram", categories=70, n=300, epsilon0=2.0, mechanism=mechanism), np.random.default_rng(5)  # type: ignore[arg-type]
    reports = words.encode(rng.integers(70, size=300), rng=rng)
    bag, again = words.shuffle(reports), words.shuffle(rng.permutation(reports.rows, axis=0))
    np.testing.assert_array_equal(bag.rows, again.rows)
    assert sorted(map(bytes, bag.rows)) == sorted(map(bytes, reports.rows))
    assert not np.array_equal(bag.rows, reports.rows)


def test_an_unknown_mechanism_is_refused() -> None:
    with pytest.raises(InvalidInput, match="mechanism must be one of krr, hadamard, hash, subset, oue, got 'magic'"):
        Poll("histogram", categories=100, n=1000, epsilon0=2.0, mechanism="magic")  # type: ignore[arg-type]


def test_a_randomizer_takes_the_place_of_a_mechanism() -> None:
    words = Poll("histogram", categories=9, n=400, randomizer=SubsetSelection(k=9, epsilon0=2.0))
    assert words.analyse(words.shuffle(words.encode([3] * 400))).n == 400
    with pytest.raises(InvalidInput, match="mechanism must be left out with a randomizer, got 'subset'"):
        Poll("histogram", categories=9, n=400, randomizer=SubsetSelection(k=9, epsilon0=2.0), mechanism="subset")


def test_only_sums_are_released_where_they_are_promised() -> None:
    words, rng = (
        Poll("histogram", categories=9, n=400, epsilon0=6.0, mechanism="oue", view="sums"),
        np.random.default_rng(5),
    )
    reports = words.encode(np.full(400, 3), rng=rng)
    bag = words.shuffle(reports)
    assert isinstance(bag, SummedBag)
    assert len(bag) == 400
    assert bag.rows.tolist() == words.tally(reports.rows).tolist()
    assert words.analyse(bag)[3] == pytest.approx(400.0, abs=5.0 * words.predicted_stderr())
    assert words.randomizer == RAPPOR(k=9, epsilon0=words.epsilon0)
    assert any("only how often each bit was set" in each for each in words.guarantee.assumptions)
    same = Poll("histogram", categories=9, n=400, randomizer=words.randomizer)
    with pytest.raises(InvalidInput, match='must hold sums only where view="sums" is promised, got Bag'):
        words.analyse(same.shuffle(reports.rows))
    with pytest.raises(InvalidInput, match="must come from this protocol"):
        same.analyse(bag)


def test_a_view_of_sums_needs_bits_and_has_no_design() -> None:
    with pytest.raises(InvalidInput, match='the view "sums" must be of the mechanism oue, got hadamard'):
        Poll("histogram", categories=9, mechanism="hadamard", n=400, epsilon0=2.0, view="sums")
    with pytest.raises(InvalidInput, match='the view "sums" must be of reports that are bits'):
        Poll("histogram", categories=9, n=400, randomizer=SubsetSelection(k=9, epsilon0=2.0), view="sums")
    with pytest.raises(InvalidInput, match="view must be one of reports, sums, got 'bits'"):
        Poll("histogram", categories=9, mechanism="hadamard", n=400, epsilon0=2.0, view="bits")  # type: ignore[arg-type]
    words = Poll("histogram", categories=9, n=400, epsilon0=2.0, delta=1e-6, mechanism="oue", view="sums")
    with pytest.raises(InvalidInput, match='a histogram must be of the view "reports" to be written down'):
        Design.of(words)
