"""One noisy message of each person: every encoding, and a randomizer that is known by its matrix alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from numpy.typing import ArrayLike

import shuffledp as sdp
from shuffledp import RAPPOR, Poll, SubsetSelection, shuffle
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.shuffler import SummedBag
from shuffledp.randomizers import FiniteRandomizer
from shuffledp.randomizers.matrix import Unmixed

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
    with pytest.raises(
        InvalidInput,
        match="one of krr, hadamard, hash, subset, oue, fakes, dummies for a histogram, got 'magic'",
    ):
        Poll("histogram", categories=100, n=1000, epsilon0=2.0, mechanism="magic")  # type: ignore[arg-type]


def test_a_randomizer_takes_the_place_of_a_mechanism() -> None:
    words = Poll("histogram", categories=9, n=400, randomizer=SubsetSelection(k=9, epsilon0=2.0))
    assert words.analyse(words.shuffle(words.encode([3] * 400))).n == 400
    with pytest.raises(InvalidInput, match="mechanism must be left out with a randomizer, got both"):
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
    assert bag.rows.tolist() == words.randomizer.tally(reports.rows).tolist()
    assert words.analyse(bag)[3] == pytest.approx(400.0, abs=5.0 * words.predicted_stderr())
    assert words.randomizer == RAPPOR(k=9, epsilon0=words.epsilon0)
    assert any("only how often each bit was set" in each for each in words.guarantee.assumptions)
    same = Poll("histogram", categories=9, n=400, randomizer=words.randomizer)
    with pytest.raises(InvalidInput, match="differs in view"):
        words.analyse(same.shuffle(reports.rows))
    with pytest.raises(InvalidInput, match="must come from this poll"):
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


ROWS = [[0.6, 0.2, 0.1, 0.1], [0.1, 0.6, 0.1, 0.2], [0.05, 0.05, 0.5, 0.4]]
TRUTH = np.array([500, 300, 40])


@dataclass(frozen=True)
class Own(FiniteRandomizer):
    """A stranger's."""

    def law(self) -> ArrayLike:
        return ROWS


def poll(randomizer: sdp.Randomizer) -> Poll:
    return Poll("histogram", categories=["a", "b", "c"], n=int(TRUTH.sum()), delta=1e-6, randomizer=randomizer)  # type: ignore[arg-type]


@pytest.mark.parametrize("randomizer", [Own(), sdp.FromMatrix(ROWS)], ids=["own", "matrix"])
def test_it_is_accounted_as_the_matrix_that_runs(randomizer: sdp.Randomizer) -> None:
    survey = sdp.shuffle(randomizer.realised, n=int(TRUTH.sum()))
    assert poll(randomizer).guarantee.epsilon(delta=1e-6) == survey.epsilon(delta=1e-6)


def test_estimates_are_unbiased_and_their_errors_are_right() -> None:
    asked, rng, values = poll(Own()), np.random.default_rng(5), np.repeat(["a", "b", "c"], TRUTH)
    runs = [asked.analyse(asked.shuffle(asked.encode(values, rng=rng))) for _ in range(400)]
    estimates = np.array([run.values for run in runs])
    exact = asked.predicted_stderrs(TRUTH)
    assert np.all(np.abs(estimates.mean(axis=0) - TRUTH) < 4.0 * exact / 20.0)
    assert np.all(np.abs(estimates.std(axis=0) / exact - 1.0) < 0.15)
    assert np.all(np.abs(np.mean([run.stderr for run in runs], axis=0) / exact - 1.0) < 0.05)
    covered = np.mean([(low <= TRUTH) & (high >= TRUTH) for low, high in (run.interval(0.95) for run in runs)], axis=0)
    assert np.all(covered > 0.92)


def test_krr_by_its_matrix_is_krr() -> None:
    """The same estimate as by votes, report by report."""
    krr = sdp.KRR(k=3, epsilon0=1.5).realised
    rest = 1.0 / (np.exp(krr.epsilon0) + 2.0)
    table = np.full((3, 3), rest) + np.eye(3) * (np.exp(krr.epsilon0) - 1.0) * rest
    reports = krr.randomize(np.repeat([0, 1, 2], TRUTH), rng=np.random.default_rng(3))
    assert Unmixed(sdp.FromMatrix(table)).debias(reports) == pytest.approx(krr.debias(reports), abs=1e-6)


@pytest.mark.parametrize(
    "rows", [[[0.5, 0.5], [0.5, 0.5]], [[0.7, 0.3], [0.5, 0.5], [0.3, 0.7]]], ids=["silent", "more inputs than reports"]
)
def test_inputs_that_reports_do_not_tell_apart_are_refused(rows: list[list[float]]) -> None:
    with pytest.raises(InvalidInput, match="linearly independent"):
        Unmixed(sdp.FromMatrix(rows))


def test_a_law_without_a_matrix_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"whose reports vote, .* or one with a matrix"):
        poll(sdp.AnyLDP(epsilon0=1.0))


def test_reports_that_are_no_columns_are_refused() -> None:
    with pytest.raises(InvalidInput, match="reports must"):
        poll(Own()).shuffle(np.full(int(TRUTH.sum()), 4))


@pytest.mark.parametrize("users", [1, 2, 3])
def test_intervals_of_a_handful_of_reports_cover_as_often_as_they_say(users: int) -> None:
    """Exactly, over all reports: a rare one may weigh a hundred times as much as the others."""
    rows = np.array([[0.9, 0.09, 0.01], [0.8, 0.17, 0.03], [0.97, 0.02, 0.01]])
    asked = Poll("histogram", categories=[0, 1, 2], n=users, randomizer=sdp.FromMatrix(rows))  # type: ignore[arg-type]
    for held in product(range(3), repeat=users):
        truth, covered, together = np.bincount(held, minlength=3), np.zeros(3), 0.0
        for sent in product(range(3), repeat=users):
            chance = float(np.prod(rows[list(held), list(sent)]))
            estimate = asked.analyse_counts(asked.randomizer.tally(np.array(sent)))
            low, high = estimate.interval(0.95)
            covered += chance * ((low <= truth) & (truth <= high))
            low, high = estimate.simultaneous(0.95)
            together += chance * bool(np.all((low <= truth) & (truth <= high)))
        assert min(*covered, together) >= 0.95


def test_rounds_of_a_handful_of_reports_are_averaged() -> None:
    asked = Poll("histogram", categories=["a", "b", "c"], n=4, rounds=3, randomizer=Own())  # type: ignore[arg-type]
    tally = asked.randomizer.tally(np.array([0, 1, 2, 3]))
    once = asked.analyse_counts(tally)
    (low, high), (lower, higher) = asked.analyse_counts(tally, tally, tally).interval(), once.interval()
    assert np.all((lower < low) & (low <= once.values) & (once.values <= high) & (high < higher))


def test_intervals_of_a_value_that_few_hold_are_not_as_wide_as_if_all_held_it() -> None:
    """Who holds c sends 2 less than half the time, and others next to never: the noise is c's."""
    rows = [[0.6, 0.3999, 0.0001], [0.3999, 0.6, 0.0001], [0.3, 0.3, 0.4]]
    users = 20_000
    asked = Poll("histogram", categories=["a", "b", "c"], n=users, randomizer=sdp.FromMatrix(rows))  # type: ignore[arg-type]
    counts = np.array([users, users // 2, users // 2 - 2, 2, 0, 0, 0])
    low, high = asked.analyse_counts(counts).interval(0.95)
    assert high[2] - low[2] < 60.0  # not 900: were everybody's report as noisy as a holder's


def test_reports_of_another_matrix_are_refused() -> None:
    """Even one of the same size and strength: the estimates would be another category's."""
    asked, other = poll(sdp.FromMatrix(ROWS)), poll(sdp.FromMatrix(ROWS[::-1]))
    bag = asked.shuffle(asked.encode(np.repeat(["a", "b", "c"], TRUTH)))
    with pytest.raises(InvalidInput, match="differs in matrix"):
        other.analyse(bag)


def test_reports_that_nobody_sends_are_refused() -> None:
    rows = [[0.7, 0.3, 0.0], [0.3, 0.7, 0.0]]
    asked = Poll("histogram", categories=["a", "b"], n=9, randomizer=sdp.FromMatrix(rows))  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="got 2, which no input sends"):
        asked.shuffle(np.full(9, 2))


def test_counts_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(InvalidInput, match="counts must say of every report"):
        poll(Own()).analyse_counts(np.array([10, -5, 500, 0, 0, 0, 0, 0]))


@pytest.mark.filterwarnings("error")
def test_reports_without_noise_are_counted_exactly() -> None:
    asked = Poll("histogram", categories=["a", "b"], n=5, randomizer=sdp.FromMatrix(np.eye(2)))  # type: ignore[arg-type]
    estimate = asked.analyse(asked.shuffle(asked.encode(["a", "a", "a", "b", "b"])))
    assert [end.tolist() for end in estimate.interval()] == [[3.0, 2.0], [3.0, 2.0]]


def test_a_sampler_that_loses_people_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Own, "randomize", lambda *_, **__: np.zeros(1, dtype=int))
    with pytest.raises(InvalidInput, match="one report for each of 3 values, got 1 from Own"):
        poll(Own()).encode(["a", "b", "c"])


def test_an_estimate_cannot_be_changed() -> None:
    estimate = poll(Own()).analyse_counts(poll(Own()).randomizer.tally(np.array([0, 1, 2, 3])))
    for column in (estimate.values, estimate.stderr, estimate.unbiased):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0.0
