"""What terminal and notebook say of a release, in the same sentences."""

from __future__ import annotations

from shuffledp.page.facts import quantile_rows, range_rows
from shuffledp.page.numerals import many
from shuffledp.page.sentences import CLIPPED_ENDS, clipping, not_the_values
from shuffledp.record import LedgerEntry, Record
from shuffledp.record.question_kinds import DISTRIBUTIONS
from shuffledp.wording import exactly, rounded

__all__ = ["certified", "charged", "headline", "quantile_sentences", "warned"]

SEEDED = (
    "Not for release: the noise came from a seeded generator. Anyone who knows the seed knows the noise, so nothing "
    "is certified. Ask again without a seed."
)


def headline(record: Record) -> str:
    """What was asked, and of how many."""
    counted = record.counted
    missing = f", {counted.missing:,} values missing" if counted.missing else ""
    again = f", {counted.repeated:,} rows left out because their person has another one" if counted.repeated else ""
    series = "" if record.asked.series is None else f"{record.asked.series}, "
    return f"{series}{record.asked.what}: {_came(record)}{missing}{again}{_invalid(record)}"


def _came(record: Record) -> str:
    """How many answered."""
    counted = record.counted
    if counted.search is None:
        return many(counted.reports, "report")
    return f"{many(counted.people, 'person', 'people')}, asked at {many(len(counted.search.levels), 'level')}"


def _invalid(record: Record) -> str:
    """Of what came over the network, what was left out."""
    collected = record.counted.collected
    if collected is None or not collected.invalid:
        return ""
    kind = "" if collected.messages is None else " messages"
    return f", {collected.invalid:,} of {collected.envelopes:,}{kind} that arrived were invalid"


def warned(record: Record) -> list[str]:
    """What nobody must overlook."""
    said = [] if record.secure else [SEEDED]
    said += [f"{not_the_values(record)} {clipping(record)}"] if record.estimates.clipped else []
    return said + ([CLIPPED_ENDS] if record.question.type in DISTRIBUTIONS and record.asked.clips else [])


def quantile_sentences(record: Record) -> list[str]:
    """The quantiles and ranges that were asked for, where any were."""
    sure = f"{100.0 * record.estimates.level:g} % interval"
    rows = [f"{name}: {value} ({sure}: {ends})" for name, value, ends in quantile_rows(record)]
    return rows + [
        f"{name}: {value} people, {share} ({sure}: {ends})" for name, value, ends, share in range_rows(record)
    ]


def certified(record: Record) -> str:
    """What is certified."""
    bound, rounds = record.certificate.epsilon, record.design.rounds
    together = "" if rounds == 1 else f", for all {rounds} rounds together"
    word = "Certified" if record.secure else "With noise that nobody knows"
    return f"{word}: epsilon is at most {rounded(bound.upper, up=True)} at delta = {exactly(bound.delta)}{together}."


def charged(entry: LedgerEntry) -> str:
    """What was spent of the budget, as a sentence that may go on."""
    spent = rounded(entry.total.upper, up=True)
    return f"Budget of {entry.population!r}: {spent} of {entry.limit.epsilon:g} spent; this is release {entry.releases}"
