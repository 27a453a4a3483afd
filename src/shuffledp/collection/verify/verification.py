"""All checks of one report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from shuffledp.collection.page import embedded
from shuffledp.collection.verify.beside import check_table
from shuffledp.collection.verify.certified_again import check_certificate
from shuffledp.collection.verify.consistency import check_consistency
from shuffledp.collection.verify.counted_law import Law
from shuffledp.collection.verify.effort import SECONDS, Effort, TooMuch
from shuffledp.collection.verify.form import check_form
from shuffledp.collection.verify.oracle import Oracle, Tick
from shuffledp.collection.verify.outcomes import Check, unchecked, vital
from shuffledp.collection.verify.recorded import check_claims, check_ledger
from shuffledp.collection.verify.recount import check_estimates
from shuffledp.collection.verify.shown import check_page
from shuffledp.collection.verify.trust import check_comparison
from shuffledp.collection.verify.wordings import check_words
from shuffledp.literature.exact.lattice import TooLarge

__all__ = ["Verification", "verify"]

Part = Callable[[], list[Check]]


@dataclass(frozen=True, slots=True)
class Verification:
    """Every check of a report, in order."""

    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == "FAIL")

    @property
    def verdict(self) -> str:
        """pass if nothing failed and what was asked, epsilon and delta, was summed again;
        incomplete if it was not.
        """
        if self.failed:
            return "FAIL"
        return "incomplete" if any(check.vital and check.outcome == "not checked" for check in self.checks) else "pass"


def verify(
    text: str,
    *,
    table: str | None = None,
    ledger: Path | None = None,
    seconds: float = SECONDS,
    tick: Tick | None = None,
) -> Verification:
    """Recompute every number of a report (HTML, or its JSON) with the slow oracle; what is no
    report is refused.

    What needs no oracle comes first, the page itself before all: a page that shows something else
    than its facts is found out at once, and then nothing else is computed. ``table`` is the
    estimates.csv beside the report, ``ledger`` the file in which it was recorded. After ``seconds``
    of computing the rest is left unchecked.
    """
    effort = Effort(seconds)
    facts = embedded(text)
    strange, law = check_form(facts), Law.of(facts["design"]["law"])
    design = facts["design"]
    quick: dict[str, Part] = {
        "the page": lambda: check_page(text, facts),
        "the consistency": lambda: check_consistency(facts, law),
        "the words": lambda: check_words(facts, law),
        "the estimates": lambda: check_estimates(facts, law),
        "estimates.csv": lambda: check_table(table, facts, law),
        "the ledger": lambda: [] if ledger is None else check_ledger(ledger, facts),
        "the ledger's block": lambda: check_claims(facts, Oracle(law, design["least"], 1, effort=effort)),
    }
    slow: dict[str, Part] = {
        "the certificate": lambda: check_certificate(
            facts["certificate"], Oracle(law, design["least"], design["rounds"], tick, effort)
        ),
        "the comparison": lambda: check_comparison(facts, law),
    }
    checks = (
        [vital(unchecked("fields of a later edition", ", ".join(strange), "this version does not know them"))]
        if strange
        else []
    )
    for part, found in quick.items():
        checks += _run(part, found)
        if part == "the page" and any(check.outcome == "FAIL" for check in checks):
            return Verification(
                (
                    *checks,
                    unchecked("everything else", "", "a page that shows something else than its facts is not worth it"),
                )
            )
    for part, found in slow.items():
        wrong = any(check.outcome == "FAIL" for check in checks)
        checks += (
            [unchecked(part, "", "not computed again, since something is wrong already")]
            if wrong
            else _run(part, found)
        )
    return Verification(tuple(checks))


def _run(part: str, checks: Part) -> list[Check]:
    """A part whose computation breaks down has not been verified: neither wrong nor right."""
    try:
        return checks()
    except (
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
    ) as error:
        return [
            vital(
                unchecked(
                    part, "", f"it could not be computed again: {type(error).__name__} {str(error)[:60]}".rstrip()
                )
            )
        ]
