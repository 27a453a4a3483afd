"""What the parts of a report say about each other: counts, promises, integers, hashes."""

from __future__ import annotations

from typing import Any

from shuffledp.collection.page import HASHED, known
from shuffledp.collection.page.clipping import CLIPPED_TO_BOUNDS
from shuffledp.collection.page.editions import since
from shuffledp.collection.verify.check_estimates import size_of
from shuffledp.collection.verify.counted_law import CountedLaw
from shuffledp.collection.verify.limits import LISTED
from shuffledp.collection.verify.outcomes import Check, equal, holds, unchecked
from shuffledp.storage.canonical import digest_of

__all__ = ["check_consistency"]

SHORT = 20  # rows of a list that is shown whole; of a longer one the intervals hold all at once


def check_consistency(facts: dict[str, Any], law: CountedLaw) -> list[Check]:
    """Everything that needs no oracle."""
    return [
        *_counts(facts, law),
        *_promise(facts),
        *_hashes(facts),
        *_bound(facts),
        *_beyond(facts),
    ]


def _counts(facts: dict[str, Any], law: CountedLaw) -> list[Check]:
    design, tally, reports = facts["design"], facts["tally"], facts["counted"]["reports"]
    votes = tally["votes"]
    checks = [
        equal("reports", reports, tally["reports"], "the tally"),
        holds(
            "reports that arrived",
            reports,
            f"{design['least']} to {design['n']}",
            "the design",
            design["least"] <= reports <= design["n"],
        ),
        equal("the task that was asked", facts["asked"]["task"], design["task"], "the design"),
    ]
    if design["task"] != "frequency":
        checks.append(equal("votes in all", sum(votes), reports, "every report names one value"))
    if design["task"] == "mean":
        checks.append(equal("points of the grid", len(votes), law.k, "the design"))
    if law.family == "hadamard":
        checks.append(
            equal(
                "reports in all blocks",
                (len(tally["blocks"]), sum(tally["blocks"])),
                (law.blocks[0], reports),
                "every report lies in one block",
            )
        )
        within = all(abs(each) <= reports for each in votes)
    else:
        within = all(0 <= each <= reports for each in votes)
    checks.append(
        holds(
            "votes for each value",
            f"{len(votes)} counts",
            f"at most {reports}",
            "every report votes at most once",
            within,
        )
    )
    if law.family == "subset":
        shown = len(votes) == law.k
        checks.append(
            holds(
                "votes in all",
                sum(votes),
                reports * law.size,
                "every report votes for a set",
                sum(votes) == reports * law.size or not shown,
            )
        )
    return checks


def _promise(facts: dict[str, Any]) -> list[Check]:
    design, certificate = facts["design"], facts["certificate"]
    epsilon, delta = design["epsilon"], certificate["delta"]
    same = (("users", "n"), ("honest", "least"), ("rounds", "rounds"))
    checks = [
        equal(f"{name} of the certificate", certificate[name], design[other], "the design") for name, other in same
    ]
    checks.append(equal("delta of the certificate", certificate["epsilon"]["delta"], design["delta"], "the design"))
    checks.append(
        equal("epsilon that was promised", None if delta is None else delta["epsilon"], epsilon, "the design")
    )
    if delta is not None:
        kept = delta["upper"] <= design["delta"] and certificate["epsilon"]["upper"] <= epsilon
        checks.append(
            holds(
                "the promise",
                f"epsilon = {epsilon}, delta = {design['delta']}",
                f"delta at most {delta['upper']:.6g}",
                "the certificate",
                kept,
            )
        )
    return checks


def _hashes(facts: dict[str, Any]) -> list[Check]:
    listed = equal("what is hashed", sorted(facts["hashes"]), sorted(HASHED), "what shuffledp writes")
    return [
        listed,
        *(
            equal(
                f"hash of the {name}", facts["hashes"].get(name), digest_of(facts[name]), "SHA-256 of the sorted JSON"
            )
            for name in HASHED
        ),
    ]


def _bound(facts: dict[str, Any]) -> list[Check]:
    """What the edition of a page does not leave to its writer: intervals that hold all at once, all
    votes bound, people at the ends of a range.
    """
    if not known(facts):
        return []
    design, estimates, found = facts["design"], facts["estimates"], list[str]()
    if since(facts, 2) and design["task"] == "mean":
        found = ["ends"] if facts["asked"].get("outside") in (None, CLIPPED_TO_BOUNDS) else []
    elif since(facts, 2):
        found = [name for name, least in (("digest", LISTED), ("together", SHORT)) if size_of(design) > least]
    said = [
        *(["digest"] if "digest" in facts["tally"] else []),
        *(name for name in ("ends", "together") if estimates.get(name, False) is not False),
    ]
    mine, theirs = (", ".join(names) or "none" for names in (said, found))
    return [
        holds(
            "what a page of its edition cannot leave out",
            mine,
            theirs,
            "how many values there are, and whether some were clipped",
            said == found,
        )
    ]


def _beyond(facts: dict[str, Any]) -> list[Check]:
    """What no report can prove about itself."""
    left_out = facts["counted"].get("repeated")
    return [
        *([] if left_out is None else [unchecked("other rows of the same people", left_out, "the data are not here")]),
        unchecked("secure randomness", facts["secure"], "a report does not show how its noise was drawn"),
        unchecked("missing values", facts["counted"]["missing"], "the data are not here"),
    ]
