"""People with several rows take part once, in one go and in stages, and the facts say how many rows
were left out.
"""

from pathlib import Path

import pyarrow.parquet
import pytest

from shuffledp.record import Record
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
    estimates = facts["tables"][0]
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
        "stage",
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
    encode = ("stage", "encode", visits, "--design", tmp_path / "d.json", "--column", "answer")
    said = done(*encode, "--id", "who", "--keep", "random", "--out", tmp_path / "r", "--json").facts
    assert (said["reports"], said["missing"], said["repeated"]) == (1000, 5, 1000)
    ids = pyarrow.parquet.read_table(tmp_path / "r")["id"].to_pylist()
    assert sorted(ids) == sorted(f"p{i}" for i in range(1000))
    assert done(*encode, "--out", tmp_path / "all", "--json").facts["reports"] == 2000, "the control"
    spoken = done(*encode, "--id", "who", "--out", tmp_path / "again").out
    assert "1,000 rows left out because their person has another one" in " ".join(spoken.split())
    run("stage", "shuffle", tmp_path / "r", tmp_path / "again", "--out", tmp_path / "s").refused(
        "got 1,000 whose ids were there before"
    )


def test_what_cannot_be_is_refused(tmp_path: Path, visits: Path) -> None:
    out = ("--out", tmp_path / "result")
    run("histogram", visits, *ASKED, "--id", "wo", *out).refused("Did you mean 'who'?")
    run("histogram", visits, *ASKED, "--keep", "first", *out).refused("--keep must come with --id")
    run("histogram", visits, *ASKED, "--id", "who", "--keep", "last", *out).refused(
        "--keep must be one of first, random"
    )
    done("stage", "design", "histogram", "--categories", "yes,no", "--n", 2100, *PROMISE, "--out", tmp_path / "d.json")
    piped = (
        "stage",
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


NAMED = ("id", "User_ID", "E-mail", "customerId", "Patient No.")


def several(tmp_path: Path, name: str) -> Path:
    """Forty users with a hundred rows each; the file is named for the column."""
    file = tmp_path / "log.csv"
    file.write_text(f"{name},answer\n" + "".join(f"u{i % 40},{'yes' if i % 3 else 'no'}\n" for i in range(4000)))
    return file


@pytest.mark.parametrize("name", NAMED)
def test_rows_of_the_same_id_are_not_counted_as_people(tmp_path: Path, name: str) -> None:
    file = several(tmp_path, name)
    said = run("histogram", file, *ASKED, "--dry-run")
    said.refused("40 different values in 4,000 rows")
    assert "--id" in said.error
    assert "--one-row-per-person" in said.error
    taken = done("histogram", file, *ASKED, "--one-row-per-person", "--dry-run", "--json").facts
    assert taken["cost"]["reports"] == 4000
    run("histogram", file, *ASKED, "--id", name, "--one-row-per-person", "--dry-run").refused("left out beside --id")


def test_a_refusal_names_a_column_with_all_its_spaces(tmp_path: Path) -> None:
    file = several(tmp_path, "User  ID ")
    run("histogram", file, *ASKED, "--dry-run").refused("of column 'User  ID ', which")
    assert done("histogram", file, *ASKED, "--id", "User  ID ", "--dry-run", "--json").facts["cost"]["reports"] == 40


def test_every_command_that_reads_a_table_asks_whose_rows_they_are(tmp_path: Path) -> None:
    file = several(tmp_path, "user")
    done(
        "stage",
        "design",
        "histogram",
        "--categories",
        "yes,no",
        "--n",
        4000,
        *PROMISE,
        "--out",
        tmp_path / "design.json",
    )
    asked = {
        "stage encode": ["--design", tmp_path / "design.json", "--out", tmp_path / "reports.parquet"],
        "count": ["--value", "yes", *PROMISE, "--dry-run"],
        "top": [*PROMISE, "--dry-run"],
    }
    for command, options in asked.items():
        run(*command.split(), file, "--column", "answer", *options).refused("named like an id")
    assert not (tmp_path / "reports.parquet").exists()
    done("stage", "encode", file, "--column", "answer", "--one-row-per-person", *asked["stage encode"])
