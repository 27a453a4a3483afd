"""The estimates.csv beside a page: every number of it against the page's own, and of values that
the page does not list, against the votes it was made of.
"""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from typing import Any

import numpy as np

from shuffledp.collection.verify.check_estimates import COLUMNS, Estimated, estimated, labels_of, places_of, size_of
from shuffledp.collection.verify.counted_law import CountedLaw
from shuffledp.collection.verify.outcomes import Check, agree, equal, holds, unchecked, vital
from shuffledp.literature.exact.lattice import Array
from shuffledp.storage.canonical import digest_of_votes
from shuffledp.storage.files import plain_cell

__all__ = ["check_table"]


def check_table(table: str | None, facts: dict[str, Any], law: CountedLaw) -> list[Check]:
    """Without a table, what only it could show is listed; and without it a page that lists some of
    very many values is not verified.
    """
    claimed = facts["estimates"]
    cut = claimed["of"] > len(claimed["label"])
    if table is None:
        missing = unchecked("estimates.csv", "", "it is not beside this report")
        some = unchecked(
            "which estimates are listed",
            f"{len(claimed['label'])} of {claimed['of']}",
            "only estimates.csv, which is not here, has the others",
        )
        return [vital(some)] if cut else [missing]
    try:
        names, rows = _read(table)
    except (ValueError, csv.Error) as error:
        return [holds("estimates.csv", "a table of estimates", str(error)[:60], "read as shuffledp writes it", False)]
    of = 1 if facts["design"]["task"] == "mean" else size_of(facts["design"])
    every = labels_of(facts["design"]) if cut and len(rows) == of else claimed["label"]
    labels = [row[0] for row in rows]
    wrong = next(
        (at for at, (mine, theirs) in enumerate(zip(every, labels, strict=False)) if not _same(mine, theirs)),
        min(len(every), len(labels)),
    )
    right = len(labels) == len(every) and wrong == len(every)
    ours, theirs = (str(each[wrong]) if wrong < len(each) else f"{len(each)} rows" for each in (every, labels))
    checks = [
        holds(
            "labels in estimates.csv",
            f"{len(labels)} labels" if right else theirs,
            f"{len(every)} labels" if right else ours,
            "the design",
            right,
        )
    ]
    if not right:
        return checks
    columns = {
        name: np.array([row[at] for row in rows], dtype=np.float64)
        for at, name in enumerate(names)
        if at and name in COLUMNS
    }
    places = np.arange(len(rows))
    if cut:
        places = np.array(places_of(claimed["label"], facts["design"]), dtype=np.intp)
        if len(places) != len(claimed["label"]):
            return [
                holds(
                    "labels of the estimates",
                    f"{len(claimed['label'])} labels",
                    f"{len(places)} of them in the design",
                    "the design",
                    False,
                )
            ]
    for name, column in columns.items():
        checks.append(
            agree(f"{name} in estimates.csv", column[places].tolist(), np.array(claimed[name]), "the page", within=0.0)
        )
    if more := [name for name in names[1:] if name not in COLUMNS]:
        checks.append(unchecked("other columns of estimates.csv", ", ".join(more), "this version does not know them"))
    return [*checks, *(_others(columns, places, facts, law) if cut else [])]


def _read(table: str) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns, and rows of a label and numbers; a column that is no number stays
    text.
    """
    lines = csv.reader(io.StringIO(table.removeprefix("\ufeff"), newline=""), strict=True)
    names = ["value" if name == "estimate" else name for name in next(lines, [])]
    if not names or names[0] != "label" or not set(COLUMNS) <= set(names) or len(set(names)) < len(names):
        raise ValueError(f"columns {', '.join(names)[:40]!r}")
    rows: list[list[Any]] = []
    for line in lines:
        if len(line) != len(names):
            raise ValueError(f"{len(line)} cells in row {len(rows) + 1}")
        rows.append([float(cell) if name in COLUMNS else cell for name, cell in zip(names, line, strict=True)])
    return names, rows


def _same(label: object, written: object) -> bool:
    return written in (str(label), plain_cell(str(label)))  # the first version wrote labels as they are


def _others(columns: dict[str, Array], places: Any, facts: dict[str, Any], law: CountedLaw) -> list[Check]:
    """The whole tally, found again from all estimates: its digest, that the page lists the largest,
    and every number of the others.
    """
    reports, blocks, values = int(facts["tally"]["reports"]), facts["tally"]["blocks"], columns["value"]
    votes = _votes(values, reports, law)
    digest, listed = facts["tally"].get("digest"), np.zeros(len(values), dtype=bool)
    listed[places] = True
    smallest, largest = float(values[listed].min()), float(values[~listed].max())
    checks = [
        holds(
            "which estimates are listed",
            f"none below {smallest:.10g}",
            f"others up to {largest:.10g}",
            "estimates.csv",
            largest <= smallest,
        )
    ]
    if law.family in {"krr", "subset"}:
        size = 1 if law.family == "krr" else law.size
        checks.append(
            equal(
                "votes in all, in estimates.csv",
                int(votes.sum()),
                reports * size,
                "every report votes for as many values",
            )
        )
    if digest is None:
        checks.append(
            unchecked(
                "votes for the values that are not listed",
                "",
                "pages of the first edition do not bind them; estimates.csv alone says so",
            )
        )
    else:
        checks.append(
            equal(
                "votes for all values",
                digest,
                digest_of_votes(votes.tolist()),
                "SHA-256 of the votes that estimates.csv implies",
            )
        )
    found = estimated(votes.tolist(), blocks, list(range(len(values))), reports, law)
    return [*checks, *_agreeing(columns, found, facts)]


def _agreeing(columns: dict[str, Array], found: Estimated, facts: dict[str, Any]) -> list[Check]:
    level, of = float(facts["estimates"]["level"]), int(facts["estimates"]["of"])
    how = "the votes that its estimates imply"
    checks = [agree("value in estimates.csv, all", columns["value"].tolist(), found.values, how, within=found.within)]
    checks.append(
        agree(
            "stderr in estimates.csv, all",
            columns["stderr"].tolist(),
            found.errors,
            how,
            within=found.within + found.rounding,
        )
    )
    for names, tail in (
        (("lower", "upper"), (1.0 - level) / 2.0),
        (("all_lower", "all_upper"), (1.0 - level) / (2.0 * of)),
    ):
        for name, ends in zip(names, found.limits(tail), strict=True):
            checks.append(
                agree(
                    f"{name} in estimates.csv, all",
                    columns[name].tolist(),
                    ends,
                    how,
                    within=10.0 * (found.within + found.rounding),
                )
            )
    return checks


def _votes(values: Array, reports: int, law: CountedLaw) -> Any:
    """The whole numbers of votes that estimates were made of."""
    if law.family == "hadamard":
        return np.rint(values * float(law.hit)).astype(np.int64)
    return np.rint(values * float(law.hit - law.miss) + float(Fraction(reports) * law.miss)).astype(np.int64)
