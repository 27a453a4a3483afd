"""The guess at the pointer lies near what is then certified."""

from __future__ import annotations

import pytest

from shuffledp.protocols.settling import answering
from shuffledp.protocols.tasks import FrequencyTask, HistogramTask, MeanTask, Task
from shuffledp.studio.forecasting import forecast_local, forecast_shuffled


@pytest.mark.parametrize(
    "question, n, rounds",
    [
        (HistogramTask(16), 1000, 30),
        (FrequencyTask(100, "hadamard"), 10**6, 12),
        (MeanTask(0.0, 10.0), 10**6, 10),
    ],
)
def test_a_forecast_is_close(question: Task, n: int, rounds: int) -> None:
    terms = {"n": n, "epsilon": 1.0, "delta": 1e-7, "rounds": rounds}
    certified = answering(question, **terms, least=n).settle()
    shuffled = forecast_shuffled(question, least=n, **terms)  # type: ignore[arg-type]
    assert shuffled.predicted_stderr() == pytest.approx(certified.predicted_stderr(), rel=0.05)
    assert shuffled.epsilon0 == pytest.approx(certified.epsilon0, rel=0.05)


@pytest.mark.parametrize("question", [HistogramTask(16), FrequencyTask(100, "hadamard"), FrequencyTask(100, "subset")])
def test_so_is_that_without_a_shuffler(question: Task) -> None:
    terms = {"n": 1000, "epsilon": 1.0, "delta": 1e-7, "rounds": 20}
    certified = answering(question, **terms, least=1).settle()
    local = forecast_local(question, **terms)  # type: ignore[arg-type]
    assert local.predicted_stderr() == pytest.approx(certified.predicted_stderr(), rel=0.25)
