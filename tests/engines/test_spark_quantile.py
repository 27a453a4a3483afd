"""Quantiles on Spark: numbers fall into bins there, by the same code as on files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shuffledp import Poll
from shuffledp.cli import main
from shuffledp.engines import spark
from shuffledp.engines.batch import ReportTally, added_up
from shuffledp.verify import verify

PEOPLE = 3000


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spark") / "people.parquet"
    ages = np.random.default_rng(4).normal(40.0, 12.0, PEOPLE).clip(0.0, 99.0)
    pq.write_table(pa.table({"age": [*ages.tolist(), None]}), path)
    return path


@pytest.mark.parametrize("levels", [(), (4, 16, 50)])
def test_counts_are_those_of_the_library(session: Any, table: Path, tmp_path: Path, levels: tuple[int, ...]) -> None:
    ages = Poll("quantile", cuts=range(0, 101, 2), n=PEOPLE, epsilon=1.0, delta=1e-6, levels=levels)
    encoded = spark.encode(session.read.parquet(str(table)), ages, column="age", out=tmp_path / "work")
    counted = spark.count(session, encoded)
    own = added_up(ReportTally.of(ages).tally(pq.read_table(tmp_path / "work" / "reports").to_batches()))
    assert (counted.votes.tolist(), counted.reports) == (own.votes.tolist(), PEOPLE)
    found = ages.analyse_counts(counted.votes)
    truth = sum(each.as_py() < 40.0 for each in pq.read_table(table)["age"] if each.as_py() is not None)
    assert abs(found["below 40"] - truth) < 6 * found.stderr[19]


def test_the_command_runs_on_spark_and_its_page_verifies(
    session: Any,  # noqa: ARG001
    table: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("--column", "age", "--lower", "0", "--upper", "100", "--at", "0.5", "--range", "20:60")
    promise = ("--epsilon", "1", "--delta", "1e-6", "--out", str(tmp_path / "result"))
    assert main(["quantile", str(table), *asked, *promise, "--engine", "spark", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["counted"]["reports"], facts["counted"]["missing"]) == (PEOPLE, 1)
    assert len(facts["estimates"]["quantiles"]["value"]) == len(facts["estimates"]["ranges"]["value"]) == 1
    page = (tmp_path / "result" / "page.html").read_text(encoding="utf-8")
    assert "This release was made from a table in Spark." in page
    assert verify(page, seconds=0.0).failed == ()
