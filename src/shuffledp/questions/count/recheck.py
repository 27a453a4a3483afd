"""How many people hold one value: a sum of numbers 0 and 1."""

from __future__ import annotations

from typing import Any

ELSE = "anything else"


def recheck(record: dict[str, Any], judge: Any) -> list[Any]:
    """One row; a person holds the value, or something else."""
    question = record["design"]["question"]
    value, other = question["value"], question.get("other", ELSE)
    labels, rest = [ELSE if other is None else other, value], None if other is None else 0
    checks = [
        judge.answers("signed"),
        judge.domain({"type": "labels", "labels": labels, "other": rest, "missing": None}),
        judge.shaped(1, 2),
    ]
    judge.compared()
    if judge.wrong(checks):
        return checks
    found = judge.number((0, 1), record["tally"]["reports"])
    return [*checks, judge.complete(1), *judge.table([str(value)], found, [judge.moved])]
