"""How many people hold each category: a row for each; of very many, for the largest."""

from __future__ import annotations

from typing import Any

FAMILIES = ("krr", "hadamard", "hash", "subset", "oue", "fakes", "dummies")


def recheck(record: dict[str, Any], judge: Any) -> list[Any]:
    """Every category counts by itself."""
    question = record["design"]["question"]
    categories, other = question["categories"], question.get("other")
    numbered = isinstance(categories, int)
    of, rest = categories if numbered else len(categories), None
    if other is not None:
        rest = categories.index(other) if not numbered and other in categories else -1
    rows = min(of, judge.LISTED)
    checks = [
        judge.answers(*FAMILIES),
        judge.domain({"type": "labels", "labels": categories, "other": rest, "missing": None}),
        judge.shaped(rows, rows),
    ]
    judge.compared()
    if judge.wrong(checks):
        return checks
    checks.append(judge.complete(of))
    places, labels = judge.listed(categories)
    if len(places) < rows:
        return [*checks, judge.equal("labels of the estimates", len(places), rows, "the design, each once")]
    return [*checks, *judge.table(labels, judge.people(places), [judge.moved] * rows, of=of)]
