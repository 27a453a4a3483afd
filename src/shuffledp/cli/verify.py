"""The command verify: every number of a page, computed again."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shuffledp.cli import show
from shuffledp.cli.app import command
from shuffledp.cli.options import ANSWER, JSON, QUESTION, argument, option, read_number
from shuffledp.cli.show import counted, patiently
from shuffledp.errors import InvalidInput
from shuffledp.wording import quote

if TYPE_CHECKING:
    from shuffledp.verify import Verification

LARGEST = 1 << 27  # bytes
WORDS = {
    "pass": "pass: everything that was computed again agrees, including the certified epsilon and delta",
    "FAIL": "FAIL: {what} does not say what its own design and votes imply; do not rely on it",
    "incomplete": "incomplete: nothing disagrees, but something essential to a verification was not checked",
}
UNREAD = "THE PAGE WAS NOT CHECKED: {why}. Its words may say anything. To see what its record says: {remedy}."
CODES = {"pass": 0, "FAIL": 1, "incomplete": 3}


@command(
    "verify",
    "result/page.html",
    "result/page.html --ledger budget.sqlite",
    "result/estimates.json --json",
    "cities",
    options=[
        argument("file", "FILE", "Page, record (estimates.json) or folder of a series to verify."),
        option("ledger", QUESTION, "The ledger in which it was recorded, to compare with.", Path),
        option("seconds", QUESTION, "Seconds of computing after which the rest is left unchecked: 120.", read_number),
        option("rewrite", ANSWER, "Write a new page of a record that holds.", Path, metavar="NEW.html"),
        JSON,
    ],
)
def verify(file: Path, ledger: Path | None, seconds: float | None, rewrite: Path | None, as_json: bool) -> None:
    """Compute every number of a page again, by a slow oracle that shares no code with the
    accounting.

    The page itself comes first, then the files beside it. The folder of a
    series stands for its page trend.html and for all of its weeks. Exit code 0
    means that all agree, 1 that something does not, 2 that the file is not
    a page, 3 that nothing disagrees, but not enough could be checked, such
    as the words of a page that another version wrote.
    """
    from shuffledp.verify import SECONDS

    seconds = SECONDS if seconds is None else seconds
    series = file.is_dir() and (file / "series.json").is_file()
    if series and rewrite is not None:
        raise InvalidInput(
            f"--rewrite must be left out for the folder of a series, got {str(rewrite)!r}. Run: shuffledp series plot "
            f"{quote(str(file))}"
        )
    found = _of_series(file, ledger, seconds) if series else _of_page(file, ledger, seconds)
    written = None if rewrite is None else _rewrite(rewrite, found)
    if as_json:
        cells = ("what", "claimed", "found", "how", "outcome")
        checks = [{cell: getattr(check, cell) for cell in cells} for check in found.checks]
        failed = [check.what for check in found.failed]
        show.as_json({"file": str(file), "verdict": found.verdict, "failed": failed, "checks": checks})
    else:
        if (unread := found.unread) is not None:
            remedy = f"shuffledp series plot {quote(str(file))}" if series else "--rewrite NEW.html"
            said = "The records of its weeks:" if series else "The record inside it:"
            show.sentences([f"{UNREAD.format(why=unread.how, remedy=remedy)} {said}"])
        verdict = found.verdict if unread is None else found.of_record
        what = "this series" if series else "this page"
        show.sentences([f"{WORDS[verdict].format(what=what)} ({len(found.checks)} checks)."])
        if written is not None:
            show.sentences([f"Wrote {written}: the page of this record by this version of shuffledp."])
        show.bullets(
            [
                f"{check.what}: the page says {check.claimed!r}; found {check.found!r} ({check.how})"
                for check in found.failed
            ]
        )
        unchecked = [check for check in found.checks if check.outcome == "not checked"]
        # What no page can show is the same in each week of a series.
        open_ = sorted((each for each in unchecked if each.vital or not series), key=lambda check: not check.vital)
        show.bullets(f"{check.what}: not checked, {check.how}" for check in open_)
    if found.verdict != "pass":
        raise typer.Exit(code=CODES[found.verdict])


def _of_page(file: Path, ledger: Path | None, seconds: float) -> "Verification":
    """The verification of one page."""
    from shuffledp.record import read_record
    from shuffledp.verify import files_beside
    from shuffledp.verify import verify as verified

    text = _read(file)
    if "htm" in file.name.rpartition(".")[2].lower() and text.lstrip("\ufeff \t\r\n").startswith("{"):
        # A browser would show its strings as a page, which nobody compares with its numbers.
        raise InvalidInput(
            f"{str(file)!r} must be a page, as its name says, got JSON. Verify the page.html that shuffledp wrote, or "
            f"name this file estimates.json."
        )
    places = {name: file.with_name(name) for name in files_beside(read_record(text))}
    beside = {name: _read(place) for name, place in places.items() if place.is_file()}
    if ledger is not None and not ledger.is_file():
        raise InvalidInput(
            f"the ledger {str(ledger)!r} must be a file, got none. Name the one that was given to --ledger when this "
            f"was released."
        )
    book = None
    if ledger is not None:  # which loads the accounting: a page by itself is judged without it
        from shuffledp.ledger import Ledger

        book = Ledger(ledger)
    with counted("summing the certificate again") as tick:
        return verified(text, beside=beside, ledger=book, seconds=seconds, tick=tick)


def _of_series(folder: Path, ledger: Path | None, seconds: float) -> "Verification":
    """The verification of a series, its page and every week; it has no record of its own."""
    from shuffledp.series.checking import check_series
    from shuffledp.series.weeks import tracked

    with patiently("verifying every week"):
        return check_series(tracked(folder, ledger=ledger), ledger=ledger, seconds=seconds)


def _rewrite(place: Path, found: "Verification") -> Path:
    """The page of a record that holds, as this version writes it; when it was made stays."""
    from shuffledp.storage.files import replace_file

    if found.asked is None or found.of_record != "pass":
        raise InvalidInput(
            f"a page is written only of a record that holds, got {found.of_record}. Run the same command without "
            f"--rewrite to see why."
        )
    if place.exists():
        raise InvalidInput(f"{str(place)!r} exists. Name a new file.")
    page = found.asked.said("page", str)
    replace_file(place, lambda new: new.write_text(page, encoding="utf-8"))
    return place


def _read(file: Path) -> str:
    remedy = "Name the page.html or estimates.json that shuffledp wrote."
    if file.is_dir():
        raise InvalidInput(f"{str(file)!r} must be a page, got a folder. Try {str(file / 'page.html')!r}.")
    try:
        with file.open("rb") as opened:
            text = opened.read(LARGEST + 1)  # a device has no size, and no end
        if len(text) > LARGEST:
            raise InvalidInput(f"{str(file)!r} must be a page, got a file of more than {LARGEST} bytes. {remedy}")
        return text.decode("utf-8")
    except OSError as error:
        raise InvalidInput(f"{str(file)!r} must be readable, got: {error.strerror or error}. {remedy}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{str(file)!r} must be a page, got bytes that are not text. {remedy}") from None
