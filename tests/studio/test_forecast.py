"""The guess at the pointer lies near what is then certified."""

from __future__ import annotations

from typing import Any

import pytest

from shuffledp.mechanisms.baselines import best_alone
from shuffledp.poll import Poll
from shuffledp.questions.histogram.question import HistogramQuestion
from shuffledp.questions.mean.question import MeanQuestion
from shuffledp.questions.question import Question
from shuffledp.release.arguments import hiding_of
from shuffledp.studio import answer
from shuffledp.studio.answer import forecast_local, forecast_shuffled


@pytest.mark.parametrize(
    "question, mechanism, n, rounds",
    [
        (HistogramQuestion(categories=16), "krr", 1000, 30),
        (HistogramQuestion(categories=100), "hadamard", 10**6, 12),
        (MeanQuestion(lower=0.0, upper=10.0), "krr", 10**6, 10),
        (MeanQuestion(lower=0.0, upper=10.0), "krr", 250, 1),
    ],
)
def test_a_forecast_is_close(question: Question, mechanism: str, n: int, rounds: int) -> None:
    hiding = hiding_of(question.type, {"mechanism": mechanism})
    terms = {"n": n, "epsilon": 1.0 if n > 250 else 9.0, "delta": 1e-7, "rounds": rounds}
    certified = Poll(question, **terms, **hiding, honest=n)
    shuffled = forecast_shuffled(question, honest=n, hiding=hiding, **terms)  # type: ignore[arg-type]
    assert shuffled.predicted_stderr() == pytest.approx(certified.predicted_stderr(), rel=0.05)
    assert shuffled.epsilon0 == pytest.approx(certified.epsilon0, rel=0.05)


@pytest.mark.parametrize(
    "question, rounds",
    [
        (HistogramQuestion(categories=16), 20),
        (HistogramQuestion(categories=5000), 3),  # a report says something rarely, and then much
        (HistogramQuestion(categories=100), 20),
        (MeanQuestion(lower=0.0, upper=1.0), 5),
    ],
)
def test_so_is_that_without_a_shuffler(question: Question, rounds: int) -> None:
    terms: dict[str, Any] = {"n": 1000, "epsilon": 1.0, "delta": 1e-7, "rounds": rounds}
    certified, guessed = best_alone(question, **terms), forecast_local(question, **terms)
    assert guessed.error == pytest.approx(certified.error, rel=0.05)
    assert guessed.name.split(",")[0] == certified.name.split(",")[0]


@pytest.mark.parametrize("rounds", [3000, 100_000])
def test_few_reports_of_many_rounds_are_a_walk_still(rounds: int) -> None:
    """Of a million categories a report tells two apart rarely, and then a lot: after so many rounds
    the sum is far from Gaussian, and forecast by that it was too small by a factor of up to 14.
    """
    terms: dict[str, Any] = {"n": 1000, "epsilon": 8.0, "delta": 1e-12}
    before = forecast_local(HistogramQuestion(categories=10**6), **terms, rounds=rounds // 2).error
    error = forecast_local(HistogramQuestion(categories=10**6), **terms, rounds=rounds).error
    assert before <= error <= 2.0 * before, "more rounds need more noise, and not ten times as much"


def test_reports_that_tell_often_are_not_walked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    terms: dict[str, Any] = {"n": 1000, "epsilon": 1.0, "delta": 1e-7}
    walked = forecast_local(HistogramQuestion(categories=16), **terms, rounds=1000).error
    monkeypatch.setattr(answer, "MOST_TELLING", 10)
    assert forecast_local(HistogramQuestion(categories=16), **terms, rounds=1000).error == pytest.approx(
        walked, rel=0.05
    )
    forecast_local(HistogramQuestion(categories=16), **terms, rounds=10**7)
