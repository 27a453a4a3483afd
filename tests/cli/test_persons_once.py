"""People with several rows take part once, in one go and in stages, and the facts say how many rows
were left out.
"""

from pathlib import Path

import pyarrow.parquet
import pytest

from shuffledp.collection.record import Record
from tests.cli.people import PROMISE, done, run

ASKED = ("--column", "answer", "--categories", "yes,no", *PROMISE)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """A thousand people; each of the first hundred has ten more rows, which all say "no", and five
    people have no answer.
    """
    rows = (
        [(f"p{i}", "yes" if i % 2 else "no") for i in range(1000)]
        + [(f"p{i}", "no") for i in range(100) for _ in range(10)]
        + [(f"q{i}", "") for i in range(5)]
    )
    (tmp_path / "visits.csv").write_text("who,answer\n" + "".join(f"{who},{answer}\n" for who, answer in rows))
    return tmp_path / "visits.csv"


def yes(facts: dict[str, object]) -> tuple[float, float]:
    estimates = facts["estimates"]
    assert isinstance(estimates, dict)
    return estimates["value"][0], estimates["stderr"][0]


def test_one_row_of_each_person_is_counted(tmp_path: Path, visits: Path) -> None:
    facts = done("histogram", visits, *ASKED, "--id", "who", "--out", tmp_path / "result", "--json").facts
    assert facts["counted"] == {"reports": 1000, "missing": 5, "repeated": 1000}
    value, error = yes(facts)
    assert abs(value - 500) < 6 * error
    Record.from_json({name: value for name, value in facts.items() if name != "out"})
    again = done("histogram", visits, *ASKED, "--id", "who", "--out", tmp_path / "result", "--force").out
    assert "1,000 reports, 5 values missing, 1,000 rows left out because their person has another one" in " ".join(
        again.split()
    )
    every_row = run("histogram", visits, *ASKED, "--honest", 100_000, "--out", tmp_path / "rows")
    every_row.refused("honest must be at most n = 2000")  # the control: without --id a row is a person


def test_clients_send_one_row_of_each_person_and_the_shuffler_sees_that(tmp_path: Path, visits: Path) -> None:
    done(
        "design",
        "histogram",
        "--categories",
        "yes,no",
        "--n",
        2100,
        "--honest",
        900,
        *PROMISE,
        "--out",
        tmp_path / "d.json",
    )
    encode = ("encode", visits, "--design", tmp_path / "d.json", "--column", "answer")
    said = done(*encode, "--id", "who", "--keep", "random", "--out", tmp_path / "r", "--json").facts
    assert (said["reports"], said["missing"], said["repeated"]) == (1000, 5, 1000)
    ids = pyarrow.parquet.read_table(tmp_path / "r")["id"].to_pylist()
    assert sorted(ids) == sorted(f"p{i}" for i in range(1000))
    assert done(*encode, "--out", tmp_path / "all", "--json").facts["reports"] == 2000, "the control"
    spoken = done(*encode, "--id", "who", "--out", tmp_path / "again").out
    assert "1,000 rows left out because their person has another one" in " ".join(spoken.split())
    run("shuffle", tmp_path / "r", tmp_path / "again", "--out", tmp_path / "s").refused(
        "got 1,000 whose ids were there before"
    )


def test_what_cannot_be_is_refused(tmp_path: Path, visits: Path) -> None:
    out = ("--out", tmp_path / "result")
    run("histogram", visits, *ASKED, "--id", "wo", *out).refused("Did you mean 'who'?")
    run("histogram", visits, *ASKED, "--keep", "first", *out).refused("--keep must come with --id")
    run("histogram", visits, *ASKED, "--id", "who", "--keep", "last", *out).refused(
        "--keep must be one of first, random"
    )
    done("design", "histogram", "--categories", "yes,no", "--n", 2100, *PROMISE, "--out", tmp_path / "d.json")
    piped = (
        "encode",
        "-",
        "--design",
        tmp_path / "d.json",
        "--column",
        "answer",
        "--id",
        "who",
        "--out",
        tmp_path / "r",
    )
    run(*piped, stdin=visits.read_bytes()).refused("a table with --id must be a file")
