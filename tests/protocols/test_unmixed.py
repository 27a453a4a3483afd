"""A histogram by a randomizer that is known by its matrix alone."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from numpy.typing import ArrayLike

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.matrix import Unmixed

ROWS = [[0.6, 0.2, 0.1, 0.1], [0.1, 0.6, 0.1, 0.2], [0.05, 0.05, 0.5, 0.4]]
TRUTH = np.array([500, 300, 40])


@dataclass(frozen=True)
class Own(sdp.FiniteRandomizer):
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
            estimate = asked.analyse_counts(asked.tally(np.array(sent)))
            low, high = estimate.interval(0.95)
            covered += chance * ((low <= truth) & (truth <= high))
            low, high = estimate.simultaneous(0.95)
            together += chance * bool(np.all((low <= truth) & (truth <= high)))
        assert min(*covered, together) >= 0.95


def test_rounds_of_a_handful_of_reports_are_averaged() -> None:
    asked = Poll("histogram", categories=["a", "b", "c"], n=4, rounds=3, randomizer=Own())  # type: ignore[arg-type]
    once = asked.analyse_counts(asked.tally(np.array([0, 1, 2, 3])))
    (low, high), (lower, higher) = asked.combine([once] * 3).interval(), once.interval()
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
    estimate = poll(Own()).analyse_counts(poll(Own()).tally(np.array([0, 1, 2, 3])))
    for column in (estimate.values, estimate.stderr, estimate.unbiased):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0.0
