"""How many people are below each cut point; the quantiles and the ranges that were asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np

SWAYED = {"one_lower": "without one liar: lower", "one_upper": "without one liar: upper"}
SWAYED |= {"some_lower": "without 1 %: lower", "some_upper": "without 1 %: upper"}
COLUMNS = ("value", "lower", "upper", *SWAYED)
COUNTED = ("value", "stderr", "lower", "upper")
MOST_ASKED = 100


def recheck(record: dict[str, Any], judge: Any) -> list[Any]:
    """A row for each inner cut point: all bins below it."""
    question = record["design"]["question"]
    cuts, at, ranges = question["cuts"], question["at"], question.get("ranges", [])
    bins = len(cuts) - 1
    checks = [
        judge.answers("krr", "one of", "fakes", "dummies", "tree"),
        judge.domain({"type": "bins", "cuts": cuts, "clip": False}),
        judge.holds(
            "what was asked", f"{len(at)} and {len(ranges)}", "quantiles, and ranges", "the design", _sound(question)
        ),
        judge.shaped(bins - 1, judge.law.places),
    ]
    judge.compared(bins=bins)
    if judge.wrong(checks):
        return checks
    tables = {table["name"]: table for table in record["tables"]}
    checks.append(judge.complete(0, *["quantiles"] * bool(at), *["ranges"] * bool(ranges)))
    if judge.wrong(checks):
        return checks
    below = [(0, end) for end in range(1, bins)]
    found, far = judge.bins(below), judge.moved_bins(below)
    checks += judge.table([f"below {_plainly(cut)}" for cut in cuts[1:-1]], found, far.tolist(), same=1e-7)
    if at:
        checks += _check_quantiles(tables["quantiles"], record, judge, found, far)
    if ranges:
        checks += _check_ranges(tables["ranges"], question, judge)
    why = "reports name bins, and no report says where the outermost ones end; the ledger binds the design"
    return [*checks, judge.unchecked("ends of the range", f"{cuts[0]:g} to {cuts[-1]:g}", why)]


def _sound(question: dict[str, Any]) -> bool:
    """Whether quantiles lie inside and differ, and ranges hold some of the bins, and not all."""
    cuts, at, ranges = question["cuts"], question["at"], question.get("ranges", [])
    shares = len(set(at)) == len(at) <= MOST_ASKED and all(0.0 < each < 1.0 for each in at)
    inside = all(low in cuts and high in cuts and low < high for low, high in ranges)
    return shares and inside and len(ranges) <= MOST_ASKED and [cuts[0], cuts[-1]] not in ranges


def _plainly(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))


def _check_quantiles(
    claimed: dict[str, Any], record: dict[str, Any], judge: Any, found: Any, far: Any
) -> Iterator[Any]:
    """Every quantile: the bins that the limits leave, and the people below the estimate."""
    cuts, wanted = record["design"]["question"]["cuts"], record["design"]["question"]["at"]
    n = record["tally"]["reports"]
    yield (same := judge.beside("quantiles", list(map(_plainly, wanted)), COLUMNS, unit="quantile"))
    if judge.wrong([same]):
        return
    slack = judge.LOOSER * (found.within + found.rounding)
    low, high = found.limits(judge.TAIL)
    for at, value, lower, upper in zip(wanted, *(claimed[name] for name in COLUMNS[:3]), strict=True):
        first, last = _bins_of(at, low, high, n, slack)
        ends = f"{cuts[min(first)]:g} to {cuts[max(last) + 1]:g}"
        right = lower in {cuts[each] for each in first} and upper in {cuts[each + 1] for each in last}
        how = "the limits below each cut point"
        yield judge.holds(f"interval of the {at:g}-quantile", f"{lower:g} to {upper:g}", ends, how, right)
        people, within = _below(value, cuts, found.values, n), float(slack.max()) + 1e-9 * n
        how = "people below it, by the estimates"
        yield judge.agree(f"people below the {at:g}-quantile", at * n, [people], how, within=within)
    moves = [people * sign for people in (1, -(-n // 100)) for sign in (1, -1)]
    for (name, what), move in zip(SWAYED.items(), moves, strict=True):
        seen = [_below(value, cuts, found.values + move * far, n) for value in claimed[name]]
        within = float(slack.max()) + 1e-6 + 1e-7 * abs(move) * far.max()
        how = "all counts moved as far as can be"
        yield judge.agree(f"quantiles, {what}", seen, [at * n for at in wanted], how, within=within)


def _check_ranges(claimed: dict[str, Any], question: dict[str, Any], judge: Any) -> list[Any]:
    """How many people are in each range that was asked for."""
    cuts, labels = question["cuts"], [" to ".join(map(_plainly, pair)) for pair in question["ranges"]]
    same = judge.beside("ranges", labels, COUNTED)
    if judge.wrong([same]):
        return [same]
    found = judge.bins([(cuts.index(low), cuts.index(high)) for low, high in question["ranges"]])
    low, high = found.limits(judge.TAIL)
    how, within = "the votes in each range", found.within + found.rounding
    return [
        same,
        judge.agree("people in ranges", claimed["value"], found.values, how, within=within),
        judge.agree("standard errors in ranges", claimed["stderr"], found.errors, how, within=within),
        judge.agree("people in ranges, at least", claimed["lower"], low, how, within=judge.LOOSER * within),
        judge.agree("people in ranges, at most", claimed["upper"], high, how, within=judge.LOOSER * within),
    ]


def _bins_of(at: float, low: Any, high: Any, n: int, slack: Any) -> tuple[set[int], set[int]]:
    """The first and the last bin that the ``at``-quantile may lie in: those that the limits leave,
    and those that limits would leave which are off by at most ``slack``.
    """
    wanted, first, last = at * n, set[int](), set[int]()
    for sign in (-1.0, 0.0, 1.0):
        first.add(next(bin_ for bin_, people in enumerate(chain(high + sign * slack, [n])) if people >= wanted))
        last.add(max(bin_ for bin_, people in enumerate(chain([0.0], low + sign * slack)) if people < wanted))
    return first, last


def _below(value: float, cuts: Sequence[float], values: Any, n: int) -> float:
    """How many people are below ``value``, by the estimates made monotone, half-way between the
    largest so far and the smallest from there on, and straight lines between cut points.
    """
    so_far, from_there = accumulate(values, max), reversed(list(accumulate(reversed(values), min)))
    people = [min(max((most + least) / 2.0, 0.0), float(n)) for most, least in zip(so_far, from_there, strict=True)]
    return float(np.interp(value, cuts, [0.0, *people, float(n)]))
