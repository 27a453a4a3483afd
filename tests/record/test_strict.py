"""A record has its usual form, or is refused in a sentence that says where it has not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.record import Record
from tests.verify.releases import facts


def refusal(made: object) -> str:
    with pytest.raises(InvalidInput) as caught:
        Record.from_json(made)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    return str(caught.value)


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda made: made.update(more=1), "a difference in 'more'"),
        (lambda made: made["counted"].pop("missing"), "a difference in 'counted.missing'"),
        (lambda made: made["certificate"]["epsilon"].update(upper=701.0), "got '701.0' for certificate.epsilon.upper"),
        (lambda made: made["certificate"].update(delta="x"), "got 'x' for certificate.delta"),
        (lambda made: made["certificate"]["curve"]["upper"].append(True), "got 'True' for certificate.curve.upper"),
        (lambda made: made["tables"][0].update(label="abc"), "got 'abc' for tables.label"),
        (lambda made: made["tally"].update(reports=1.0), "got '1.0' for tally.reports"),
        (lambda made: made["comparison"][1].update(free=True), "a difference in 'comparison.free'"),
        (lambda made: made["design"]["question"].update(type=["mean"]), "for design.question.type"),
        (lambda made: made.update(design=3), "got 'None' for design.question.type"),
        (lambda made: made["design"]["question"].update(lower=0.0), "a difference in 'design.question.lower'"),
        (lambda made: made["design"]["domain"].update(lower=0.0), "a difference in 'design.domain.lower'"),
        (lambda made: made["design"]["mechanism"].pop("k"), "a difference in 'design.mechanism.k'"),
        (lambda made: made["design"]["mechanism"].update(g=["many"]), "got \"['many']\" for design.mechanism.g"),
        (lambda made: made["design"]["mechanism"].update(integers=[1]), "got '1' for design.mechanism.integers"),
        (lambda made: made["tables"][0].update(ends=None), "a difference in 'tables.ends'"),
        (lambda made: made["asked"].update(source=3), "got '3' for asked.source"),
        (lambda made: made["made"].update(when="yesterday"), "got 'yesterday' for made.when"),
        (lambda made: made["made"].update(when="2026-11-15T15:13:40"), "for made.when"),
        (lambda made: made.update(notes=["x" * 10_001]), "for notes"),
        (lambda made: made.update(ledger=[]), "got '[]' for ledger"),
        (lambda made: made.update(style=6), "a difference in 'style'. Pass a page that this version of shuffledp"),
        (lambda made: made.update(version=2), "the record of a release must have version 1, got 2"),
        (lambda made: made.update(format="pdf"), "must have the format 'shuffledp-release', got 'pdf'"),
        (lambda made: made.pop("tally") and made.pop("notes"), "got none about tally, notes"),
    ],
)
def test_another_form_is_refused_by_name(change: Callable[[dict[str, Any]], object], said: str) -> None:
    made = facts("promise")
    change(made)
    assert said in refusal(made)


def test_a_question_that_is_not_installed_is_refused_where_it_is_asked_for() -> None:
    """And not before: a verification of such a record is incomplete, and no error."""
    made = facts("tiny")
    made["design"]["question"]["type"] = "median"
    record = Record.from_json(made)
    with pytest.raises(InvalidInput, match=r"the question must be one of histogram, count, .*, got 'median'"):
        _ = record.question


@pytest.mark.parametrize("value", [None, 3, "x", [], {}])
def test_what_is_no_record_at_all_is_refused(value: object) -> None:
    assert "must have the format 'shuffledp-release'" in refusal(value)


def test_fields_of_another_task_are_refused() -> None:
    mean = facts("mean")
    mean["tally"]["blocks"] = []
    assert "a difference in 'tally.blocks'" in refusal(mean)
    count = facts("promise")
    del count["tally"]["blocks"]
    assert "a difference in 'tally.blocks'" in refusal(count)


def test_absent_means_what_it_meant() -> None:
    made = facts("promise")
    record = Record.from_json(made)
    assert record.counted.repeated is None
    for name in ("title", "column"):
        del made["asked"][name]
    again = Record.from_json(made)
    assert again.asked.title is None
    assert again.asked.may_be_clipped
    assert again.as_json() == made


def test_a_record_is_frozen() -> None:
    record = Record.from_json(facts("mean"))
    assert record.design.domain.bounds == (record.question.lower, record.question.upper)
    with pytest.raises(FrozenInstanceError):
        record.secure = False
