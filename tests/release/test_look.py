"""look finds what is messy, and the command that it prints runs as it is."""

import random
import shlex
from pathlib import Path

import pyarrow as pa
import pytest

from tests.pipeline.tables import FORMATS, Write
from tests.release.people import done, run

CITIES = ["São Paulo", " São Paulo", "são paulo", "SÃO PAULO", "Rio", "Rio ", "NA", "N/A", "Belém", ""]


def rows() -> list[tuple[str, str, str, str]]:
    chance = random.Random(1)
    return [
        (str(i % 700), CITIES[i % len(CITIES)], f"{1000 + chance.random() * 8000:,.2f}".translate(str.maketrans(",.", ".,")), "=cmd|' /C calc'!A0")
        for i in range(1000)
    ]


def table(path: Path, encoding: str = "utf-8") -> Path:
    path.write_text("user_id;city;income;note\n" + "".join(";".join(row) + "\n" for row in rows()), encoding=encoding)
    return path


def copied(said: str) -> list[str]:
    """The command as a shell would take it, on one line."""
    (line,) = (line for line in said.split("\n") if line.startswith("shuffledp "))
    return shlex.split(line)[1:]


@pytest.mark.parametrize("encoding, column", [("utf-8", "city"), ("cp1252", "income"), ("utf-16", "city")])
def test_the_command_stays_on_one_line_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, column: str) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.chdir(tmp_path)
    command = copied(done("look", table(tmp_path / "my table.csv", encoding), "--column", column).out)
    read = 490 if column == "city" else 700
    run(*command, "--honest", 100_000).refused(f"honest must be at most n = {read}")  # said when all has been read, and before anything is calibrated
    asked = ("--categories", "Belém,Rio,São Paulo") if column == "city" else ("--lower", "0", "--upper", "10000")
    assert set(asked) <= set(command)


def test_what_is_messy_is_found_and_said(tmp_path: Path) -> None:
    facts = done("look", table(tmp_path / "t.csv"), "--json").facts
    user, city, income, note = facts["columns"]
    assert (facts["rows"], facts["more"], facts["private"]) == (1000, False, False)
    assert (user["distinct"], user["repeats"], user["names_people"]) == (700, 300, True)
    assert city["alike"] == [[" São Paulo", "SÃO PAULO", "São Paulo", "são paulo"], ["Rio", "Rio "]]
    assert (city["absent"], city["missing"], city["kind"]) == ({"NA": 100, "N/A": 100}, 100, "text")
    assert (income["kind"], income["decimal_commas"], income["thousands"]) == ("numbers", 1000, True)
    assert 1000 <= income["lowest"] < income["highest"] <= 9000
    assert note["formulas"] == 1000
    assert "true values" in facts["note"]
    spoken = " ".join(done("look", tmp_path / "t.csv").out.split())
    for words in ("true values", "taken from the data", "--id user_id counts each person once", "begin like a formula", "--na NA,N/A"):
        assert words in spoken


@pytest.mark.parametrize("write", FORMATS)
def test_every_format_can_be_looked_at(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "t", pa.table({"b": [True, False, None] * 9, "n": [1, 2, 3] * 9, "x": [0.5, 1.5, None] * 9, "s": ["a", "b", "c"] * 9}))
    facts = done("look", tmp_path / "t", "--json").facts
    assert [each["distinct"] for each in facts["columns"]] == [2, 3, 2, 3]
    assert [each["kind"] for each in facts["columns"]][1:] == ["whole numbers", "numbers", "text"]
    assert facts["columns"][2]["missing"] == 9


def test_a_long_table_is_looked_at_in_part_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n" + "a\nb\n" * 5000)
    assert done("look", tmp_path / "t.csv", "--rows", 100, "--json").facts["rows"] == 100
    assert "the first 100 rows; there are more" in " ".join(done("look", tmp_path / "t.csv", "--rows", 100).out.split())


def test_many_or_odd_categories_go_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n" + "".join(f'"a, {i % 3}"\n' for i in range(90)))
    assert "--categories categories.txt" in " ".join(copied(done("look", tmp_path / "t.csv").out))


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "got an empty file"),
        (b"a,b\n", "at least one row"),
        (b"a,a\n1,2\n", "a name of its own"),
        (b"a,b\n1\n", "must have 2 fields"),
        (b"\x00\x01", "names no columns"),
    ],
)
def test_what_is_no_table_is_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "t").write_bytes(content)
    run("look", tmp_path / "t").refused(words)


def test_what_cannot_be_looked_at_is_one_line(tmp_path: Path) -> None:
    run("look", tmp_path / "nothing").refused("got nothing there")
    run("look", "-").refused("must be given a file")
    run("look", table(tmp_path / "t.csv"), "--column", "citty").refused("Did you mean 'city'?")
    run("look", table(tmp_path / "t.csv"), "--rows", 0).refused("--rows must be at least 1")
