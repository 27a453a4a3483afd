"""The tables beside a page: every number of them against the page's own, and of values that the
page does not list, against the votes it was made of.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.judge.lattice import Array
from shuffledp.judge.laws import CountedLaw
from shuffledp.judge.rows import counted_people
from shuffledp.questions.table import NUMBERS, Table
from shuffledp.record import Record
from shuffledp.storage.canonical import digest_of, digest_of_votes, strict_json
from shuffledp.storage.files import plain_cell
from shuffledp.verify.handed import expected, places_of
from shuffledp.verify.outcomes import Check, agree, equal, holds, parting, unchecked, vital

TABLE, COPY = "estimates.csv", "design.json"


@dataclass(frozen=True, slots=True, eq=False)
class _Beside:
    """A table as it was read: labels, columns of numbers, and the names of columns that are not
    known here.
    """

    labels: list[str]
    columns: dict[str, Array]
    strange: list[str]


def check_table(table: str | None, record: Record, law: CountedLaw) -> list[Check]:
    """Without a table, what only it could show is listed; and without it a page that lists some of
    very many values is not verified.
    """
    claimed = record.estimates
    cut = claimed.of > len(claimed.label)
    if table is None and not cut:
        return [unchecked(TABLE, "", "it is not beside this page")]
    if table is None:
        some, why = f"{len(claimed.label)} of {claimed.of}", "only estimates.csv, which is not here, has the others"
        return [vital(unchecked("which estimates are listed", some, why))]
    try:
        beside = _read(table)
    except (ValueError, csv.Error) as error:
        return [holds("estimates.csv", "a table of estimates", str(error)[:60], "read as shuffledp writes it", False)]
    domain: Any = record.design.domain
    expected = domain.names if cut and len(beside.labels) == claimed.of == domain.size else claimed.label
    labels = _check_labels(beside.labels, expected)
    if labels.outcome == "FAIL":
        return [labels]
    places = np.arange(len(beside.labels))
    if cut:
        places = np.array(places_of(claimed.label, domain.labels), dtype=np.intp)
        if len(places) != len(claimed.label):
            named = f"{len(claimed.label)} labels"
            found = f"{len(places)} of them in the design"
            return [holds("labels of the estimates", named, found, "the design", False)]
    said = {name: column[places].tolist() for name, column in beside.columns.items()}
    return [
        labels,
        *(
            agree(f"{name} in estimates.csv", column, getattr(claimed, name), "the page", within=0.0)
            for name, column in said.items()
        ),
        *_strange(beside, TABLE),
        *(_check_others(beside.columns, places, record, law) if cut else []),
    ]


def _strange(beside: _Beside, where: str) -> list[Check]:
    named, why = ", ".join(beside.strange), "this version does not know them"
    return [vital(unchecked(f"other columns of {where}", named, why))] if beside.strange else []


def check_beside(files: Mapping[str, str], record: Record) -> Iterator[Check]:
    """Of each other table, all labels and all numbers."""
    known = {f"{table.name}.csv": table for table in record.tables[1:]}
    for what in [*known, *(name for name in files if name.endswith(".csv") and name not in (*known, TABLE))]:
        if what not in known:
            yield unchecked(what, "", "nothing of this page is in a table of that name")
        elif what not in files:
            yield unchecked(what, "", "it is not beside this page")
        else:
            yield from _check_part(what, files[what], known[what])


def check_copy(text: str, record: Record) -> Check:
    """The design beside a page is that of its record, however it is spelled."""
    try:
        found = digest_of(strict_json(text.removeprefix("\ufeff")))
    except (ValueError, RecursionError):
        found = "none"
    return equal(COPY, found, record.design.digest, "the digest of its JSON")


def _check_part(what: str, written: str, claimed: Table) -> Iterator[Check]:
    try:
        beside = _read(written, claimed.columns())
    except (ValueError, csv.Error) as error:
        yield holds(what, "a table", str(error)[:60], "read as shuffledp writes it", False)
        return
    yield (same := _check_labels(beside.labels, claimed.label, what))
    for name, column in beside.columns.items() if same.outcome == "pass" else ():
        yield agree(f"{name} in {what}", column.tolist(), claimed.columns()[name], "the page", within=0.0)
    yield from _strange(beside, what)


def _check_labels(labels: Sequence[str], expected: Sequence[str], where: str = "estimates.csv") -> Check:
    """All of them, in their order; the first that differs is shown."""
    wrong = parting(labels, [plain_cell(each) for each in expected])
    right = wrong == len(expected) == len(labels)
    claimed, found = (
        f"{len(each)} labels" if right else each[wrong] if wrong < len(each) else f"{len(each)} rows"
        for each in (labels, expected)
    )
    return holds(f"labels in {where}", claimed, found, "the design", right)


def _read(table: str, known: Collection[str] = NUMBERS) -> _Beside:
    """A label and numbers in every row; a column that is not known may hold anything."""
    lines = csv.reader(io.StringIO(table.removeprefix("\ufeff"), newline=""), strict=True)
    names = ["value" if name == "estimate" else name for name in next(lines, [])]
    if not names or names[0] != "label" or not set(known) <= set(names) or len(set(names)) < len(names):
        raise ValueError(f"columns {', '.join(names)[:40]!r}")
    rows = list(lines)
    if any(len(row) != len(names) for row in rows):
        raise ValueError(f"a row of other than {len(names)} cells")
    columns = {
        name: np.array([float(row[at] or "nan") for row in rows], dtype=np.float64)
        for at, name in enumerate(names)
        if name in known
    }
    return _Beside([row[0] for row in rows], columns, [name for name in names[1:] if name not in known])


def _check_others(columns: dict[str, Array], places: NDArray[np.intp], record: Record, law: CountedLaw) -> list[Check]:
    """The whole tally, found again from all estimates: its digest, that the page lists the largest,
    and every number of the others.
    """
    reports, values = record.tally.reports, columns["value"]
    votes = _votes(values, reports, law)
    listed = np.zeros(len(values), dtype=bool)
    listed[places] = True
    smallest, largest = float(values[listed].min()), float(values[~listed].max())
    claimed, found = f"none below {smallest:.10g}", f"others up to {largest:.10g}"
    checks = [holds("which estimates are listed", claimed, found, "estimates.csv", largest <= smallest)]
    if law.support is not None:
        how = "every report votes for as many values"
        checks.append(equal("votes in all, in estimates.csv", int(votes.sum()), reports * law.support, how))
    how, digest = "SHA-256 of the votes that estimates.csv implies", digest_of_votes(votes.tolist())
    checks.append(equal("votes for all values", record.tally.digest, digest, how))
    counted = counted_people(votes.tolist(), record.tally.blocks or (), range(len(values)), reports, law)
    how, of = "the votes that its estimates imply", record.estimates.of
    pairs = zip(NUMBERS, expected(counted, record.estimates.level, of), strict=True)
    agreeing = (
        agree(f"{name} in estimates.csv, all", columns[name].tolist(), right, how, within=within)
        for name, (right, within) in pairs
    )
    return [*checks, *agreeing]


def _votes(values: Array, reports: int, law: CountedLaw) -> NDArray[np.int64]:
    """The whole numbers of votes that estimates were made of."""
    votes = values * float(law.hit)
    if not law.signed:
        votes = values * float(law.hit - law.miss) + float(reports * law.miss + law.moments(reports)[0])
    return np.rint(votes).astype(np.int64)
