"""What the operator is told is what the accountant says."""

from __future__ import annotations

import pytest

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.survey.shuffler.metrics import outlook
from tests.survey.studies import designs


@pytest.mark.parametrize("name", ["krr", "mean", "hadamard"])
def test_the_numbers_are_the_accountants(name: str) -> None:
    design = designs()[name]
    found = outlook(design, 400)
    assert found["epsilon"] == design.poll.guarantee_for(400).epsilon_at_most(delta=design.delta)
    assert outlook(design, design.n)["stderr"] == pytest.approx(design.poll.predicted_stderr(), rel=1e-14)
    assert outlook(design, design.honest)["epsilon"] <= (design.epsilon or 0.0) < found["epsilon"]


def test_fakes_of_too_few_people_hide_nobody() -> None:
    design = Design.of(
        Poll("histogram", mechanism="fakes", categories=["yes", "no"], n=1000, honest=500, epsilon=1.0, delta=1e-2)
    )
    assert design.epsilon is not None
    assert outlook(design, 500)["epsilon"] <= design.epsilon < outlook(design, 400)["epsilon"]
    assert outlook(design, 1)["epsilon"] is None, "there is no infinity in JSON"


def test_no_reports_give_nothing() -> None:
    assert outlook(designs()["krr"], 0) == {"epsilon": None, "delta": 1e-2, "stderr": None}
