"""Several columns at once on Spark: joined there, read and counted by the same code as on files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shuffledp import Poll
from shuffledp.cli import main
from shuffledp.engines import spark
from shuffledp.engines.batch import ReportTally, added_up
from shuffledp.errors import InvalidInput
from shuffledp.verify import verify

REGIONS, SMOKER = ["north", "south", "west"], ["yes", "no"]
PEOPLE = 3000
COLUMNS = ["the region", "smoker.now"]  # names that Spark does not find by themselves


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 people, every third with a second row, and some gaps in either column."""
    path = tmp_path_factory.mktemp("spark") / "people.parquet"
    rows = [(who, REGIONS[who % 3], SMOKER[(who // 3) % 2]) for who in range(PEOPLE)]
    rows += [(who, REGIONS[(who + 1) % 3], SMOKER[0]) for who in range(0, PEOPLE, 3)]
    rows += [(PEOPLE, None, "yes"), (PEOPLE + 1, "north", None), (0, None, None)]
    who, region, smoker = zip(*rows, strict=True)
    pq.write_table(pa.table({"who": who, COLUMNS[0]: region, "age": [1] * len(rows), COLUMNS[1]: smoker}), path)
    return path


def poll(n: int) -> Poll:
    return Poll("crosstab", columns=["region", "smoker"], categories=[REGIONS, SMOKER], n=n, epsilon=1.0, delta=1e-6)


def test_counts_are_those_of_the_library(session: Any, table: Path, tmp_path: Path) -> None:
    frame, rows = session.read.parquet(str(table)), PEOPLE + PEOPLE // 3
    surveyed = spark.survey(frame, column=COLUMNS, categories=[REGIONS, SMOKER])
    assert (surveyed.people, surveyed.missing) == (rows, 3)
    asked = poll(rows)
    encoded = spark.encode(frame, asked, column=COLUMNS, out=tmp_path / "work")
    counted = spark.count(session, encoded)
    own = added_up(ReportTally.of(asked).tally(pq.read_table(tmp_path / "work" / "reports").to_batches()))
    assert (counted.votes.tolist(), counted.reports) == (own.votes.tolist(), rows)
    found = asked.analyse_counts(counted.votes)
    assert abs(found["(all) × yes"] - (PEOPLE // 2 + PEOPLE // 3)) < 6 * found.stderr[-2]


def test_one_row_of_each_person_and_gaps_as_categories(session: Any, table: Path) -> None:
    frame = session.read.parquet(str(table))
    surveyed = spark.survey(frame, column=COLUMNS, categories=[REGIONS, SMOKER], ids="who")
    assert (surveyed.people, surveyed.missing, surveyed.repeated) == (PEOPLE, 2, PEOPLE // 3 + 1)
    gaps = {COLUMNS[0]: "west", COLUMNS[1]: "no"}
    assert spark.survey(frame, column=COLUMNS, categories=[REGIONS, SMOKER], missing=gaps).missing == 0
    for column, says in (
        (["the region"], "columns must be two or more, each once, got the region"),
        (["the region", "smoke"], "column must name a column of the table, got 'smoke'"),
        (["the region", "age"], "column 'age' must hold only the 2 categories, got '1'"),
    ):
        with pytest.raises(InvalidInput, match=says):
            spark.survey(frame, column=column, categories=[REGIONS, SMOKER])


def test_the_command_runs_on_spark_and_its_page_verifies(
    session: Any,  # noqa: ARG001
    table: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lists = ("--categories", ",".join(REGIONS), "--categories", ",".join(SMOKER))
    named = ("--column", COLUMNS[0], "--column", COLUMNS[1], "--by", COLUMNS[0], "--id", "who")
    promise = ("--epsilon", "1", "--delta", "1e-6", "--out", str(tmp_path / "result"))
    assert main(["crosstab", str(table), *named, *lists, *promise, "--engine", "spark", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["counted"]["reports"], facts["counted"]["missing"]) == (PEOPLE, 2)
    assert facts["asked"]["column"] == "the region × smoker.now"
    assert len(facts["estimates"]["shares"]["value"]) == 6
    page = (tmp_path / "result" / "page.html").read_text(encoding="utf-8")
    assert verify(page, seconds=0.0).failed == ()
