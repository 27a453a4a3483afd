"""A release, for whoever asked: the estimates, what is certified of them, and ways to show and keep
both.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shuffledp.mechanisms.estimate import Estimate
from shuffledp.page.svg_file import SvgFigure, release_svg
from shuffledp.record import Certificate, LedgerEntry, Record
from shuffledp.release.facts import LEVEL
from shuffledp.release.notebook import release_html
from shuffledp.release.rows import EstimateTable, ShareRow, share_rows
from shuffledp.release.sentences import certified, charged, headline, quantile_sentences, warned
from shuffledp.release.write import write_release
from shuffledp.storage.files import check_new_folder
from shuffledp.wording import exactly, rounded

__all__ = ["Release"]


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
    def shares(self) -> tuple[ShareRow, ...]:
        """Of a crosstab with ``by``, the share of each cell within its group."""
        return share_rows(self.record)

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
        """Write what the command writes into a new ``folder``: the page, the estimates as CSV, JSON
        and figure, and the design. Saving again is not a new release, and costs nothing.
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
        within = [f"{row.label}: {'  '.join(row.words()).strip()} of its group" for row in self.shares]
        within = [*quantile_sentences(record), *within]
        said = [headline(record), repr(self.estimates), *within, *warned(record), certified(record)]
        if record.ledger is not None:
            said.append(f"{charged(record.ledger)}.")
        return "\n".join([*said, *(f"Note: {note}." for note in self.notes)])

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        return release_html(self.record, self.estimates)
