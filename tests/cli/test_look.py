"""look finds what is messy, and the command that it prints runs as it is."""

import random
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.cli.people import done, run
from tests.tables.tables import FORMATS, Write, as_parquet

CITIES = ["São Paulo", " São Paulo", "são paulo", "SÃO PAULO", "Rio", "Rio ", "NA", "N/A", "Belém", ""]


def rows() -> list[tuple[str, str, str, str]]:
    chance = random.Random(1)
    return [
        (
            str(i % 700),
            CITIES[i % len(CITIES)],
            f"{1000 + chance.random() * 8000:,.2f}".translate(str.maketrans(",.", ".,")),
            "=cmd|' /C calc'!A0",
        )
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
def test_the_command_stays_on_one_line_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, column: str
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.chdir(tmp_path)
    command = copied(done("look", table(tmp_path / "my table.csv", encoding), "--column", column).out)
    read = 490 if column == "city" else 700
    run(*command, "--honest", 100_000).refused(
        f"honest must be at most n = {read}"
    )  # said when all has been read, and before anything is calibrated
    asked = ("--categories", "Belém,Rio,São Paulo") if column == "city" else ("--lower", "0", "--upper", "10000")
    assert set(asked) <= set(command)


def test_what_is_messy_is_found_and_said(tmp_path: Path) -> None:
    facts = done("look", table(tmp_path / "t.csv"), "--json").facts
    user, city, income, note = facts["columns"]
    assert (facts["rows"], facts["more"], facts["private"]) == (1000, False, False)
    assert (user["distinct"], user["repeats"], user["names_people"]) == (700, 300, True)
    assert city["alike"] == [[" São Paulo", "SÃO PAULO", "São Paulo", "são paulo"], ["Rio", "Rio "]]
    assert (city["absent"], city["missing"], city["kind"]) == ({"NA": 100, "N/A": 100}, 100, "text")
    assert (income["kind"], income["decimal_commas"], income["thousands"]) == ("numbers", 1000, ".")
    assert 1000 <= income["lowest"] < income["highest"] <= 9000
    assert note["formulas"] == 1000
    assert "true values" in facts["note"]
    spoken = " ".join(done("look", tmp_path / "t.csv").out.split())
    for words in (
        "true values",
        "taken from the data: they are not declared beforehand, and no guarantee covers them",
        "--id user_id counts each person once",
        "begin like a formula",
        "--na NA,N/A",
    ):
        assert words in spoken


def test_points_and_commas_the_american_way_are_numbers_and_no_names_of_people(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "income\n" + "".join(f'"{1000.5 + 7 * i:,.2f}"\n' for i in range(99)) + '"1,000.50"\n900\n'
    )
    facts = done("look", tmp_path / "t.csv", "--json").facts
    (income,) = facts["columns"]
    assert (income["kind"], income["thousands"], income["decimal_commas"], income["names_people"]) == (
        "numbers",
        ",",
        0,
        False,
    )
    assert (income["lowest"], income["highest"]) == (900.0, 1686.5)
    assert "--thousands , --epsilon" in facts["command"]
    run(
        "mean", tmp_path / "t.csv", "--lower", 0, "--upper", 1, "--epsilon", 1, "--delta", 1e-6, "--out", tmp_path / "o"
    ).refused("add --thousands ,")


@pytest.mark.parametrize(
    "text, encoding, option",
    [
        ("who,city\r" + "1,Rio\r2,Belém\r" * 20, "utf-8", ""),
        ("who|city\n" + "1|Rio\n2|Belém\n" * 20, "utf-8", ""),
        ("who (id, or name);city;when\n" + "1;Rio;1\n2;Belém;2\n" * 20, "utf-8", ""),
        ("who,city\n" + "1,Rio\n2,Belém\n" * 20, "utf-16-le", "--encoding utf-16-le"),
        ("who,city\r\n" + "1,Rio\r\n2,Belém\r\n" * 20, "utf-16-be", "--encoding utf-16-be"),
    ],
    ids=["CR", "bars", "a comma in a name", "UTF-16 without a mark", "the other way round"],
)
def test_other_marks_of_lines_fields_and_letters_are_read(
    tmp_path: Path, text: str, encoding: str, option: str
) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    facts = done("look", tmp_path / "t.csv", "--column", "city", "--json").facts
    assert {(each["rows"], each["distinct"]) for each in facts["columns"]} == {(40, 2)}
    assert "--categories Belém,Rio " in facts["command"].replace("'", "")
    assert option in facts["command"]


def test_a_terminal_does_not_obey_what_a_table_holds(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\x1b]0;name\x07,y\n" + "\x1b[2Ja,1\nb,2\n" * 9)
    assert not {"\x1b", "\x07"} & set(done("look", tmp_path / "t.csv", "--column", "y").out)


def test_a_salary_is_not_taken_for_an_id_beside_a_number_of_employees(tmp_path: Path) -> None:
    rows = "".join(f"E{i},{30_000 + 17 * (i * 7919 % 1786)},{'AB'[i % 2]}\n" for i in range(2892))
    (tmp_path / "t.csv").write_text("Employee ID,Salary,Team\n" + rows)
    said = done("look", tmp_path / "t.csv").out
    assert "--id" not in said
    run(*copied(said), "--honest", 100_000).refused("honest must be at most n = 2892")


def test_a_command_to_copy_holds_no_sign_that_a_terminal_obeys_and_a_shell_reads_it_back(tmp_path: Path) -> None:
    name = "a\x1b]0;x\x07\u202eb\r\n'c\\"
    pyarrow.parquet.write_table(
        pa.table({name: ["yes", "no", "no"] * 9, f"{name} id": ["7", "8", "8"] * 9}), tmp_path / "t"
    )
    said = done("look", tmp_path / "t").out
    assert all(letter.isprintable() for letter in said.replace("\n", ""))
    (line,) = (line for line in said.split("\n") if line.startswith("shuffledp "))
    words = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True).stdout
    assert words.decode().split("\0")[4] == name


def test_a_file_whose_name_begins_with_a_dash_and_a_first_line_that_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-t.csv").write_text("1,b\n" + "2,a\n3,b\n" * 9)
    said = done("look", "--column", "b", "--", "-t.csv").out
    assert copied(said)[1] == "./-t.csv"
    assert "its name is one of its values too" in " ".join(said.split())


@pytest.mark.parametrize("write", FORMATS)
def test_every_format_can_be_looked_at(tmp_path: Path, write: Write) -> None:
    write(
        tmp_path / "t",
        pa.table(
            {"b": [True, False, None] * 9, "n": [1, 2, 3] * 9, "x": [0.5, 1.5, None] * 9, "s": ["a", "b", "c"] * 9}
        ),
    )
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


SMALL = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); from shuffledp.cli import main; "
)


def in_little_memory(*command: object) -> subprocess.CompletedProcess[str]:
    program = f"{SMALL}sys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, command)], capture_output=True, timeout=100, text=True
    )


@pytest.mark.parametrize(
    "command",
    [
        ("look",),
        ("count", "--column", "city", "--value", "c", "--epsilon", "1", "--delta", "1e-4", "--dry-run"),
    ],
    ids=lambda command: command[0],
)
def test_a_small_file_of_long_texts_that_repeat_takes_little_memory(tmp_path: Path, command: tuple[str, ...]) -> None:
    long = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 2000, pa.int32()), pa.array(["a" * 1000000, "b" * 1000000]))
    columns = {"x": [0.5] * 4000, "city": long, "user": long}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "t", compression="zstd")
    assert (tmp_path / "t").stat().st_size < 20_000, "4 GB in each of two columns"
    ran = in_little_memory(command[0], tmp_path / "t", *command[1:])
    assert ran.returncode == (2 if command[0] == "count" else 0), ran.stderr
    assert "no row holds" in ran.stderr or ran.stderr == ""


ASKED = ("--column", "answer", "--categories", "yes,no", "--epsilon", "5", "--delta", "1e-3", "--dry-run")


def lists_of_one_text(rows: int) -> pa.Array:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 20 * rows, pa.int32()), pa.array(["a" * (1 << 20)]))
    return pa.ListArray.from_arrays(pa.array(range(0, 20 * rows + 1, 20), pa.int32()), texts)


@pytest.mark.parametrize(
    "kind",
    ["lists", pytest.param("fixed", marks=pytest.mark.long), pytest.param("different", marks=pytest.mark.long)],
)
def test_a_small_file_of_lists_or_of_long_texts_takes_little_memory(tmp_path: Path, kind: str) -> None:
    rows, options = 200 if kind == "lists" else 1600, dict[str, Any]()
    if kind == "lists":
        who, options = lists_of_one_text(rows), {"store_schema": False}
    elif kind == "fixed":
        who = pa.array([b"a" * (1 << 20)] * rows, pa.binary(1 << 20))
        options = {"dictionary_pagesize_limit": 1 << 26}
    else:
        who = pa.array([f"{'a' * ((1 << 20) - 9)}{place}" for place in range(rows)])
        options = {"use_dictionary": False, "column_encoding": {"user": "DELTA_BYTE_ARRAY", "answer": "PLAIN"}}
    answers = pa.table({"answer": ["yes", "no"] * (rows // 2), "user": who})
    pyarrow.parquet.write_table(answers, tmp_path / "t", compression="zstd", **options)
    assert (tmp_path / "t").stat().st_size < 20_000
    for command in (("look", tmp_path / "t"), ("histogram", tmp_path / "t", *ASKED)):
        ran = in_little_memory(*command)
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout


def test_texts_written_as_differences_are_read(tmp_path: Path) -> None:
    people = pa.table({"answer": ["yes", "no"] * 300, "user": [f"person {place}" for place in range(600)]})
    encoding = {"answer": "DELTA_LENGTH_BYTE_ARRAY", "user": "DELTA_BYTE_ARRAY"}
    pyarrow.parquet.write_table(people, tmp_path / "t", use_dictionary=False, column_encoding=encoding)
    assert [each["distinct"] for each in done("look", tmp_path / "t", "--json").facts["columns"]] == [2, 600]
    done("histogram", tmp_path / "t", *ASKED, "--id", "user")


def test_lists_and_records_are_named_and_not_asked_about(tmp_path: Path) -> None:
    as_parquet(tmp_path / "t", pa.table({"answer": ["yes", "no"], "user": [[1], [1]], "more": [{"a": 1}, None]}))
    assert [each["kind"] for each in done("look", tmp_path / "t", "--json").facts["columns"]] == [
        "text",
        "lists or records",
        "lists or records",
    ]
    run("look", tmp_path / "t", "--column", "user").refused("got lists or records. Make a column of each part")


@pytest.mark.parametrize("write", FORMATS)
def test_a_cell_has_an_end(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "t", pa.table({"city": ["a", "b"], "note": ["c", "d" * ((1 << 20) + 1)]}))
    run("look", tmp_path / "t").refused("'note' of")
    asked = ("histogram", tmp_path / "t", "--column", "note", "--categories", "c,d", "--epsilon", 1, "--delta", 1e-4)
    run(*asked, "--dry-run").refused("must have at most 1,048,576 bytes, got 1,048,577")
