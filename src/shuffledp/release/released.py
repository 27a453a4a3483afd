"""A release, for whoever asked: the estimates, what is certified of them, and ways to show and keep
both; terminal and notebook say it in the same sentences.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shuffledp.mechanisms.estimate import Estimate
from shuffledp.numerals import many
from shuffledp.page.page import release_svg
from shuffledp.page.svg import SvgFigure
from shuffledp.record import Certificate, LedgerEntry, Record
from shuffledp.release.files import LEVEL, EstimateTable, write_release
from shuffledp.storage.files import check_new_folder
from shuffledp.wording import exactly, rounded


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """One answered question. ``estimate`` has all its rows; ``folder`` is where it was written, if
    it was.
    """

    record: Record
    estimate: Estimate
    folder: Path | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """The record as JSON."""
        return self.record.as_json()

    @cached_property
    def estimates(self) -> EstimateTable:
        """The answer, with error bars: a table that every library can take."""
        return EstimateTable.of(self.estimate, level=LEVEL, ordered=self.record.question.ordered)

    @property
    def certificate(self) -> Certificate:
        """What is certified: between which ends epsilon lies, by which theorem, on what
        assumptions.
        """
        return self.record.certificate

    @property
    def ledger(self) -> LedgerEntry | None:
        """What the ledger said when the release was charged, if it was."""
        return self.record.ledger

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        return self.record.notes

    def plot(self) -> SvgFigure:
        """The chart of the page, which a notebook shows; ``.save("estimates.svg")`` writes it."""
        return release_svg(self.record)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write what the command writes into a new ``folder``: the page, what was asked and the
        estimates as CSV, all facts as JSON, the figure and the design. Saving again is not a new
        release, and costs nothing.
        """
        place = check_new_folder(Path(folder), lasting=True)
        write_release(place, self.record, self.estimate)
        return place

    def __repr__(self) -> str:
        """In a line: what was asked, of how many, and what is certified."""
        bound = self.certificate.epsilon
        return (
            f"<Release: {headline(self.record)}; epsilon at most {rounded(bound.upper, up=True)} at delta = "
            f"{exactly(bound.delta)}{'' if self.record.secure else ', not for release'}>"
        )

    def __str__(self) -> str:
        """The estimates, and what is certified."""
        record = self.record
        said = [headline(record), repr(self.estimates), *told(record), *warned(record), certified(record)]
        if record.ledger is not None:
            said.append(f"{charged(record.ledger)}.")
        return "\n".join([*said, *(f"Note: {note}." for note in self.notes)])

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        from shuffledp.release.notebook import release_html

        return release_html(self.record, self.estimates)


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
    return [*said, " ".join(clipped)] if (clipped := record.question.clipping(record)) else said


def told(record: Record) -> list[str]:
    """What was asked for beside the estimates, in lines."""
    return [line for each in record.question.told(record) for line in (f"{each.title}:", *each.plain.sentences())]


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
