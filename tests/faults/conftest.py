"""The program that runs and kills commands, and what they work on."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.runner import Runner

PEOPLE = 100_000
PROMISE = ("--epsilon", 1, "--delta", 1e-6)


@dataclass(frozen=True)
class Made:
    """What the commands work on: a table, its categories, a design, encoded and shuffled
    reports.
    """

    table: Path
    cities: Path
    design: Path
    encoded: Path
    shuffled: Path

    @property
    def histogram(self) -> tuple[object, ...]:
        return ("histogram", self.table, "--column", "city", "--categories", self.cities, *PROMISE)

    @property
    def encode(self) -> tuple[object, ...]:
        return ("stage", "encode", self.table, "--design", self.design, "--column", "city")


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    runner = Runner()
    yield runner
    runner.close()


@pytest.fixture(scope="session")
def made(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> Made:
    place = tmp_path_factory.mktemp("made")
    data = place / "data"
    made = Made(
        data / "people.parquet",
        data / "cities.txt",
        place / "design.json",
        place / "encoded.parquet",
        place / "shuffled.parquet",
    )
    runner.warm("example", data, "--people", PEOPLE)
    runner.warm(
        "stage",
        "design",
        "histogram",
        "--categories",
        made.cities,
        "--n",
        PEOPLE,
        "--honest",
        "90%",
        *PROMISE,
        "--out",
        made.design,
    )
    runner.warm(*made.encode, "--out", made.encoded)
    runner.warm("stage", "shuffle", made.encoded, "--out", made.shuffled)
    return made
