"""The ledger's word about a page: what its block may claim at least, and, where the ledger is at
hand, what was recorded and published.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from shuffledp.judge.effort import TooLarge, TooMuch
from shuffledp.judge.oracle import Oracle
from shuffledp.record import LedgerEntry, Record
from shuffledp.storage.canonical import digest_of
from shuffledp.verify.outcomes import Check, equal, holds, unchecked, vital

NOISE = 1e-9  # relative: rounding of the oracle
SAME = 1e-6  # relative: another machine's arithmetic may differ in the last digits


class KeptFaults(Protocol):
    """What a ledger finds wrong with itself."""

    @property
    def faults(self) -> Sequence[str]: ...


class KeptEntry(Protocol):
    """What was to be released, and its place in a series: a name, how many weeks, and which."""

    @property
    def design(self) -> str: ...
    @property
    def series(self) -> tuple[str, int, int | None] | None: ...


class KeptRelease(Protocol):
    """A release as it was recorded, and the digest of its output, once that stood."""

    @property
    def id(self) -> int: ...
    @property
    def population(self) -> str: ...
    @property
    def record(self) -> str: ...
    @property
    def entry(self) -> KeptEntry: ...
    @property
    def output(self) -> str | None: ...


class KeptPopulation(Protocol):
    """Whose budget it is, and how large."""

    @property
    def name(self) -> str: ...
    @property
    def limit_epsilon(self) -> float: ...
    @property
    def limit_delta(self) -> float: ...


class KeptLedger(Protocol):
    """All that a verification asks of a ledger. ``ledger.Ledger`` answers it, and is
    never imported here: its totals are the accounting's.
    """

    def check(self) -> KeptFaults: ...
    def releases(self) -> Sequence[KeptRelease]: ...
    def populations(self) -> Sequence[KeptPopulation]: ...
    def spent_at_least(self, release: int, *, delta: float) -> float: ...


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
    elsewhere = unchecked(
        "the ledger's total",
        total.upper,
        "the ledger is not here: `shuffledp verify --ledger FILE`, and `shuffledp ledger check`",
    )
    return [
        holds("the ledger's limit", limit.epsilon, f"at least {total.upper:.6g}", "the total that is stated", kept),
        holds(
            "releases in the ledger",
            ledger.releases,
            "at least this one, and as many as were ever recorded",
            "its number",
            _numbered(ledger),
        ),
        holds(
            "the ledger's total, at least",
            total.upper,
            shown,
            "the oracle: together they cost no less than one",
            enough,
        ),
        *([] if here else [elsewhere]),
    ]


def _numbered(ledger: LedgerEntry) -> bool:
    return ledger.releases >= 1 and (ledger.id is None or ledger.id >= ledger.releases)


def check_ledger(ledger: KeptLedger, record: Record) -> list[Check]:
    """A page against the ledger itself: the record, its seal, its design, and the digest that was
    noted when the output stood.
    """
    faults = ledger.check().faults
    if faults:
        return [holds("the ledger itself", "whole", faults[0], "`shuffledp ledger check`", False)]
    claimed, releases, design = record.ledger, ledger.releases(), digest_of(record.design.as_json())
    if claimed is None:  # analysed apart from the shuffler, who records
        recorded = [str(each.id) for each in releases if each.entry.design == design]
        found = f"release {', '.join(recorded[:4])}" if recorded else f"none of {len(releases)} releases"
        return [
            holds(
                "design in the ledger",
                "this page's",
                found,
                "the digest that was recorded before anything was written",
                bool(recorded),
            )
        ]
    kept = next((each for each in releases if each.id == claimed.id), None)
    if kept is None:
        some = f"{len(releases)} releases"
        return [holds("record in the ledger", f"release {claimed.id}", some, "the ledger", False)]
    before = [each for each in releases if each.population == kept.population and each.id <= kept.id]
    owner = next(each for each in ledger.populations() if each.name == kept.population)
    stated, limit = (claimed.limit.epsilon, claimed.limit.delta), (owner.limit_epsilon, owner.limit_delta)
    least = ledger.spent_at_least(kept.id, delta=claimed.limit.delta)
    return [
        equal("population in the ledger", claimed.population, kept.population, "the ledger"),
        equal("seal in the ledger", claimed.record, kept.record, "the ledger"),
        equal(
            "design in the ledger",
            design,
            kept.entry.design,
            "the digest that was recorded before anything was written",
        ),
        equal("week in the ledger", _week(record), kept.entry.series, "the ledger"),
        equal("releases in the ledger, up to this one", claimed.releases, len(before), "the ledger"),
        equal("limit in the ledger", stated, limit, "the ledger"),
        _total(claimed.total.upper, least),
        _published(kept, record),
    ]


def _week(record: Record) -> tuple[str, int, int] | None:
    series = record.asked.series
    return None if series is None else (series.name, series.weeks, series.week)


def _total(upper: float, least: float) -> Check:
    """What all releases up to this one cost at least: the ledger's word, which is the
    accounting's.
    """
    return holds(
        "total in the ledger",
        upper,
        f"at least {least:.6g}",
        "its releases, composed by the accounting",
        upper >= least * (1.0 - SAME),
    )


def _published(found: KeptRelease, record: Record) -> Check:
    """Whether this very record is what was noted as published."""
    digest = digest_of(record.as_json())
    if found.output is None:
        return vital(
            unchecked(
                "digest in the ledger",
                digest,
                "this release is recorded, and not noted as published: its program may have been stopped",
            )
        )
    return equal("digest in the ledger", digest, found.output, "what was noted when the output stood")
