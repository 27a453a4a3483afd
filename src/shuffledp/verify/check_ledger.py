"""The ledger's word about a page: what its block may claim at least, and, where the ledger is at
hand, what was recorded and published.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.judge.effort import TooLarge, TooMuch
from shuffledp.judge.oracle import Oracle
from shuffledp.record import LedgerEntry, Record
from shuffledp.storage.canonical import digest_of
from shuffledp.verify.outcomes import Check, equal, holds, unchecked, vital

if TYPE_CHECKING:  # its totals are the accounting's
    from shuffledp.ledger import Ledger, Release

NOISE = 1e-9  # relative: rounding of the oracle
SAME = 1e-6  # relative: another machine's arithmetic may differ in the last digits


def check_claims(ledger: LedgerEntry | None, oracle: Oracle, *, here: bool) -> list[Check]:
    """What a page says about its ledger, from the page alone: all releases together cost at least
    what this one does. The rest is for ``check_ledger``, if the ledger is ``here``.
    """
    if ledger is None:
        why = "a page cannot prove that it names no ledger"
        return [unchecked("the ledger", "none", why if here else f"{why}; `verify --ledger FILE` looks for its design")]
    total, limit = ledger.total, ledger.limit
    try:
        least, most = (float(end[0]) for end in oracle.upper(np.array([float(total.upper)])))
    except (TooLarge, TooMuch):
        least, most = 0.0, 1.0
    enough = least <= limit.delta * (1.0 + NOISE)
    shown = f"delta of this release alone: {least:.6g} to {most:.6g}"
    kept = total.lower <= total.upper <= limit.epsilon
    numbered = ledger.releases >= 1 and (ledger.id is None or ledger.id >= ledger.releases)
    many, one = (
        "at least this one, and as many as were ever recorded",
        "the oracle: together they cost no less than one",
    )
    checks = [
        holds("the ledger's limit", limit.epsilon, f"at least {total.upper:.6g}", "the total that is stated", kept),
        holds("releases in the ledger", ledger.releases, many, "its number", numbered),
        holds("the ledger's total, at least", total.upper, shown, one, enough),
    ]
    if not here:
        why = "the ledger is not here: `shuffledp verify --ledger FILE`, and `shuffledp ledger check`"
        checks.append(unchecked("the ledger's total", total.upper, why))
    return checks


def check_ledger(ledger: Ledger, record: Record) -> list[Check]:
    """A page against the ledger itself: the record, its seal, its design, and the digest that was
    noted when the output stood.
    """
    faults = ledger.check().faults
    if faults:
        return [holds("the ledger itself", "whole", faults[0], "`shuffledp ledger check`", False)]
    claimed, releases, design = record.ledger, ledger.releases(), digest_of(record.design.as_json())
    before_all = "the digest that was recorded before anything was written"
    if claimed is None:  # analysed apart from the shuffler, who records
        recorded = [str(each.id) for each in releases if each.entry.design == design]
        found = f"release {', '.join(recorded[:4])}" if recorded else f"none of {len(releases)} releases"
        return [holds("design in the ledger", "this page's", found, before_all, bool(recorded))]
    kept = next((each for each in releases if each.id == claimed.id), None)
    if kept is None:
        some = f"{len(releases)} releases"
        return [holds("record in the ledger", f"release {claimed.id}", some, "the ledger", False)]
    before = [each for each in releases if each.population == kept.population and each.id <= kept.id]
    owner = next(each for each in ledger.populations() if each.name == kept.population)
    stated, limit = (claimed.limit.epsilon, claimed.limit.delta), (owner.limit_epsilon, owner.limit_delta)
    series, upper = record.asked.series, claimed.total.upper
    place = attrgetter("name", "weeks", "week")
    week, noted = (None if each is None else place(each) for each in (series, kept.entry.series))
    least = ledger.spent_at_least(kept.id, delta=claimed.limit.delta)
    compared = {
        "population in the ledger": (claimed.population, kept.population),
        "seal in the ledger": (claimed.record, kept.record),
        "week in the ledger": (week, noted),
        "releases in the ledger, up to this one": (claimed.releases, len(before)),
        "limit in the ledger": (stated, limit),
    }
    composed, enough = "its releases, composed by the accounting", upper >= least * (1.0 - SAME)
    return [
        *(equal(what, said, found, "the ledger") for what, (said, found) in compared.items()),
        equal("design in the ledger", design, kept.entry.design, before_all),
        holds("total in the ledger", upper, f"at least {least:.6g}", composed, enough),
        _published(kept, record),
    ]


def _published(found: Release, record: Record) -> Check:
    """Whether this very record is what was noted as published."""
    what, digest = "digest in the ledger", digest_of(record.as_json())
    if found.output is None:
        why = "this release is recorded, and not noted as published: its program may have been stopped"
        return vital(unchecked(what, digest, why))
    return equal(what, digest, found.output, "what was noted when the output stood")
