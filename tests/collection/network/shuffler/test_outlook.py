"""What the operator is told is what the accountant says."""

from __future__ import annotations

import pytest

from shuffledp.collection.network.shuffler.outlook import outlook
from tests.collection.network.studies import designs


@pytest.mark.parametrize("name", ["krr", "mean", "hadamard"])
def test_the_numbers_are_the_accountants(name: str) -> None:
    design = designs()[name]
    found = outlook(design, 400)
    assert found["epsilon"] == design.protocol.guarantee_for(400).epsilon_at_most(delta=design.delta)
    assert outlook(design, design.n)["stderr"] == design.protocol.predicted_stderr()
    assert outlook(design, design.least)["epsilon"] <= (design.epsilon or 0.0) < found["epsilon"]


def test_no_reports_give_nothing() -> None:
    assert outlook(designs()["krr"], 0) == {"epsilon": None, "delta": 1e-2, "stderr": None}
