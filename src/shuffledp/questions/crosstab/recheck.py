"""How many people hold each combination of several columns' categories: cells, sums of cells over
some columns, and shares of cells within the groups of one column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

CROSS, ALL = " × ", "(all)"
SHARES = ("value", "lower", "upper", "all_lower", "all_upper")
HALVINGS = 60  # as many as floats have digits
WITHIN = 1e-6  # of shares from 0 to 1
HOW = "the votes of cells and groups, as fractions; ends by halving"


def recheck(record: dict[str, Any], judge: Any) -> list[Any]:
    """A row for each cell, then one for each sum, and a share of each cell if one was asked for."""
    question, by = record["design"]["question"], record["asked"].get("by")
    listed, rest = question["categories"], question["other"]
    columns = [
        {"type": "labels", "labels": labels, "other": _place(labels, other), "missing": None, "name": name}
        for name, labels, other in zip(question["columns"], listed, rest, strict=False)
    ]
    if not len(question["columns"]) == len(listed) == len(rest):
        columns = []
    checks = [
        judge.answers("krr", "fakes", "dummies"),
        judge.domain({"type": "cells", "columns": columns}),
        judge.holds("shares within groups", by, "of a column", "the design", by in (None, *question["columns"])),
    ]
    judge.compared()
    if judge.wrong(checks):
        return checks
    names = [[*map(str, range(each) if isinstance(each, int) else each)] for each in listed]
    rows = rows_of_table(list(map(len, names)))
    labels = [CROSS.join(ALL if at is None else each[at] for at, each in zip(row, names, strict=True)) for row in rows]
    cells = rows[: math.prod(map(len, names))]
    checks += [judge.complete(len(rows), *["shares"] * (by is not None)), judge.shaped(len(rows), len(cells))]
    if judge.wrong(checks):
        return checks
    found = judge.groups([_within(row, names) for row in rows])
    checks += judge.table(labels, found, [judge.moved] * len(rows))
    if by is None:
        return checks
    found = shares(judge, question["columns"].index(by), cells, record["tally"]["reports"], len(rows))
    return [*checks, *_check_shares(record["tables"][1], judge, labels, found)]


def _place(labels: Any, other: Any) -> int | None:
    """Where the label for all others stands; nowhere, if it is none of them."""
    if other is None:
        return None
    return labels.index(other) if isinstance(labels, list) and other in labels else -1


def rows_of_table(sizes: Sequence[int]) -> list[tuple[int | None, ...]]:
    """Every cell and every sum of cells, in the order in which a page lists them; None stands for
    all categories of a column.

    >>> rows_of_table([2, 2])[3:6]
    [(1, 1), (0, None), (1, None)]
    """
    columns = range(len(sizes))
    kept = [each for many in range(len(sizes), 0, -1) for each in combinations(columns, many)]
    return [row for each in kept for row in product(*(range(sizes[at]) if at in each else [None] for at in columns))]


def _within(row: Sequence[int | None], names: Sequence[Sequence[str]]) -> list[int]:
    """The places of the cells in a row, the last column changing fastest."""
    places = [0]
    for at, each in zip(row, names, strict=True):
        places = [place * len(each) + one for place in places for one in (range(len(each)) if at is None else [at])]
    return places


def _check_shares(
    claimed: dict[str, Any], judge: Any, labels: Sequence[str], found: Sequence[Sequence[float]]
) -> list[Any]:
    """Every column of shares, and of which cells nothing is said."""
    told = [(label, *row) for label, row in zip(labels, found, strict=False) if row]
    named, *columns = map(list, zip(*told, strict=True)) if told else [[]] * (1 + len(SHARES))
    checks = [judge.beside("shares", named, SHARES, unit="share of the group")]
    if judge.wrong(checks):
        return checks
    for name, due in zip(SHARES, columns, strict=True):
        checks.append(judge.agree(f"shares, {name}", claimed.get(name, []), due, HOW, within=WITHIN))
    return checks


def shares(judge: Any, axis: int, cells: Sequence[Any], reports: int, of: int) -> list[list[float]]:
    """A row for each cell: its share of all who are alike in a column, with two intervals; an empty
    one where too few are in the group to say.
    """
    alike = np.array([cell[axis] for cell in cells])
    part = judge.groups([[place] for place in range(len(cells))])
    whole = judge.groups([np.flatnonzero(alike == each).tolist() for each in range(alike.max() + 1)])
    size = int(np.count_nonzero(alike == 0))
    test = _ShareTest(float(judge.law.hit), float(judge.law.miss), size, reports)
    pairs = [(float(part.values[at]), float(whole.values[group])) for at, group in enumerate(alike)]
    few = [judge.law.faked or test.few(*each, judge.FEW) for each in pairs]
    rare = [each.limits(judge.TAIL / 2.0) for each in (part, whole) if any(few)]
    all_rare, all_common = (each.limits(judge.TAIL / of) for each in (part, whole))
    rows: list[list[float]] = []
    for at, (group, counted) in enumerate(zip(alike, pairs, strict=True)):
        rows.append([])
        if not all_common[0][group] > 0.0:
            continue
        value = _share(counted[0] / counted[1])
        if few[at]:
            (low, high), (least, most) = rare
            lower, upper = _share(low[at] / most[group]), _share(high[at] / least[group])
        else:
            lower, upper = test.limits(*counted, -float(ndtri(judge.TAIL)))
        lower, upper = min(lower, value), max(upper, value)
        if lower > 0.0 or upper < 1.0:
            ends = _share(all_rare[0][at] / all_common[1][group]), _share(all_rare[1][at] / all_common[0][group])
            rows[-1] = [value, lower, upper, *ends]
    return rows


def _share(number: float) -> float:
    return float(min(max(number, 0.0), 1.0))


class _ShareTest(NamedTuple):
    """The test of a share r of a group of ``size`` cells: reports for the cell weigh 1 - r, those
    for the rest of its group -r, and others 0.
    """

    hit: float
    miss: float
    size: int
    people: int

    def few(self, part: float, whole: float, least: float) -> bool:
        """Whether the weighted votes vary too little for a normal law."""
        return whole <= 0.0 or self._central(_share(part / whole), whole)[0] < least

    def limits(self, part: float, whole: float, z: float) -> tuple[float, float]:
        """The last shares towards 0 and 1 that are not rejected, by halving."""

        def kept(r: float) -> bool:
            variance, third = self._central(r, whole)
            shift = (z * z - 1.0) / 6.0 * third / variance if variance > 0.0 else 0.0
            off = (part - r * whole) * (self.hit - self.miss) - shift
            return abs(off) <= z * math.sqrt(variance) + 0.5

        ends = []
        for end in (0.0, 1.0):
            inside, outside = (end if kept(end) else _share(part / whole)), end
            for _ in range(HALVINGS):
                middle = (inside + outside) / 2.0
                inside, outside = (middle, outside) if kept(middle) else (inside, middle)
            ends.append(inside)
        return ends[0], ends[1]

    def _central(self, r: float, whole: float) -> tuple[float, float]:
        """Variance and third central moment of the weighted votes of all people: those in the cell,
        in the rest of the group, and elsewhere.
        """
        group, others = min(max(whole, 0.0), float(self.people)), (self.size - 1) * self.miss
        variance = third = 0.0
        for held, own, rest in (
            (r * group, self.hit, others),
            ((1.0 - r) * group, self.miss, self.hit + others - self.miss),
            (self.people - group, self.miss, others),
        ):
            mean = (1.0 - r) * own - r * rest
            chances = ((1.0 - r, own), (-r, rest), (0.0, 1.0 - own - rest))
            variance += held * sum(chance * (weight - mean) ** 2 for weight, chance in chances)
            third += held * sum(chance * (weight - mean) ** 3 for weight, chance in chances)
        return variance, third
