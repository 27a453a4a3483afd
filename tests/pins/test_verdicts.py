"""One verdict of every question and mechanism, as it was kept; `make verdicts` runs them all."""

from __future__ import annotations

import json

import pytest

from tests.pins.verdicts import CASES, KEPT, found

TABLE = json.loads(KEPT.read_text())
# Of the same mechanism as a mean or a histogram, and as slow.
LONG = ("sum", "crosstab: krr", "quantile: krr")
QUICK = [
    pytest.param(name, marks=[pytest.mark.long] if name.startswith(LONG) else [])
    for name, (question, way, rounds) in CASES.items()
    if rounds == 1 and "," not in way and question != "top"
]


def test_no_honest_page_failed() -> None:
    assert set(TABLE) <= set(CASES)
    assert len(TABLE) >= 170
    assert not [name for name, verdict in TABLE.items() if verdict.startswith("FAIL")]


@pytest.mark.parametrize("name", QUICK)
def test_a_verdict_is_the_kept_one(name: str) -> None:
    assert found(name) == TABLE[name]
