"""``--engine spark``: from tables that Spark reads to a folder that verifies, by the same options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shuffledp.cli import main
from shuffledp.engines import spark_commit
from shuffledp.errors import InvalidInput

PROMISE = ("--epsilon", "1", "--delta", "1e-5")
ON_SPARK = ("--engine", "spark")
WAYS = ("--column", "way", "--categories", "bus,car,bike")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables of 1,000 rows of 750 persons each, and one as CSV."""
    folder = tmp_path_factory.mktemp("tables")
    for part in range(2):
        person = np.arange(1000) % 750 + 750 * part
        ways = np.array(["bus", "car", "bike"])[person % 3]
        pq.write_table(pa.table({"way": ways, "age": person % 90, "who": person}), folder / f"part{part}.parquet")
    rows = "".join(f'"{way}",{age}\n' for way, age in zip(["bus", "car", "bike", ""] * 250, range(1000), strict=True))
    (folder / "people.csv").write_text("way,age\n" + rows)
    return folder


class Command:
    """The command line, where a session of Spark runs."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def answers(self, *words: object) -> dict[str, Any]:
        code = main([*map(str, words), "--json"])
        said = self.capsys.readouterr()
        assert code == 0, said.err
        answer: dict[str, Any] = json.loads(said.out)
        return answer

    def refused(self, *words: object) -> str:
        assert main([*map(str, words)]) == 2
        return self.capsys.readouterr().err.removeprefix("error: ").strip()


@pytest.fixture
def command(session: Any, capsys: pytest.CaptureFixture[str]) -> Command:  # noqa: ARG001
    return Command(capsys)


def test_histograms_and_a_mean_from_tables_to_pages(command: Command, tables: Path, tmp_path: Path) -> None:
    pattern, both = tables / "part*.parquet", (tables / "part0.parquet", tables / "part1.parquet")
    ways = command.answers("histogram", pattern, *WAYS, *PROMISE, *ON_SPARK, "--id", "who", "--out", tmp_path / "ways")
    assert (ways["counted"]["reports"], ways["counted"]["repeated"]) == (1500, 500)
    ages = command.answers(
        *("mean", *both, "--column", "age", "--lower", 0, "--upper", 50, "--clip"),
        *(*PROMISE, *ON_SPARK, "--out", tmp_path / "ages"),
    )
    assert ages["counted"]["reports"] == 2000
    persons = command.answers(
        *("histogram", *both, "--column", "age", "--categories", "0..89", "--mechanism", "hadamard"),
        *(*PROMISE, *ON_SPARK, "--out", tmp_path / "persons", "--work", tmp_path / "work"),
    )
    assert persons["counted"]["reports"] == 2000
    assert main(["verify", str(tmp_path / "ways" / "page.html")]) == 0  # the others: test_on_the_cluster.py
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["ages", "persons", "ways", "work"]  # a folder that nobody named is gone


def test_the_first_rows_of_a_column_that_is_named_like_an_id_are_looked_at(command: Command, tmp_path: Path) -> None:
    pq.write_table(pa.table({"way": ["bus", "car"] * 500, "user.id": np.arange(1000) % 700}), tmp_path / "log.parquet")
    asked = ("histogram", tmp_path / "log.parquet", *WAYS, *PROMISE, *ON_SPARK, "--dry-run")
    assert "700 different values in 1,000 rows of column 'user.id'" in command.refused(*asked)
    assert command.answers(*asked, "--one-row-per-person")["cost"]["reports"] == 1000
    counting = ("count", *asked[1:3], "way", *PROMISE, *ON_SPARK, "--dry-run", "--one-row-per-person", "--value")
    assert "got 'tram', which no row holds" in command.refused(*counting, "tram")
    assert command.answers(*counting, "bus")["cost"]["reports"] == 1000


def test_a_command_that_ended_early_goes_on(
    command: Command, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, draw = list[Any](), spark_commit.encoded

    def ended(*_: object, **__: object) -> None:
        raise InvalidInput("it ended here")

    monkeypatch.setattr(spark_commit, "encoded", lambda *given: drawn.append(draw(*given)))
    words = ("histogram", tables / "part0.parquet", *WAYS, *PROMISE, *ON_SPARK, "--out", tmp_path / "ways")
    with monkeypatch.context() as patch:
        patch.setattr(spark_commit, "release_counts", ended)
        assert command.refused(*words) == "it ended here"
    assert [path.name for path in tmp_path.iterdir()] == [".ways.work"]
    assert command.refused(*words, "--missing", "none").endswith(
        ".ways.work' must be the work folder of this question, got that of another. Name a new folder, or delete this "
        "one."
    )
    assert command.answers(*words)["counted"]["reports"] == 1000
    assert len(drawn) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["ways"]


def test_csv_is_read_as_on_one_machine(command: Command, tables: Path) -> None:
    words = ("histogram", tables / "people.csv", *WAYS, *PROMISE, "--dry-run")
    here, there = command.answers(*words), command.answers(*words, *ON_SPARK)
    assert there["cost"] == here["cost"]
    assert there["cost"]["missing"] == 250
    assert there["design"] == here["design"]
    words = ("mean", tables / "people.csv", "--column", "age", "--lower", 0, "--upper", 999, *PROMISE, "--dry-run")
    assert command.answers(*words, *ON_SPARK)["design"] == command.answers(*words)["design"]


def test_ids_in_csv_are_texts(command: Command, tmp_path: Path) -> None:
    """01 and 1 are two people, here and there; a column of true and false is none of numbers."""
    rows = "".join(f"{'0' * (row % 2)}{row // 2},{row % 90},{row % 3 > 0},{row % 90}d\n" for row in range(2000))
    (tmp_path / "people.csv").write_text("who,age,member,hex\n" + rows)
    words = ("mean", tmp_path / "people.csv", "--lower", 0, "--upper", 90, "--id", "who", *PROMISE, "--dry-run")
    here, there = (command.answers(*words, "--column", "age", *more) for more in ((), ON_SPARK))
    assert there["cost"] == here["cost"]
    assert there["design"] == here["design"]
    for column in ("member", "hex"):
        assert "must hold numbers, got a column of string." in command.refused(*words, "--column", column, *ON_SPARK)


@pytest.mark.parametrize(
    "text, sentence",
    [
        (b"way\nbus\n\ncar\n", "CSV must have two columns or more, with commas between them, for Spark, got ['way']."),
        (
            b"way;age\nbus;1\n",
            "CSV must have two columns or more, with commas between them, for Spark, got ['way;age'].",
        ),
        (
            b"way,age\nbus,1\ncar\n",
            "every file of a table must be whole, and like the others, got: ",
        ),
        (
            b"way,age\nbus,1\ncar,2,3\n",
            "every file of a table must be whole, and like the others, got: ",
        ),
        (b"way,age\nbus,1\nf\xe4hre,2\n", "CSV must be in UTF-8 for Spark, got other bytes."),
    ],
)
def test_csv_that_spark_would_read_otherwise_is_refused(
    text: bytes, sentence: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_bytes(text)
    words = ("histogram", tmp_path / "people.csv", *WAYS, "--other", "else", *PROMISE, *ON_SPARK, "--dry-run")
    assert command.refused(*words).startswith(sentence)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("--column", "wey"), "column must name a column of the table, got 'wey'. Did you mean 'way'?"),
        ((), "--column must be named where there are several, got none. The columns are 'way', 'age', 'who'."),
        (("--column", "way", "--format", "arrow"), "--format must be csv or parquet with --engine, got 'arrow'."),
        (("--column", "way", "--encoding", "latin-1"), "--encoding must be left out with --engine, got 'latin-1'."),
        (("--column", "way", "--id", "who", "--keep", "first"), "--keep must be random with --engine"),
    ],
)
def test_what_is_wrong_is_one_line(
    words: tuple[str, ...], sentence: str, command: Command, tables: Path, tmp_path: Path
) -> None:
    asked = ("histogram", tables / "part0.parquet", "--categories", "bus,car,bike", *PROMISE, *ON_SPARK)
    said = command.refused(*asked, *words, "--out", tmp_path / "result")
    assert said.startswith(sentence)
    assert "\n" not in said
    assert not list(tmp_path.iterdir())


def test_tables_that_are_not_there(command: Command, tables: Path, tmp_path: Path) -> None:
    asked = (*WAYS, *PROMISE, *ON_SPARK, "--out", tmp_path / "result")
    said = command.refused("histogram", tables / "none.parquet", *asked)
    assert said.startswith(f"tables must be there, and be Parquet, got '{tables}/none.parquet': [PATH_NOT_FOUND] ")
    said = command.refused("histogram", tables / "people.csv", *asked, "--format", "parquet")
    assert said.startswith(f"tables must be there, and be Parquet, got '{tables}/people.csv': ")
    said = command.refused("histogram", tables / "people.csv", tables / "part0.parquet", *asked)
    assert said.startswith("tables must be of one format, got CSV and others.")
    assert command.refused("histogram", "-", *asked).startswith("tables must be files with --engine")


def test_nobody_is_read_twice(command: Command, tables: Path, tmp_path: Path) -> None:
    part, asked = tables / "part0.parquet", (*WAYS, *PROMISE, *ON_SPARK, "--out", tmp_path / "result")
    for twice in ((part, part), (tables / "part*.parquet", part)):
        said = command.refused("histogram", *twice, *asked)
        assert said.startswith(
            "tables must name every file once, got 1 again: whoever is in them would have two reports."
        )
    said = command.refused("histogram", *2 * [tables / "people.csv"], *asked)
    assert said.startswith("tables must name every file once, got 1 again")


def test_files_of_different_types(command: Command, tables: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": ["7"]}), tmp_path / "texts.parquet")
    words = ("mean", tables / "part0.parquet", tmp_path / "texts.parquet", "--column", "age", "--lower", 0)
    said = command.refused(*words, "--upper", 90, *PROMISE, *ON_SPARK, "--dry-run")
    assert said.startswith("every file of a table must be whole, and like the others, got: ")


def test_what_a_worker_refuses_names_options_as_they_are_typed(command: Command, tmp_path: Path) -> None:
    pq.write_table(pa.table({"way": ["bus", "car", "bike", "tram"] * 10}), tmp_path / "ways.parquet")
    asked = ("histogram", tmp_path / "ways.parquet", *WAYS, *PROMISE, *ON_SPARK, "--dry-run", "--one-row-per-person")
    assert command.refused(*asked).endswith("count such values together: --other elsewhere.")


def refused_here(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["histogram", *words, *PROMISE, "--out", "result"]) == 2
    return capsys.readouterr().err


def test_without_an_engine(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused_here(capsys, "a.csv", "b.csv", *WAYS)
    assert said == (
        "error: one table must be given without --engine, got 2. Put them into one file, or add --engine spark.\n"
    )
    assert refused_here(capsys, "a.csv", *WAYS, "--work", "w").startswith("error: --work must come with --engine")
    far = refused_here(capsys, "a.csv", *WAYS, "--engine", "spark://host:7077")
    assert far.startswith("error: --work must be given with --engine spark://host:7077")
    assert refused_here(capsys, "a.csv", *WAYS, "--engine", "flink").startswith(
        "error: --engine must be spark or the address of a Spark cluster, got"
    )


def test_another_table_is_not_answered_by_what_was_drawn_of_the_first(
    command: Command, tables: Path, tmp_path: Path
) -> None:
    """The same people every month: all that differs is the table."""
    mine = tmp_path / "mine ü.parquet"
    mine.write_bytes((tables / "part0.parquet").read_bytes())
    asked = ("histogram", *WAYS, *PROMISE, *ON_SPARK, "--work", tmp_path / "work")
    first = command.answers(*asked, mine, "--out", tmp_path / "first")
    again = command.answers(*asked, mine, "--out", tmp_path / "again")
    assert again["tally"] == first["tally"]
    changed = "work' must be the work folder of this question about this table, got that of another. "
    assert changed in command.refused(*asked, tables / "part1.parquet", "--out", tmp_path / "second")
    pq.write_table(pq.read_table(tables / "part1.parquet"), mine)
    assert changed in command.refused(*asked, mine, "--out", tmp_path / "second")
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("--epsilon", "-1", "--delta", "1e-5"), "epsilon must lie in [0, "),
        (("--epsilon", "1", "--delta", "2"), "delta must "),
        ((*PROMISE, "--rounds", "0"), "rounds must be at least 1, got 0."),
        ((*PROMISE, "--work", "a*b"), "the work folder must be a path or an address, without any of "),
        ((*PROMISE, "--work", ""), "the work folder must be a path or an address, without any of "),
    ],
)
def test_what_needs_no_session_is_refused_before_there_is_one(
    words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shuffledp.engines.spark_session.session_at", None)
    assert main(["histogram", "people", *WAYS, *ON_SPARK, "--out", "result", *words]) == 2
    assert capsys.readouterr().err.startswith(f"error: {sentence}")
