"""All checks of one page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shuffledp.judge.effort import SECONDS, Effort, TooLarge, TooMuch
from shuffledp.judge.oracle import Oracle, Tick
from shuffledp.record import Record, read_record
from shuffledp.verify.check_certificate import check_certificate, of_design
from shuffledp.verify.check_comparison import check_comparison
from shuffledp.verify.check_consistency import check_consistency, check_design
from shuffledp.verify.check_ledger import check_claims, check_ledger
from shuffledp.verify.check_page import FIGURE, check_figure, check_page
from shuffledp.verify.check_sentences import check_sentences
from shuffledp.verify.check_table import COPY, TABLE, check_beside, check_copy, check_table
from shuffledp.verify.handed import Judge, Part
from shuffledp.verify.outcomes import PAGE, Check, unchecked, vital, wrong
from shuffledp.verify.rechecks import Rechecker
from shuffledp.wording import SENTENCES

if TYPE_CHECKING:
    from shuffledp.ledger import Ledger

BROKEN = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RuntimeError,
    MemoryError,
    TooLarge,
    TooMuch,
)


@dataclass(frozen=True, slots=True)
class Verification:
    """Every check of a page, in order, and the code of the question that was ``asked``."""

    checks: tuple[Check, ...]
    asked: Rechecker | None = None

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.outcome == "FAIL")

    @property
    def verdict(self) -> str:
        """pass if nothing failed and what was asked, epsilon and delta, was summed again;
        incomplete if it was not.
        """
        if self.failed:
            return "FAIL"
        return "incomplete" if any(check.vital and check.outcome == "not checked" for check in self.checks) else "pass"

    @property
    def unread(self) -> Check | None:
        """The page, if another version wrote it, so that its words were not compared."""
        return next((check for check in self.checks if check.what == PAGE and check.vital), None)

    @property
    def of_record(self) -> str:
        """The verdict on the record inside the page, no matter what page and figure show."""
        shown = (PAGE, FIGURE)
        return Verification(tuple(each for each in self.checks if not (each.vital and each.what in shown))).verdict


def files_beside(record: Record) -> list[str]:
    """What may lie beside a page, and is compared with it."""
    return [TABLE, COPY, FIGURE, *(f"{name}.csv" for name in record.beside)]


def verify(
    text: str,
    *,
    beside: Mapping[str, str] | None = None,
    ledger: Ledger | None = None,
    seconds: float = SECONDS,
    tick: Tick | None = None,
) -> Verification:
    """Recompute every number of a page (HTML, or its JSON) with the slow oracle; anything that is
    not a page is refused.

    What needs no oracle comes first, the page itself before all: a page that shows something other
    than its record is found out at once, and then nothing else is computed. ``beside`` holds the
    files beside the page, by those names of ``files_beside`` that are there; ``ledger`` is the one
    in which it was recorded. After ``seconds`` of computing the rest is left unchecked.
    """
    record, effort = read_record(text), Effort(seconds)
    judge = Judge.of(record, effort)
    design, law, asked, files = record.design, judge.law, Rechecker(judge), beside or {}
    swap = SENTENCES["swap"] in record.certificate.method
    quick: dict[str, Part] = {
        PAGE: lambda: check_page(text, asked),
        "the design": lambda: check_design(record, law),
        "the consistency": lambda: check_consistency(record, law),
        "the words": lambda: check_sentences(record, law),
        "the estimates": lambda: asked.answer(),
        TABLE: lambda: check_table(files.get(TABLE), record, law),
        "the other tables": lambda: [*check_beside(files, record)],
        COPY: lambda: [check_copy(files[COPY], record)] if COPY in files else [],
        FIGURE: lambda: [*check_figure(files[FIGURE], asked)] if FIGURE in files else [],
        "the ledger": lambda: [] if ledger is None else check_ledger(ledger, record),
        "the ledger's block": lambda: check_claims(
            record.ledger, Oracle(law, design.honest, 1, effort=effort, swap=swap), here=ledger is not None
        ),
    }
    checks = list[Check]()
    for part, check in quick.items():
        checks += _run(part, check)
        if part == PAGE and wrong(checks):
            why = "the oracle is not run for a page that shows something other than its record"
            return Verification((*checks, unchecked("everything else", "", why)), asked)
    oracle = Oracle(law, design.honest, design.rounds, tick, effort, swap=swap)
    # Pairs, so that no recheck takes the place of a part by its name.
    slow: list[tuple[str, Part]] = [
        ("the certificate", lambda: check_certificate(of_design(record), oracle)),
        *judge.last.items(),
        ("the comparison", lambda: check_comparison(record, law, judge.measure)),
    ]
    why, failed = "not computed again, since something is wrong already", wrong(checks)
    for part, check in slow:
        found = [unchecked(part, "", why)] if failed else _run(part, check)
        checks += found
        failed = failed or wrong(found)
    return Verification(tuple(checks), asked)


def _run(part: str, checks: Part) -> list[Check]:
    """A part whose computation breaks down has not been verified: neither wrong nor right."""
    try:
        return list(checks())
    except BROKEN as error:
        why = f"it could not be computed again: {type(error).__name__} {str(error)[:60]}".rstrip()
        return [vital(unchecked(part, "", why))]
