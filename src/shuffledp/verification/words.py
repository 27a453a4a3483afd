"""The words of a certificate: what its design implies, letter by letter. They come from the accounting itself; its numbers do not."""

from __future__ import annotations

from typing import Any

from shuffledp.errors import InvalidInput
from shuffledp.protocols.design import Design
from shuffledp.report.statements import ADJACENCY, ADVERSARY, COUNTS, ONE_ROW
from shuffledp.verification.checks import Check, equal, holds, unchecked

__all__ = ["check_words"]


def check_words(facts: dict[str, Any]) -> list[Check]:
    """Method, assumptions, adversary and adjacency, and what is said about the categories; the words of the user are not checked."""
    certificate, asked = facts["certificate"], facts["asked"]
    how = "what this design implies, in the words of this version of shuffledp"
    try:
        design = Design.from_json(facts["design"])
        guarantee = design.protocol.guarantee
    except InvalidInput as error:
        return [holds("the design", "one that runs", str(error), "read as a client would", False)]
    numerical, bound = certificate["numerical_error"], "none, for several rounds" if design.facts["rounds"] > 1 else "from 0 to 0.1"
    return [
        holds("the design", "one that runs", "it does", "read as a client would", True),
        equal("the method", certificate["method"], guarantee.method, how),
        equal("the assumptions", certificate["assumptions"], [*guarantee.assumptions, ONE_ROW, COUNTS], how),
        equal("the adversary", certificate["adversary"], ADVERSARY, how),
        equal("the adjacency", certificate["adjacency"], ADJACENCY, how),
        equal("whether categories were learned", asked["learned"], design.facts["learned"], "the design"),
        holds("the numerical error", numerical, bound, "that there is one; the oracle has its own", (numerical is None) == (design.facts["rounds"] > 1)),
        unchecked("the question", asked.get("title") or asked.get("what") or "", "these are the words of whoever asked"),
        unchecked("the notes", f"{len(facts['notes'])} notes", "advice, not a claim"),
        unchecked("when and with what it was made", facts["made"]["when"], "a report cannot prove it"),
    ]
