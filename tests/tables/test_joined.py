"""Several columns joined to one: read like any other, on files, in memory, and by engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shuffledp import InvalidInput, Poll
from shuffledp.engines.batch import BatchReporter, ColumnSurvey
from shuffledp.tables.cleaning import Cleaning
from shuffledp.tables.columns import open_column
from shuffledp.tables.memory import held_table
from shuffledp.tables.values import JoinedPlaces, Places, read

ROWS = {
    "region": ["north", "south", None, "south", "north", "west"],
    "age": [1, 2, 3, 4, 5, 6],
    "smoker": ["yes", "no", "yes", None, "no", "yes"],
    "who": ["a", "b", "c", "d", "a", "e"],
}
REGIONS, SMOKER = ("north", "south", "west"), ("yes", "no")
CELLS = [0, 3, 1, 4]


def reader() -> JoinedPlaces:
    return JoinedPlaces((Places(REGIONS), Places(SMOKER)))


def written(folder: Path, kind: str) -> Any:
    table = pa.table(ROWS)
    if kind == "memory":
        return held_table(table)
    path = folder / f"people.{kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        lines = [
            ",".join("" if each is None else str(each) for each in row) for row in zip(*ROWS.values(), strict=True)
        ]
        path.write_text("\n".join([",".join(ROWS), *lines]) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "memory"])
def test_rows_with_a_gap_in_any_column_are_left_out_and_counted(tmp_path: Path, kind: str) -> None:
    column = open_column(written(tmp_path, kind), ("region", "smoker"), kind="text")
    assert column.name == "region × smoker"
    with read(column, reader()) as values:
        assert (np.concatenate(list(values.chunks())).tolist(), values.missing) == (CELLS, 2)


def test_each_column_has_rules_of_its_own() -> None:
    rules = JoinedPlaces(
        (Places(("north", "else"), other="else", missing="else"), Places(SMOKER, cleaning=Cleaning(ignore_case=True)))
    )
    rows = pa.array([{"a": "NORTH", "b": "Yes"}, {"a": None, "b": "NO"}, {"a": "north", "b": None}])
    places, present, _ = rules.prepare(rows, "the table")
    assert (places.tolist(), None if present is None else present.tolist()) == ([2, 3], [True, True, False])


def test_one_row_of_each_person_is_kept(tmp_path: Path) -> None:
    column = open_column(written(tmp_path, "csv"), ("region", "smoker"), kind="text", ids="who")
    with read(column, reader()) as values:
        assert (np.concatenate(list(values.chunks())).tolist(), values.missing, values.repeated) == ([0, 3, 4], 2, 1)


def test_an_engine_reads_the_same_cells() -> None:
    poll = Poll("crosstab", columns=["r", "s"], categories=[REGIONS, SMOKER], n=4, epsilon=30.0, delta=0.1)
    phones = BatchReporter.of(poll, column=["region", "smoker"])
    batch = pa.record_batch(ROWS)
    (surveyed,) = ColumnSurvey(phones.column, phones._reader())([batch])
    assert surveyed.to_pylist() == [{"values": 4, "missing": 2}]
    sums = phones.added_up(phones.tally([batch]))
    assert (sums.people, sums.missing, int(sums.numbers.sum()), len(sums.numbers)) == (4, 2, 4, 6)
    with pytest.raises(InvalidInput, match=r"got 'smokes'\. Did you mean 'smoker'"):
        list(BatchReporter.of(poll, column=["region", "smokes"]).tally([batch]))
    with pytest.raises(InvalidInput, match="a crosstab of 2 columns must be asked of as many, got column 'region'"):
        list(BatchReporter.of(poll, column="region").tally([batch]))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (("region", "smoke"), "column must name a column of .* got 'smoke'. Did you mean 'smoker'"),
        (("region", "age"), "column 'age' must hold only the 2 categories, got '1'"),
        (("region", "smoker", "age"), "a crosstab of 2 columns must be asked of as many"),
    ],
)
def test_columns_that_do_not_fit_are_refused(tmp_path: Path, columns: tuple[str, ...], says: str) -> None:
    with (
        pytest.raises(InvalidInput, match=says),
        read(open_column(written(tmp_path, "csv"), columns, kind="text"), reader()),
    ):
        pass
