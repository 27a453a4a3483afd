"""What engines wrote first is read for ever, and what a secret drew is drawn again.

Never change a file in ``v3``; what fails is the code.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shuffledp.collection.engines.batch import BatchEncoder
from shuffledp.collection.release import stages
from shuffledp.collection.tables import read_counted
from shuffledp.collection.verify import verify
from shuffledp.protocols.design import Design
from shuffledp.storage.canonical import canonical

V2, V3 = Path(__file__).parent / "v2", Path(__file__).parent / "v3"
DESIGNS = sorted(each.name for each in V2.glob("design-*.json"))
PEOPLE = 40


def values_of(design: Design) -> list[Any]:
    if design.task.bounds is None:
        return [design.task.labels[person % len(design.task.labels)] for person in range(PEOPLE)]
    lower, upper = design.task.bounds
    return [lower + (upper - lower) * person / PEOPLE for person in range(PEOPLE)]


def test_counted_reports_are_read_and_written_again() -> None:
    counted = read_counted(V3 / "counted.json")
    assert (counted.reports, counted.missing, counted.keyed) == (400, 3, False)
    assert canonical(counted.as_json()) + "\n" == (V3 / "counted.json").read_text(encoding="utf-8")


def test_counted_reports_are_analysed(tmp_path: Path) -> None:
    made = stages.analyse(V3 / "counted.json", tmp_path / "result")
    assert made.record.tally.votes == (86, 79, 73, 81, 81)
    page, table = ((tmp_path / "result" / name).read_text(encoding="utf-8") for name in ("page.html", "estimates.csv"))
    assert verify(page, table=table).verdict == "pass"


@pytest.mark.parametrize("name", DESIGNS)
def test_a_secret_draws_what_it_drew(name: str) -> None:
    design = Design.from_json(json.loads((V2 / name).read_text(encoding="utf-8")))
    people = pa.record_batch({"who": [f"person {each}" for each in range(PEOPLE)], "value": values_of(design)})
    phones = BatchEncoder.of(design, column="value", ids="who", secret=bytes(range(32)), round=2)
    (reports,) = phones.encode([people])
    drawn = [each.hex() if isinstance(each, bytes) else each for each in reports.column(0).to_pylist()]
    assert drawn == json.loads((V3 / "keyed.json").read_text(encoding="utf-8"))[name]
