"""The commands ledger show, check and export: what was spent, without touching it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shuffledp.cli import show
from shuffledp.cli.app import command
from shuffledp.cli.options import ANSWER, JSON, QUESTION, argument, option
from shuffledp.cli.show import patiently
from shuffledp.errors import InvalidInput
from shuffledp.storage.files import check_file, replace_file
from shuffledp.wording import rounded

if TYPE_CHECKING:
    from shuffledp.ledger import Ledger

UNPUBLISHED = (
    "A release that is recorded but not published counts as well: its output may never have been put in "
    "place, and nobody can tell what was seen of it."
)
FILE = argument("file", "FILE", "The ledger, as given to --ledger.")


@command(
    "ledger show",
    "budget.sqlite --population app-users",
    options=[FILE, option("population", QUESTION, "Only this one; if left out, all."), JSON],
)
def show_(file: Path, population: str | None, as_json: bool) -> None:
    """Every release, and the certified epsilon of all of them together against the limit."""
    from shuffledp.ledger import check_name

    book = _open(file)
    if population is not None:
        population = check_name(population)
        book.releases(population)  # refuses a name that is not there
    with patiently("composing every release"):
        facts = book.export()
    chosen = [each for each in facts["populations"] if population in (None, each["name"])]
    if as_json:
        return show.as_json(facts | {"populations": chosen})
    if not chosen:
        print(f"{file} holds no release yet.")
    for each in chosen:
        show.answer(each["name"], [], [])
        show.table(
            ["id", "epsilon", "users", "rounds", "recorded, UTC", "state", "what"],
            [_row(one) for one in each["releases"]],
            numbers=4,
        )
        total = each["total"]["epsilon"]
        upper, lower = (
            "infinite" if end is None else rounded(end, up=up)
            for end, up in ((total["upper"], True), (total["lower"], False))
        )
        least = "" if total["lower"] == 0.0 else f", at least {lower}"
        limit = f"epsilon = {show.short(each['limit_epsilon'])} at delta = {show.exactly(each['limit_delta'])}"
        together = (
            f"\nTogether: epsilon is at most {upper}{least}, at delta = "
            f"{show.exactly(each['limit_delta'])}. The limit is {limit}."
        )
        show.sentences([f"{together} {_more(each['more'])}\n"])
    if any(one["state"] == "recorded" for each in chosen for one in each["releases"]):
        show.sentences([UNPUBLISHED])
    return None


def _more(count: int) -> str:
    """What is left, in releases like the last one."""
    if not count:
        return "Not one more like the last fits."
    return f"{'At least ' * (count >= 100)}{count:,} more like the last {'fits' if count == 1 else 'fit'}."


def _row(release: dict[str, Any]) -> tuple[str, ...]:
    entry = release["entry"]
    # a part of one user is a chance that is counted beside the people who are asked
    parts = [part for part in entry["parts"] if part["n"] > 1] or entry["parts"]
    users, rounds = min(part["n"] for part in parts), sum(part["rounds"] for part in parts)
    when = release["recorded"][:16].replace("T", " ")  # the minute, in universal time
    return (
        str(release["id"]),
        rounded(entry["epsilon"], up=True),
        f"{users:,}{' a level' * parts[0].get('at_most', False)}",
        f"{rounds:,}",
        when,
        release["state"],
        entry["what"],
    )


@command(
    "ledger check",
    "budget.sqlite",
    f"budget.sqlite --last {'5e' * 32}",
    options=[
        FILE,
        option("last", QUESTION, "Seal of a record that must be there, from a page or a copy of the ledger."),
        JSON,
    ],
)
def check(file: Path, last: str | None, as_json: bool) -> None:
    """Check the file, the chain of records, every entry and every total again.

    Nothing in a file can show that its end was cut off, or that an older copy took its place. With
    --last, the seal of the last release that you know of, this is detected.

    Exit code 0: all confirmed; 1: something is wrong, one line each.
    """
    with patiently("checking every release"):
        book = _open(file)
        found = book.check(last=None if last is None else last.strip().lower())
    if as_json:
        show.as_json({"ok": not found.faults, "faults": list(found.faults), "remarks": list(found.remarks)})
    else:
        for fault in found.faults:
            print(f"fault: {fault}")
        for remark in found.remarks:
            print(f"note: {remark}.")
        if not found.faults:
            count = len(book.releases())
            print(f"ok: {count} release{'s' * (count != 1)}; every record, seal and total was confirmed.")
    if found.faults:
        raise typer.Exit(code=1)


@command(
    "ledger export",
    "budget.sqlite",
    "budget.sqlite --out budget.csv",
    options=[FILE, option("out", ANSWER, "A .json or .csv file; if left out, JSON is printed.", Path), JSON],
)
def export(file: Path, out: Path | None, as_json: bool) -> None:
    """Everything in the ledger, with certified totals, as JSON or as CSV."""
    from shuffledp.ledger import write_csv, write_json

    if as_json and out is not None:
        raise InvalidInput(f"--json prints what --out would write, got both with {str(out)!r}. Leave one out.")
    if out is not None and out.suffix not in (".json", ".csv"):
        raise InvalidInput(
            f"--out must end in .json or .csv, got {str(out)!r}. JSON has everything; CSV has a line for every release."
        )
    if out is not None and check_file(out).exists() and out.samefile(file):
        raise InvalidInput(f"--out must not be the ledger itself, got {str(out)!r}. Choose another name.")
    with patiently("composing every release"):
        facts = _open(file).export()
    if out is None:
        print(json.dumps(facts, indent=2, allow_nan=False))
        return
    write = write_csv if out.suffix == ".csv" else write_json
    replace_file(out, lambda temporary: write(facts, temporary))
    print(f"written to {out}")


def _open(file: Path) -> "Ledger":
    """The ledger, which must be there: a question creates nothing."""
    from shuffledp.ledger import Ledger

    if not file.exists():
        raise InvalidInput(
            f"the ledger {str(file)!r} must exist, got none. Check the path; the first release with --ledger creates "
            f"it."
        )
    return Ledger(file)
