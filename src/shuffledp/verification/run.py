"""All checks of one report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shuffledp.report import embedded, unchanged
from shuffledp.verification.certificate import check_certificate
from shuffledp.verification.checks import Check, equal, unchecked, vital
from shuffledp.verification.comparison import check_comparison
from shuffledp.verification.consistency import check_consistency
from shuffledp.verification.estimates import check_estimates
from shuffledp.verification.form import check_form
from shuffledp.verification.law import Law
from shuffledp.verification.oracle import Oracle, Tick
from shuffledp.verification.words import check_words

__all__ = ["Verification", "verify"]


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
        """pass if nothing failed and what was asked, epsilon and delta, was summed again; incomplete if it was not."""
        if self.failed:
            return "FAIL"
        return "incomplete" if any(check.vital and check.outcome == "not checked" for check in self.checks) else "pass"


def verify(text: str, *, tick: Tick | None = None) -> Verification:
    """Recompute every number of a report (HTML, or its JSON) with the slow oracle; what is no report is refused."""
    facts = embedded(text)
    check_form(facts)
    design, law = facts["design"], Law.of(facts["design"]["law"])
    parts: dict[str, Callable[[], list[Check]]] = {
        "the consistency": lambda: check_consistency(facts, law),
        "the words": lambda: check_words(facts),
        "the certificate": lambda: check_certificate(facts["certificate"], Oracle(law, design["least"], design["rounds"], tick)),
        "the comparison": lambda: check_comparison(facts, law),
        "the estimates": lambda: check_estimates(facts, law),
        "the page": lambda: [_page(text)],
    }
    return Verification(tuple(check for part, checks in parts.items() for check in _run(part, checks)))


def _run(part: str, checks: Callable[[], list[Check]]) -> list[Check]:
    """A part whose computation breaks down has not been verified: neither wrong nor right."""
    try:
        return checks()
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError, RuntimeError) as error:
        return [vital(unchecked(part, "", f"it could not be computed again: {type(error).__name__} {str(error)[:60]}".rstrip()))]


def _page(text: str) -> Check:
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return unchecked("the page", "none", "this is the JSON; report.html shows it")
    return equal("the page", unchanged(text), True, "written again from the facts, letter by letter")
