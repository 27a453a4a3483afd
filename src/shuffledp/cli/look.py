"""The command look: what a table holds, what would go wrong with it, and the command that asks
about it.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shuffledp.cli import show
from shuffledp.cli.app import command
from shuffledp.cli.options import JSON, MESSY, TABLE, argument, option, read_count
from shuffledp.cli.show import progress
from shuffledp.errors import InvalidInput, printable
from shuffledp.wording import quote

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.tables.profile import Look, Seen

NOT_PRIVATE = (
    "What you see here are true values: they are for the owner of the table only, and none of this is protected."
)
FROM_DATA = (
    "The {what} in this command were taken from the data: they are not declared beforehand, and no guarantee covers "
    "them. Before you publish anything, replace them with ones that are known without the data."
)
LISTED, LONGEST_LIST, SPELLINGS = 20, 200, 5


@command(
    "look",
    "people.csv",
    "people.csv --column city",
    options=[
        argument("source", "FILE", "A CSV, Parquet or Arrow file.", str),
        option("column", TABLE, "The column that the command asks about."),
        option("format", TABLE, "csv, parquet or arrow."),
        option("encoding", MESSY, "For CSV; if left out, the usual ones are tried."),
        option("rows", TABLE, "How many rows to read; if left out, a million.", read_count),
        JSON,
    ],
)
def look(
    source: str, column: str | None, format: str | None, encoding: str | None, rows: int | None, as_json: bool
) -> None:
    """What a table holds, what would go wrong with it, and a command to copy. It shows true values,
    to you alone.
    """
    from shuffledp.tables.columns import nearest
    from shuffledp.tables.profile import FIRST_ROWS, NESTED, look_at

    most = FIRST_ROWS if rows is None else rows
    if most < 1:
        raise InvalidInput(f"--rows must be at least 1, got {most}. Leave it out for the first million.")
    with progress("looking") as watched:
        found = look_at(source, format=format, encoding=encoding, most=most, tick=watched(None, lambda: None))  # type: ignore[arg-type]
    names = [each.name for each in found.columns]
    if column is not None and column not in names:
        raise InvalidInput(f"column must name a column of {found.title}, got {column!r}. {nearest(column, names)}")
    chosen = next((each for each in found.columns if each.name == column), None) or _promising(found)
    if chosen is not None and chosen.kind == NESTED:
        raise InvalidInput(f"column {column!r} must hold text or numbers, got {NESTED}. Make a column of each part.")
    asked = None if chosen is None else _command(source, found, chosen, format)
    if as_json:
        columns = [each.as_json() | {"problems": _problems(each)} for each in found.columns]
        facts: dict[str, Any] = {cell: getattr(found, cell) for cell in ("rows", "more", "encoding")}
        asks = {"command": None if asked is None else asked.line, "private": False}
        facts = {"source": source} | facts | {"columns": columns, "repeated_names": found.twice}
        return show.as_json(facts | asks, [NOT_PRIVATE])
    return _shown(found, asked)


def _shown(found: "Look", asked: "_Suggestion | None") -> None:
    some = f"the first {found.rows:,} rows; there are more" if found.more else f"{found.rows:,} rows"
    show.answer(f"{found.title}: {some}, {len(found.columns)} columns", [], [NOT_PRIVATE])
    print()
    cells = [
        (f"{each.missing:,}", f"{each.distinct:,}", each.kind, printable(each.name), _sample(each))
        for each in found.columns
    ]
    show.table(["missing", "different", "kind", "column", "most frequent"], cells, numbers=2)
    problems = [f"{printable(each.name)}: {said}" for each in found.columns for said in _problems(each)]
    if found.encoding is not None:
        problems.insert(0, f"the text is not UTF-8; as {found.encoding} it can be read: --encoding {found.encoding}")
    problems += [
        f"{name!r} names several columns: rename them, or none of them can be asked about" for name in found.twice
    ]
    if problems:
        show.sentences(["\nWhat to watch for:"])
        show.bullets(problems)
    if asked is None:
        return show.sentences(
            [
                "\nNo column lends itself to a question: none holds a few different values, or numbers. Name one with "
                "--column."
            ]
        )
    show.sentences(["\nTo ask about it, copy this; --dry-run in place of --out result shows the plan first:\n"])
    show.command(asked.line)
    return show.sentences([f"\n{said}" for said in asked.remarks])


def _sample(seen: "Seen") -> str:
    return printable(", ".join(text if len(text) <= 20 else text[:20] + "..." for text, _ in seen.top[:3]))


def _problems(seen: "Seen") -> list[str]:
    """What would go wrong with a column, and the remedy."""
    said = []
    if seen.name in seen.labels:
        said.append(
            "its name is one of its values too: does the first line name the columns, or is it somebody's row, which "
            "would be lost?"
        )
    if seen.missing == seen.rows:
        said.append("it holds no value at all")
    for group in seen.alike[:SPELLINGS]:
        said.append(f"{', '.join(map(repr, group[:SPELLINGS]))} may be the same: {_remedy(group)}")
    if len(seen.alike) > SPELLINGS:
        said.append(f"{len(seen.alike) - SPELLINGS:,} more values are spelled in several ways")
    if seen.absent:
        words = ", ".join(f"{word!r} ({count:,})" for word, count in list(seen.absent.items())[:SPELLINGS])
        said.append(
            f"{words} may mean that there is no value: --na "
            f"{quote(','.join(dict.fromkeys(word.strip() for word in seen.absent)))}"
        )
    if seen.blanks and not seen.alike:
        said.append(f"{seen.blanks:,} values begin or end with spaces: --strip")
    if seen.decimal_commas:
        said.append(f"{seen.decimal_commas:,} numbers have a decimal comma: --decimal ,")
    if seen.thousands:
        said.append(
            f"{'points' if seen.thousands == '.' else 'commas'} separate thousands: --thousands {seen.thousands}"
        )
    if seen.formulas:
        said.append(f"{seen.formulas:,} values begin like a formula (= + - @): a spreadsheet may run them")
    if seen.names_people and seen.repeats:
        said.append(
            f"{seen.repeats:,} rows repeat a value of a column that seems to name people: --id {quote(seen.name)} "
            f"counts each person once"
        )
    return said


def _remedy(group: list[str]) -> str:
    from shuffledp.tables.cleaning import Cleaning

    ways = {
        "--strip": Cleaning(strip=True),
        "--ignore-case": Cleaning(ignore_case=True),
        "--strip --ignore-case": Cleaning(strip=True, ignore_case=True),
    }
    return next(
        (way for way, rules in ways.items() if len({rules.key(text) for text in group}) == 1), "correct the table"
    )


def _promising(found: "Look") -> "Seen | None":
    """The first column that a question could be about: a few values, or numbers; not one that names
    people.
    """
    rest = [each for each in found.columns if not each.names_people and not each.mostly_different]
    few = (each for each in rest if each.kind in ("text", "true or false") and 2 <= each.distinct <= 1000)
    return next(few, None) or next((each for each in rest if each.is_number and each.lowest is not None), None)


@dataclass(frozen=True, slots=True)
class _Suggestion:
    """A command, and what to say about it."""

    line: str
    remarks: list[str]


def _command(source: str, found: "Look", seen: "Seen", format: str | None) -> _Suggestion:
    """The command that asks about a column, with the options that it needs."""
    rules, remarks = seen.cleaning(), list[str]()
    file = quote(f"./{source}" if source.startswith("-") else source)
    what: str | None
    if seen.is_number and seen.lowest is not None and seen.highest is not None:
        lower, upper = _outwards(seen.lowest, seen.highest)
        words, what = (
            ["mean", file, "--column", quote(seen.name), "--lower", f"{lower:g}", "--upper", f"{upper:g}"],
            "bounds",
        )
    else:
        listed, many = _categories(seen, rules)
        words, what = ["histogram", file, "--column", quote(seen.name), "--categories", quote(listed)], "categories"
        if many:
            what = None
            remarks.append(
                "categories.txt is yours to write: the possible answers, one per line, as they are known without the "
                "data."
            )
    flags = {"--strip": rules.strip, "--ignore-case": rules.ignore_case}
    words += [flag for flag, given in flags.items() if given]
    valued = {
        "--na": ",".join(rules.na),
        "--decimal": rules.decimal.replace(".", ""),
        "--thousands": rules.thousands,
        "--encoding": found.encoding,
        "--format": format,
    }
    words += [part for flag, value in valued.items() if value for part in (flag, quote(value))]
    several = [each for each in found.columns if each.names_people and each.repeats and each.name != seen.name]
    if several:
        whose = max(several, key=lambda each: each.distinct)
        words += ["--id", quote(whose.name)]
        remarks.append(
            f"{whose.name!r} seems to say whose row it is, and some have several: --id counts each person once. If "
            f"every row is another person, say --one-row-per-person instead."
        )
    delta = f"1e-{max(6, math.ceil(math.log10(found.rows)) + 2)}"
    line = " ".join(["shuffledp", *words, "--epsilon", "1", "--delta", delta, "--out", "result"])
    return _Suggestion(line, [*([] if what is None else [FROM_DATA.format(what=what)]), *remarks])


def _categories(seen: "Seen", rules: Any) -> tuple[str, bool]:
    """The categories as a list, or the name of a file where a list would not do."""
    spellings = dict[str, str]()
    for text in seen.labels:
        if not rules.absent(text) and rules.key(text):
            spellings.setdefault(rules.key(text), text.strip() if rules.strip else text)
    listed = ",".join(sorted(spellings.values()))
    plain = all(label.isprintable() and "," not in label and label == label.strip() for label in spellings.values())
    fits = 2 <= len(spellings) <= LISTED and len(listed) <= LONGEST_LIST and plain
    return (listed, False) if fits else ("categories.txt", True)


def _outwards(lowest: float, highest: float) -> tuple[float, float]:
    """Round bounds that enclose all: from 0 where nothing is negative."""
    return (0.0 if lowest >= 0 else -_ceiling(-lowest)), (
        0.0 if highest <= 0 < -lowest else _ceiling(max(highest, 1e-300))
    )


def _ceiling(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50, ... that is not below.

    >>> _ceiling(77.0), _ceiling(120.0), _ceiling(0.3)
    (100.0, 200.0, 0.5)
    """
    unit = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{step * unit:g}") for step in (1, 2, 5, 10, 20) if float(f"{step * unit:g}") >= value)
