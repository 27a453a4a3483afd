"""Every question on Spark: rows are read, joined and counted there by the same code as on files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shuffledp import Poll
from shuffledp.cli import main
from shuffledp.engines import spark
from shuffledp.engines.batch import ReportTally
from shuffledp.errors import InvalidInput
from shuffledp.verify import verify

REGIONS, SMOKER = ["north", "south", "west"], ["yes", "no"]
PEOPLE = 3000
COLUMNS = ["the region", "smoker.now"]  # names that Spark does not find by themselves
AGES = np.random.default_rng(4).normal(40.0, 12.0, PEOPLE).clip(0.0, 99.0)
PROMISE: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}


@dataclass(frozen=True)
class Case:
    """What is asked of a table, how a poll and a command ask it, and what is to be found."""

    table: str
    column: Any
    question: dict[str, Any]
    people: int
    row: str
    truth: int
    command: tuple[str, ...]
    reports: int  # of the command, which may take one row of each person
    missing: int
    found: dict[str, int]  # how many lines each part of the command's estimates has


def of_ages(levels: tuple[int, ...]) -> Case:
    asked = ("--lower", "0", "--upper", "100", "--at", "0.5", "--range", "20:60")
    return Case(
        table="ages",
        column="age",
        question={"question": "quantile", "cuts": range(0, 101, 2), "levels": levels},
        people=PEOPLE,
        row="below 40",
        truth=int((AGES < 40.0).sum()),
        command=("quantile", "--column", "age", *asked),
        reports=PEOPLE,
        missing=1,
        found={"quantiles": 1, "ranges": 1},
    )


CASES = {
    "bins": of_ages(()),
    "levels": of_ages((4, 16, 50)),
    "crosstab": Case(
        table="regions",
        column=COLUMNS,
        question={"question": "crosstab", "columns": ["region", "smoker"], "categories": [REGIONS, SMOKER]},
        people=PEOPLE + PEOPLE // 3,
        row="(all) × yes",
        truth=PEOPLE // 2 + PEOPLE // 3,
        command=(
            *("crosstab", "--column", COLUMNS[0], "--column", COLUMNS[1], "--by", COLUMNS[0], "--id", "who"),
            *("--categories", ",".join(REGIONS), "--categories", ",".join(SMOKER)),
        ),
        reports=PEOPLE,
        missing=2,
        found={"shares": 6},
    ),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Ages and a gap; and 3,000 people, every third with a second row, and some gaps in either column."""
    folder = tmp_path_factory.mktemp("spark")
    rows = [(who, REGIONS[who % 3], SMOKER[(who // 3) % 2]) for who in range(PEOPLE)]
    rows += [(who, REGIONS[(who + 1) % 3], SMOKER[0]) for who in range(0, PEOPLE, 3)]
    rows += [(PEOPLE, None, "yes"), (PEOPLE + 1, "north", None), (0, None, None)]
    who, region, smoker = zip(*rows, strict=True)
    made = {
        "ages": {"age": [*AGES.tolist(), None]},
        "regions": {"who": who, COLUMNS[0]: region, "age": [1] * len(rows), COLUMNS[1]: smoker},
    }
    for name, columns in made.items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    return {name: folder / f"{name}.parquet" for name in made}


@pytest.mark.parametrize("name", CASES)
def test_counts_are_those_of_the_library(session: Any, tables: dict[str, Path], tmp_path: Path, name: str) -> None:
    case = CASES[name]
    asked = Poll(**case.question, n=case.people, **PROMISE)
    frame = session.read.parquet(str(tables[case.table]))
    encoded = spark.encode(frame, asked, column=case.column, out=tmp_path / "work")
    counted = spark.count(session, encoded)
    own = ReportTally.of(asked).added(pq.read_table(tmp_path / "work" / "reports").to_batches())
    assert (counted.votes.tolist(), counted.reports) == (own.numbers.tolist(), case.people)
    found = asked.analyse_counts(counted.votes)
    place = list(found.labels).index(case.row)
    assert abs(found.values[place] - case.truth) < 6 * found.stderr[place]


@pytest.mark.parametrize("name", ["bins", "crosstab"])
def test_the_command_runs_on_spark_and_its_page_verifies(
    session: Any,  # noqa: ARG001
    tables: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    case = CASES[name]
    kind, *asked = case.command
    promise = ("--epsilon", "1", "--delta", "1e-6", "--out", str(tmp_path / "result"))
    assert main([kind, str(tables[case.table]), *asked, *promise, "--engine", "spark", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["counted"]["reports"], facts["counted"]["missing"]) == (case.reports, case.missing)
    assert {each["name"]: len(each["value"]) for each in facts["tables"][1:]} == case.found
    assert facts["asked"]["column"] == (case.column if isinstance(case.column, str) else " × ".join(case.column))
    page = (tmp_path / "result" / "page.html").read_text(encoding="utf-8")
    assert "This release was made from a table in Spark." in page
    assert verify(page, seconds=0.0).failed == ()


def test_one_row_of_each_person_and_gaps_as_categories(session: Any, tables: dict[str, Path]) -> None:
    frame = session.read.parquet(str(tables["regions"]))
    surveyed = spark.survey(frame, column=COLUMNS, categories=[REGIONS, SMOKER])
    assert (surveyed.people, surveyed.missing) == (PEOPLE + PEOPLE // 3, 3)
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


def test_a_week_is_drawn_and_counted_by_spark(session: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    ways = np.array(["bus", "car", "bike"])[np.arange(600) % 3]
    pq.write_table(pa.table({"way": ways}), tmp_path / "ways.parquet")
    folder, design = tmp_path / "ways", tmp_path / "design.json"
    settled = ("--categories", "bus,car,bike", "--n", "700", "--honest", "500", "--rounds", "3")
    assert (
        main(["stage", "design", "histogram", *settled, "--epsilon", "2", "--delta", "1e-5", "--out", str(design)]) == 0
    )
    budget = ("--ledger", tmp_path / "b.sqlite", "--population", "p", "--limit-epsilon", "4", "--limit-delta", "1e-4")
    assert main(["series", "new", *map(str, (folder, "--design", design, *budget))]) == 0
    capsys.readouterr()
    asked = (folder, tmp_path / "ways.parquet", "--column", "way", "--engine", "spark", "--json")
    for week in (1, 2):
        assert main(["series", "add", *map(str, asked)]) == 0
        said = json.loads(capsys.readouterr().out)
        assert (said["asked"]["series"]["week"], said["counted"]["reports"]) == (week, 600)
        assert "drawn and counted by" in " ".join(said["notes"])
    assert sorted(place.name for place in (folder / "weeks").iterdir()) == ["001", "002"]
