"""From a table to a folder with a defended answer, in one command."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from shuffledp.design import Design
from shuffledp.record import embedded_json
from tests.cli.people import ABSENT, AGE, CITIES, CITY, FILES, PEOPLE, TRUTH, done, listing, people
from tests.tables.tables import FORMATS, Write, as_arrow_stream, as_csv, as_gzipped_csv

TASKS = ("histogram", "hadamard", "mean")
SIGMAS = 6.0


def facts_in(folder: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((folder / "estimates.json").read_text(encoding="utf-8"))
    return facts


def rows_in(folder: Path) -> list[dict[str, str]]:
    with (folder / "estimates.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("task", TASKS)
def test_the_files_of_a_release_agree_with_each_other(folders: dict[str, Path], task: str) -> None:
    folder = folders[task]
    facts = facts_in(folder)
    assert {each.name for each in folder.iterdir()} == FILES
    assert embedded_json((folder / "page.html").read_text(encoding="utf-8")) == facts
    assert json.loads((folder / "design.json").read_text(encoding="utf-8")) == facts["design"]
    assert (folder / "estimates.svg").read_text(encoding="utf-8").startswith("<svg ")
    rows, estimates = rows_in(folder), facts["tables"][0]
    assert [row["label"] for row in rows] == estimates["label"]
    for column, name in (
        ("estimate", "value"),
        ("stderr", "stderr"),
        ("lower", "lower"),
        ("upper", "upper"),
        ("all_upper", "all_upper"),
    ):
        assert [float(row[column]) for row in rows] == estimates[name]


@pytest.mark.parametrize("task", TASKS)
def test_a_certificate_keeps_the_promise(folders: dict[str, Path], task: str) -> None:
    certified = facts_in(folders[task])["certificate"]
    assert 0.9 < certified["epsilon"]["lower"] <= certified["epsilon"]["upper"] <= 1.0
    assert certified["epsilon"]["delta"] == 1e-6
    assert certified["delta"]["upper"] <= 1e-6
    assert certified["honest"] == certified["users"] == (PEOPLE + ABSENT if task == "mean" else PEOPLE)


@pytest.mark.parametrize("task", TASKS)
def test_a_design_that_a_release_leaves_can_be_asked_again(folders: dict[str, Path], task: str) -> None:
    facts = facts_in(folders[task])
    assert (
        Design.from_json(json.loads((folders[task] / "design.json").read_text(encoding="utf-8"))).as_json()
        == facts["design"]
    )


@pytest.mark.parametrize("task", ["histogram", "hadamard"])
def test_counts_are_near_the_truth_and_missing_values_are_counted(folders: dict[str, Path], task: str) -> None:
    rows = rows_in(folders[task])
    assert tuple(row["label"] for row in rows) == CITIES
    for row in rows:
        assert abs(float(row["estimate"]) - TRUTH[row["label"]]) <= SIGMAS * float(row["stderr"])
        assert float(row["all_lower"]) <= float(row["lower"]) <= float(row["upper"]) <= float(row["all_upper"])
    assert facts_in(folders[task])["counted"] == {"reports": PEOPLE, "missing": ABSENT}


def test_a_mean_is_near_the_truth(folders: dict[str, Path]) -> None:
    (row,) = rows_in(folders["mean"])
    ages = people()["age"].to_pylist()
    assert abs(float(row["estimate"]) - sum(ages) / len(ages)) <= SIGMAS * float(row["stderr"])


@pytest.mark.parametrize("write", FORMATS, ids=lambda write: write.__name__)
def test_the_format_of_the_table_makes_no_difference(tmp_path: Path, released: Path, write: Write) -> None:
    table = tmp_path / "people"
    write(table, people())
    plan = done("histogram", table, *CITY, "--dry-run", "--json").facts
    assert plan["certificate"] == facts_in(released)["certificate"]
    assert plan["design"] == facts_in(released)["design"]
    assert plan["cost"] == {"reports": PEOPLE, "missing": ABSENT, "bits": 2}


@pytest.mark.parametrize("write", [as_csv, as_gzipped_csv, as_arrow_stream], ids=lambda write: write.__name__)
def test_standard_input_is_read_like_a_file(tmp_path: Path, released: Path, write: Write) -> None:
    write(tmp_path / "people", people())
    content = (tmp_path / "people").read_bytes()
    (tmp_path / "people").unlink()
    facts = done("histogram", "-", *CITY, "--out", tmp_path / "result", "--json", stdin=content).facts
    assert facts["asked"]["source"] == "standard input"
    assert facts["counted"] == {"reports": PEOPLE, "missing": ABSENT}
    assert facts["certificate"] == facts_in(released)["certificate"]
    assert [each.name for each in tmp_path.iterdir()] == ["result"]


def test_printed_json_is_what_was_written(tmp_path: Path, table: Path) -> None:
    folder = tmp_path / "result"
    facts = done("histogram", table, *CITY, "--out", folder, "--json", "--title", "Where people live").facts
    assert facts.pop("out") == str(folder)
    assert facts == facts_in(folder)
    assert facts["asked"]["title"] == "Where people live"
    assert "Where people live" in (folder / "page.html").read_text(encoding="utf-8")
    assert facts["secure"] is True


def test_what_is_printed_for_people_has_estimates_certificate_and_files(tmp_path: Path, table: Path) -> None:
    said = done("mean", table, *AGE, "--out", tmp_path / "result").out
    assert "mean of age: 3,007 reports" in said
    assert (
        "Certified: epsilon is at most 1.000 at delta = 1e-6." in said or "Certified: epsilon is at most 0.999" in said
    )
    for name in FILES:
        assert str(tmp_path / "result" / name) in said


def test_every_row_is_in_the_csv_even_if_the_json_lists_the_largest_only(tmp_path: Path) -> None:
    content = b"page\n" + b"".join(b"%d\n" % (i % 100) for i in range(1000))
    facts = done(
        "histogram", "-", "--categories", "0..11999", "--mechanism", "hadamard", "--epsilon", 4, "--delta", 1e-6,
        "--out", tmp_path / "result", "--json",
        stdin=content,
    ).facts  # fmt: skip
    assert len(facts["tables"][0]["label"]) == len(facts["tally"]["votes"]) == 10_000
    assert facts["tables"][0]["of"] == len(rows_in(tmp_path / "result")) == 12_000
    assert {row["label"] for row in rows_in(tmp_path / "result")} == {str(i) for i in range(12_000)}


def test_force_replaces_an_earlier_release(tmp_path: Path, table: Path) -> None:
    folder = tmp_path / "result"
    done("histogram", table, *CITY, "--out", folder)
    before = listing(folder)
    done("mean", table, *AGE, "--out", folder, "--force")
    assert facts_in(folder)["asked"]["question"] == "mean"
    assert set(listing(folder)) == set(before) == FILES
    assert [each.name for each in tmp_path.iterdir()] == ["result"]
