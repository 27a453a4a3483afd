"""What terminal and notebook say of a release, in the same sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shuffledp.collection.page.clipping import NOT_THE_MEAN, clipped, clipping
from shuffledp.wording import exactly, rounded

__all__ = ["LEARNED", "certified", "charged", "headline", "warned"]

LEARNED = (
    "The categories were learned from the data: their list says which values occur, and no guarantee covers "
    "that. All of them are published."
)


def headline(facts: Mapping[str, Any]) -> str:
    """What was asked, and of how many."""
    counted = facts["counted"]
    missing = f", {counted['missing']:,} values missing" if counted["missing"] else ""
    again = f", {counted['repeated']:,} rows left out whose person has another one" if counted.get("repeated") else ""
    return f"{facts['asked']['what']}: {counted['reports']:,} reports{missing}{again}"


def warned(facts: Mapping[str, Any]) -> list[str]:
    """What nobody must overlook."""
    said = [f"{NOT_THE_MEAN} {clipping(facts)}"] if clipped(facts) else []
    return said + ([LEARNED] if facts["asked"]["learned"] else [])


def certified(facts: Mapping[str, Any]) -> str:
    """What is certified."""
    bound, rounds = facts["certificate"]["epsilon"], facts["design"]["rounds"]
    together = "" if rounds == 1 else f", for all {rounds} rounds together"
    return (
        f"Certified: epsilon is at most {rounded(bound['upper'], up=True)} at delta = "
        f"{exactly(bound['delta'])}{together}."
    )


def charged(facts: Mapping[str, Any]) -> str:
    """What was spent of the budget, as a sentence that may go on."""
    budget = facts["ledger"]
    spent, limit = rounded(budget["total"]["upper"], up=True), budget["limit"]
    return (
        f"Budget of {budget['population']!r}: {spent} of {limit['epsilon']:g} spent; this is release "
        f"{budget['releases']}"
    )
