"""The figure of a release: what is drawn of its record, and under which title."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.collection.record import Asked, Record
from shuffledp.collection.release.by_task import released_by
from shuffledp.figures import (
    ROWS,
    figure_file,
    one_line,
)
from shuffledp.wording import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_release", "release_figure"]


def draw_release(record: Record) -> Figure:
    """The estimates of a release, under what was asked and what is certified."""
    answer = released_by(record.design.task)
    return answer.figure(record, _title(record, whole=answer.drawn_whole(record)))


def release_figure(record: Record, path: Path) -> Path:
    """The same, as a file."""
    return figure_file(draw_release(record), path)


def _title(record: Record, *, whole: bool) -> str:
    bound, found = record.certificate.epsilon, record.estimates
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
