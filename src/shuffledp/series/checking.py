"""A series, checked again: every week's record and page, that the weeks are those of one design,
and that the page of the series says what they say.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger
from shuffledp.record import Record, embedded_json
from shuffledp.series.series_file import check_order
from shuffledp.series.trend import trend_of, write_trend
from shuffledp.series.trend_page import PAGE, TABLE, WRITER, series_html
from shuffledp.series.weeks import Tracked, folder_of
from shuffledp.verify import SECONDS, Verification, files_beside, verify
from shuffledp.verify.check_page import compared, running
from shuffledp.verify.outcomes import Check, equal, holds, unchecked, vital

LINK = re.compile(r'<a href="weeks/\d{3}/page\.html">|</a>')  # what the page of a series has, and no other


def check_series(state: Tracked, *, ledger: Path | None = None, seconds: float = SECONDS) -> Verification:
    """Verify a series: its page, unless there is none; its weeks, together; and each by itself,
    with the ledger if the series has one.
    """
    payment, book = state.series.ledger, None
    if payment is not None:
        book = Ledger(state.folder / payment.path if ledger is None else ledger)
    checks = [*_check_trend(state), *_check_table(state), *_check_weeks(state)]
    for week, record in state.standing.items():
        found = _check_week(folder_of(state.folder, week), record, book, seconds)
        checks += [replace(check, what=f"week {week}: {check.what}") for check in found]
    return Verification(tuple(checks))


def _check_week(place: Path, record: Record, ledger: Ledger | None, seconds: float) -> list[Check]:
    """One week by itself: its page is of the record beside it, and holds."""
    page = _text(place / "page.html")
    beside = {name: text for name in files_beside(record) if (text := _text(place / name)) is not None}
    try:
        same = page is not None and embedded_json(page) == record.as_json()
        found = [] if page is None else verify(page, beside=beside, ledger=ledger, seconds=seconds).checks
    except InvalidInput as error:
        return [holds("the page", "no page", "one", str(error), False)]
    return [holds("estimates.json", "a release", "that of the page", "the page beside it", same), *found]


def _check_trend(state: Tracked) -> Iterator[Check]:
    """The page of the series, written again and compared; one of another version runs nothing."""
    text = _text(state.folder / PAGE)
    if text is None:
        yield unchecked(PAGE, "none", "shuffledp series plot writes it")
        return
    wrote = WRITER.findall(text)
    found = compared(text, series_html(state), wrote[-1] if wrote else "", "its last line")
    if found.vital:
        active = next(running(LINK.sub("", text), ""), None)
        yield holds(f"what {PAGE} runs or loads", active or "nothing", "nothing", "its source text", active is None)
    yield found


def _check_table(state: Tracked) -> Iterator[Check]:
    """The table of the series, written again and compared."""
    text = _text(state.folder / TABLE)
    if text is None:
        yield unchecked(TABLE, "none", "shuffledp series plot writes it")
        return
    with TemporaryDirectory() as folder:
        again = Path(folder) / TABLE
        write_trend(trend_of(state), again)
        said, due = _rows(text), _rows(again.read_text(encoding="utf-8"))
    same = f"{len(due)} rows"
    place = next((at for at, (one, other) in enumerate(zip(said, due, strict=False), 1) if one != other), 0)
    told = f"row {place}" if place else f"{len(said)} rows"
    yield holds(TABLE, told, same, "written again from the weeks and compared", said == due)


def _rows(text: str) -> list[list[str]]:
    """Cells to compare: numbers with as many digits as every machine computes alike."""
    try:
        return [[_digits(cell) for cell in row] for row in csv.reader(io.StringIO(text, newline=""))]
    except csv.Error:
        return []


def _digits(cell: str) -> str:
    try:
        return f"{float(cell):.9g}"
    except ValueError:
        return cell


def _check_weeks(state: Tracked) -> Iterator[Check]:
    """All weeks are of the design of the series, in their order, none missing and none twice."""
    periods, weeks = state.periods(), state.standing
    if not weeks:
        yield vital(unchecked("the weeks", "none", "this folder has none, so nothing was released"))
    for week, record in weeks.items():
        once = "all weeks are of one design"
        yield equal(f"week {week}: the design of the series", record.design.digest, state.series.design.digest, once)
        try:
            check_order(week, periods[week], {other: said for other, said in periods.items() if other != week})
        except InvalidInput as error:
            yield holds(f"week {week}: the period", periods[week], "one in order", str(error), False)
    for (week, record), (other, again) in combinations(weeks.items(), 2):
        if record.secure and (record.made, record.tally) == (again.made, again.tally):
            yield holds(f"week {other}", f"the release of week {week}", "a release", "their votes and times", False)
    for week in sorted({*range(1, max(state.taken, default=0) + 1)} - set(weeks)):
        why = "the ledger says that it was released" if week in state.taken else "a later week is there"
        yield vital(unchecked(f"week {week}", "not in this folder", why))
    if state.paid is None and 0 < (last := max(weeks, default=0)) < state.series.weeks:
        why = "without a ledger nobody can tell whether a later one was released: the last weeks may be missing"
        yield unchecked("the last week", f"week {last} of {state.series.weeks}", why)


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
