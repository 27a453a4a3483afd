"""A week of a series from tables that Spark reads."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shuffledp.cli import main


@pytest.mark.fleet
def test_a_week_is_drawn_and_counted_by_spark(session: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    ways = np.array(["bus", "car", "bike"])[np.arange(600) % 3]
    pq.write_table(pa.table({"way": ways}), tmp_path / "ways.parquet")
    folder, design = tmp_path / "ways", tmp_path / "design.json"
    settled = ("--categories", "bus,car,bike", "--n", "700", "--honest", "500", "--rounds", "3")
    assert main(["design", "histogram", *settled, "--epsilon", "2", "--delta", "1e-5", "--out", str(design)]) == 0
    budget = ("--ledger", tmp_path / "b.sqlite", "--population", "p", "--limit-epsilon", "4", "--limit-delta", "1e-4")
    assert main(["track", "new", *map(str, (folder, "--design", design, *budget))]) == 0
    capsys.readouterr()
    asked = (folder, tmp_path / "ways.parquet", "--column", "way", "--engine", "spark", "--json")
    for week in (1, 2):
        assert main(["track", "add", *map(str, asked)]) == 0
        said = json.loads(capsys.readouterr().out)
        assert (said["asked"]["series"]["week"], said["counted"]["reports"]) == (week, 600)
        assert "drawn and counted by" in " ".join(said["notes"])
    assert sorted(place.name for place in (folder / "weeks").iterdir()) == ["001", "002"]
