"""A series, checked again: every week's page, that its weeks are its own, and that the page of the
series says what they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shuffledp.ledger import Ledger
from shuffledp.page import plain
from shuffledp.series.trend_page import PAGE, series_html
from shuffledp.series.weeks import WEEKS, Tracked
from shuffledp.verify import SECONDS, verify

__all__ = ["CheckedSeries", "check_series"]


@dataclass(frozen=True, slots=True)
class CheckedSeries:
    """The verdict on every week, and what else is wrong."""

    name: str
    weeks: dict[int, str]
    faults: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """pass, FAIL, or incomplete, as of one page."""
        verdicts = set(self.weeks.values())
        if self.faults or "FAIL" in verdicts:
            return "FAIL"
        return "incomplete" if "incomplete" in verdicts else "pass"


def check_series(state: Tracked, *, ledger: Path | None = None, seconds: float | None = None) -> CheckedSeries:
    """Verify every week, with the ledger if the series has one. The page of the series is written
    again and compared, unless there is none.
    """
    payment, book = state.series.payment, None
    if payment is not None:
        book = Ledger(state.folder / payment.path if ledger is None else ledger)
    weeks, faults = {}, []
    for week in state.standing:
        place = state.folder / WEEKS / f"{week:03d}"
        page, table = (_text(place / name) for name in ("page.html", "estimates.csv"))
        if page is None:
            faults.append(f"week {week} has no page")
            continue
        found = verify(page, table=table, ledger=book, seconds=SECONDS if seconds is None else seconds)
        weeks[week] = found.verdict
        faults += [f"week {week}: {check.what}" for check in found.failed]
        if state.standing[week].as_json() != _record(page):
            faults.append(f"week {week}: the page and the estimates.json beside it are of two releases")
    shown = _text(state.folder / PAGE)
    if shown is not None and plain(shown) != plain(series_html(state)):
        faults.append(f"{PAGE} does not say what the weeks say; make it again: shuffledp track plot")
    return CheckedSeries(state.series.name, weeks, tuple(faults))


def _record(page: str) -> object:
    from shuffledp.record import embedded_json

    return embedded_json(page)


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
