"""Released once, read by many tests."""

from pathlib import Path

import pyarrow as pa
import pytest

from tests.cli.people import AGE, CITY, done, people
from tests.tables.tables import as_parquet


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The population as a Parquet file."""
    path = tmp_path_factory.mktemp("population") / "people.parquet"
    as_parquet(path, people())
    return path


@pytest.fixture(scope="session")
def released(table: Path) -> Path:
    """A histogram of the cities."""
    folder = table.with_name("cities")
    done("histogram", table, *CITY, "--out", folder)
    return folder


@pytest.fixture(scope="session")
def folders(table: Path, released: Path) -> dict[str, Path]:
    """One release of every kind."""
    made = {"histogram": released}
    for name, asked in (("hadamard", ("histogram", "--mechanism", "hadamard", *CITY)), ("mean", ("mean", *AGE))):
        made[name] = table.with_name(name)
        done(*asked, table, "--out", made[name])
    return made


@pytest.fixture
def halves(tmp_path: Path) -> tuple[Path, Path]:
    """The population in two files, as if from two places."""
    whole = people()
    parts = (tmp_path / "north.parquet", tmp_path / "south.parquet")
    for path, part in zip(parts, (whole.slice(0, 1500), whole.slice(1500)), strict=True):
        as_parquet(path, pa.table(part))
    return parts
