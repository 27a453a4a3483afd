"""The figure of a release: what is drawn of its record, and under which title."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.collection.page.answers import margins_of, together
from shuffledp.collection.page.crosstabs import grid_of
from shuffledp.collection.record import Asked, Record
from shuffledp.figures import (
    ROWS,
    DrawnDistribution,
    DrawnEstimates,
    DrawnTable,
    draw_distribution,
    draw_estimates,
    draw_table,
    figure_file,
    one_line,
)
from shuffledp.protocols.tasks.crossing import ALL
from shuffledp.wording import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_release", "release_figure"]


def draw_release(record: Record) -> Figure:
    """The estimates of a release, under what was asked and what is certified."""
    if record.design.distributes:
        return draw_distribution(_distribution(record), title=_title(record))
    if (table := _table(record)) is not None:
        return draw_table(table, title=_title(record))
    return draw_estimates(_drawn(record), title=_title(record))


def release_figure(record: Record, path: Path) -> Path:
    """The same, as a file."""
    return figure_file(draw_release(record), path)


def _table(record: Record) -> DrawnTable | None:
    """A crosstab that is small enough to be drawn cell by cell."""
    if record.design.columns is None or not (grid := grid_of(record)).readable:
        return None
    found, margins = record.estimates, margins_of(record.estimates)
    known = float(record.counted.reports)
    return DrawnTable(
        down=[*grid.down, ALL],
        across=[*grid.across, ALL],
        values=[[known if at is None else found.value[at] for at in row] for row in grid.places],
        errors=[[None if at is None else margins[at] for at in row] for row in grid.places],
        level=found.level,
        together=together(found),
    )


def _drawn(record: Record) -> DrawnEstimates:
    found, design = record.estimates, record.design
    return DrawnEstimates(
        labels=found.label,
        values=found.value,
        lower=found.lower,
        upper=found.upper,
        all_lower=found.all_lower,
        all_upper=found.all_upper,
        of=found.of,
        level=found.level,
        bounds=None if design.counts else design.bounds,
    )


def _distribution(record: Record) -> DrawnDistribution:
    found, reports = record.estimates, record.counted.reports

    def shares(people: tuple[float, ...]) -> list[float]:
        return [0.0, *(min(max(each / reports, 0.0), 1.0) for each in people), 1.0]

    asked = found.quantiles
    return DrawnDistribution(
        cuts=record.design.cuts or (),
        shares=shares(found.value),
        lower=shares(found.all_lower),
        upper=shares(found.all_upper),
        level=found.level,
        quantiles=[] if asked is None else list(zip(asked.at, asked.value, asked.lower, asked.upper, strict=True)),
    )


def _title(record: Record) -> str:
    bound, found = record.certificate.epsilon, record.estimates
    whole = record.design.distributes or _table(record) is not None
    rows = found.of if whole else min(len(found.value), ROWS)
    largest = f"; the {rows} largest of {found.of:,}" if rows < found.of else ""
    if largest and max(found.all_lower) <= 0.0:
        largest += ", none told from 0"
    delta = f"{bound.delta:g}".replace("e-0", "e-")
    sent = "reports" if record.counted.search is None else "people"
    return (
        f"{one_line(_name(record.asked))}{largest}\n{record.counted.people:,} {sent}, "
        f"ε ≤ {rounded(bound.upper, up=True)} at δ = {delta}"
        f"{'' if record.secure else ', not for release'}"
    )


def _name(asked: Asked) -> str:
    """What the user called it, or what it is of."""
    if asked.title:
        return asked.title
    if asked.column:
        clipped = asked.clips and asked.task == "mean"
        return f"{'clipped mean' if clipped else asked.task} of {asked.column}"
    return asked.what or asked.task
