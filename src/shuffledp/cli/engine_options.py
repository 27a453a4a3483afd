"""The options of where the data are, other than here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shuffledp.cli.sharing import option
from shuffledp.errors import InvalidInput

__all__ = ["ENGINE", "ENGINE_OPTIONS", "LOCAL", "Engine", "check_engine"]

ENGINE = "Where the data are"
LOCAL = "local[*]"  # Spark on all cores of this machine

ENGINE_OPTIONS = [
    option(
        "engine",
        ENGINE,
        "Run it on an engine: spark. FILE may then be several tables, folders or patterns.",
        metavar="NAME",
    ),
    option("master", ENGINE, "Where Spark runs, such as spark://host:7077; if left out, local[*].", metavar="ADDRESS"),
    option(
        "work",
        ENGINE,
        "The folder for what Spark draws, on storage that all its workers share; one that was committed is gone on "
        "with. If left out, one beside --out, which is removed at the end.",
        metavar="FOLDER",
    ),
]


@dataclass(frozen=True, slots=True)
class Engine:
    """Where a question runs, other than here: on Spark."""

    master: str
    work: str | None
    tables: tuple[str, ...]

    @classmethod
    def of(cls, name: str | None, master: str | None, work: str | None, table: dict[str, Any]) -> "Engine | None":
        """The engine that the options name, if any; what it cannot do is refused."""
        tables = table["source"]
        check_engine(name, master, work)
        if name is None:
            if len(tables) > 1:
                raise InvalidInput(
                    f"one table must be given without --engine, got {len(tables)}. Put them into one file, or add "
                    f"--engine spark."
                )
            return None
        _check_table(tables, table)
        place = LOCAL if master is None else master
        if work is None and not place.startswith("local"):
            raise InvalidInput(
                f"--work must be given with --master {place}, got none. Name a folder on storage that all its workers "
                f"share, such as hdfs:///tmp/poll."
            )
        return cls(place, work, tuple(tables))


def check_engine(name: str | None, master: str | None, work: str | None = None) -> None:
    """Refuse an engine that there is not, and options of one where none is asked for."""
    for word, given in (("--master", master), ("--work", work)):
        if name is None and given is not None:
            raise InvalidInput(f"{word} must come with --engine, got none. Add --engine spark.")
    if name not in (None, "spark"):
        raise InvalidInput(f"--engine must be spark, got {name!r}. Leave it out to run here, on one machine.")


def _check_table(tables: Sequence[str], table: dict[str, Any]) -> None:
    """Refuse what only one machine can do."""
    if "-" in tables:
        raise InvalidInput("tables must be files with --engine, got standard input. Save it where Spark can read it.")
    if table["keep"] == "first":
        raise InvalidInput(
            "--keep must be random with --engine, where no row is the first, got 'first'. Leave it out, or keep one "
            "row of each person before."
        )
    if table["encoding"] is not None:
        raise InvalidInput(
            f"--encoding must be left out with --engine, got {table['encoding']!r}. Convert the table to Parquet first."
        )
    if table["format"] not in (None, "csv", "parquet"):
        raise InvalidInput(
            f"--format must be csv or parquet with --engine, got {table['format']!r}. Convert the table first."
        )
