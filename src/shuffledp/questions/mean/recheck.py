"""The mean of numbers on a grid, and how many of them are at the ends of its range."""

from __future__ import annotations

from typing import Any

CLIPPED = "clipped to the bounds"


def recheck(record: dict[str, Any], judge: Any) -> list[Any]:
    """One row."""
    return number(record, judge, "mean", 1, record["design"]["target"]["n"])


def number(record: dict[str, Any], judge: Any, called: str, times: int, among: int) -> list[Any]:
    """So many ``times`` the mean, or the sum of what is divided ``among`` so many people."""
    design, outside, law = record["design"], record["asked"].get("outside"), judge.law
    question, split = design["question"], design["mechanism"]["type"] == "split"
    lower, upper, steps = question["lower"], question["upper"], law.k - 1
    checks = [
        judge.answers("krr", "split"),
        judge.domain({"type": "grid", "lower": lower, "upper": upper, "steps": steps, "clip": False}),
        judge.shaped(1, 2 if split else law.k),
    ]
    judge.compared(width=upper - lower, among=among)
    if judge.wrong(checks):
        return checks
    ends = ["ends"] if outside in (None, CLIPPED) and not split else []
    checks.append(judge.complete(1, *ends))
    if judge.wrong(checks):
        return checks
    label = f"{called} of the clipped values" if outside == CLIPPED else question["type"]
    moved = None if judge.moved is None else judge.moved * (upper - lower) * times / record["tally"]["reports"]
    table = judge.table([label], judge.number((lower, upper), times), [moved], unit=question["type"])
    return [*checks, *table, *(_ends(record["tables"][1], judge) if ends else [])]


def _ends(claimed: dict[str, Any], judge: Any) -> list[Any]:
    """How many people's numbers were rounded to either end of the range."""
    found = judge.groups([[0], [judge.law.k - 1]])
    low, high = found.limits(judge.TAIL / 2.0)
    how, within = "the votes for the ends, as fractions", judge.LOOSER * (found.within + found.rounding)
    return [
        judge.beside("ends", ["lower end", "upper end"], ["value", "lower", "upper"]),
        judge.agree("people at the ends", claimed["value"], found.values, how, within=found.within),
        judge.agree("people at the ends, at least", claimed["lower"], low, how, within=within),
        judge.agree("people at the ends, at most", claimed["upper"], high, how, within=within),
    ]
