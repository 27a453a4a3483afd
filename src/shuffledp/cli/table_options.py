"""The options of how a table is read: which column, whose rows, and what is forgiven."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from shuffledp.cli.sharing import argument, option

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.tables.cleaning import Cleaning

__all__ = ["COLUMNS", "MESSY", "MESSY_OPTIONS", "SOURCES", "TABLE", "TABLE_OPTIONS", "Reading"]

TABLE, MESSY = "The table", "If the table is messy"
FORMATS = ("csv", "parquet", "arrow")

TABLE_OPTIONS = [
    option("column", TABLE, "The column to ask about; a table with only one needs no name.", metavar="NAME"),
    option(
        "format", TABLE, f"One of {', '.join(FORMATS)}; if left out, the file's first bytes decide.", metavar="NAME"
    ),
    option(
        "ids",
        TABLE,
        "The column that says whose row it is: one row of each person takes part.",
        metavar="NAME",
        flag="id",
    ),
    option(
        "keep",
        TABLE,
        "Which row of a person with several values to keep: first or random; if left out, first.",
        metavar="NAME",
    ),
    option(
        "one_row_per_person",
        TABLE,
        "Every row is another person, though a column that is named like an id repeats.",
        default=False,
    ),
]
SOURCES = argument(
    "source", "A CSV, Parquet or Arrow file, or - for standard input.", metavar="FILE...", annotation=list[str]
)
COLUMNS = option(
    "column",
    TABLE,
    "The column to ask about, or each of those of a crosstab; a table with only one needs no name.",
    annotation=list[str],
    metavar="NAME",
)
MESSY_OPTIONS = [
    option("strip", MESSY, "Ignore spaces before and after a text.", default=False),
    option("ignore_case", MESSY, "Ignore upper and lower case, and how accents are composed.", default=False),
    option("na", MESSY, "Texts that mean a missing value, such as NA,N/A.", metavar="LIST"),
    option("decimal", MESSY, "The decimal mark of numbers: . or ,", metavar="MARK"),
    option("thousands", MESSY, "The thousands separator, such as . in 1.234,5.", metavar="MARK"),
    option(
        "encoding",
        MESSY,
        "For CSV: the encoding of its text, such as latin-1 or utf-16; if left out, utf-8.",
        metavar="NAME",
    ),
]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is read: which column, whose rows, and what is forgiven."""

    source: str
    column: str | list[str] | None
    format: str | None
    ids: str | None
    keep: str
    cleaning: "Cleaning"
    encoding: str | None
    one_row_per_person: bool

    @classmethod
    def taken(cls, options: dict[str, Any]) -> Self:
        """Take what belongs here out of the options of a command."""
        from shuffledp.tables.cleaning import Cleaning, check_encoding
        from shuffledp.tables.people import check_keep

        source, column, format, ids, keep, alone = (
            options.pop(name) for name in ("source", "column", "format", "ids", "keep", "one_row_per_person")
        )
        strip, ignore_case, na, decimal, thousands, encoding = (options.pop(name) for name, _ in MESSY_OPTIONS)
        words = () if na is None else tuple(part.strip() for part in na.split(","))
        cleaning = Cleaning(strip=strip, ignore_case=ignore_case, na=words, decimal=decimal or ".", thousands=thousands)
        return cls(
            source,
            column,
            format,
            ids,
            check_keep(keep, ids),
            cleaning,
            None if encoding is None else check_encoding(encoding),
            alone,
        )

    @property
    def columns(self) -> list[str]:
        """All columns that were named."""
        if self.column is None:
            return []
        return [self.column] if isinstance(self.column, str) else self.column

    def fields(self) -> dict[str, Any]:
        """The same as arguments."""
        return {name: getattr(self, name) for name in self.__slots__}
