"""The estimates of a release as a table, for whichever library reads on; and the folder that it
leaves, absent or complete: that table as CSV, all facts as JSON, a figure, the design, the page.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.page import html
from shuffledp.page.page import release_svg
from shuffledp.questions.table import ESTIMATES
from shuffledp.record import Record, Table, read_record
from shuffledp.storage.files import check_new_folder, new_folder, write_table

LEVEL = 0.95  # with which an interval covers
SHOWN = 20  # rows that are printed; of more, the largest
HEAD = ("estimate", "std. error")


class EstimateRow(NamedTuple):
    """One estimate: its standard error, its own interval, and the one that holds for all at
    once.
    """

    label: str
    estimate: float
    stderr: float
    lower: float
    upper: float
    all_lower: float
    all_upper: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EstimateTable:
    """One row per label. ``lower`` to ``upper`` covers its true value with the probability
    ``level``; ``all_lower`` to ``all_upper`` cover all of them at once as often.

    >>> from shuffledp import Poll
    >>> poll = Poll("histogram", categories=["tea", "coffee"], n=1000, epsilon0=3.0)
    >>> table = EstimateTable.of(poll.analyse_counts([620, 380]), level=0.95)
    >>> [row.label for row in table], round(table["tea"].estimate), list(table.to_dict())[:3]
    (['tea', 'coffee'], 633, ['label', 'estimate', 'stderr'])
    """

    label: tuple[str, ...]
    estimate: Floats
    stderr: Floats
    lower: Floats
    upper: Floats
    all_lower: Floats
    all_upper: Floats
    level: float
    whole: bool  # whether they count people, and are shown without decimals
    ordered: bool = False  # whether they stay in their order where some are left out
    chosen: bool = False  # whether they are listed for being large: then, too, for all at once

    @classmethod
    def of(cls, estimate: Estimate, *, level: float, ordered: bool = False) -> EstimateTable:
        """The table of an estimate; where the rows are ``ordered``, as those of a distribution
        function are, some of all are shown, and not the largest.
        """
        own, together = estimate.interval(level), estimate.simultaneous(level)
        labels = tuple(str(label) for label in estimate.labels)
        numbers = (estimate.values, estimate.stderr, *own, *together)
        chosen = estimate.of is not None
        whole = chosen or ordered or len(labels) > 1
        return cls(labels, *numbers, level=level, whole=whole, ordered=ordered, chosen=chosen)

    def __len__(self) -> int:
        """How many estimates there are."""
        return len(self.label)

    def __iter__(self) -> Iterator[EstimateRow]:
        """The rows, in the order of the categories."""
        return map(EstimateRow._make, zip(*self.to_dict().values(), strict=True))

    def __getitem__(self, label: str) -> EstimateRow:
        """The row of one label."""
        if label not in self.label:
            raise InvalidInput(
                f"label must be one of the {len(self)} that were estimated, got {label!r}. See list(estimates.label)."
            )
        place = self.label.index(label)
        return EstimateRow._make(column[place] for column in self.to_dict().values())

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns by their names, as plain lists."""
        columns = {name: getattr(self, name) for name in EstimateRow._fields}
        return {
            name: column.tolist() if isinstance(column, np.ndarray) else list(column)
            for name, column in columns.items()
        }

    def to_arrow(self) -> Any:
        """The same as a ``pyarrow.Table``."""
        return import_module("pyarrow").table(self.to_dict())

    def to_pandas(self) -> Any:
        """The same as a ``pandas.DataFrame``."""
        return _needed("pandas", "to_pandas").DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """The same as a ``polars.DataFrame``."""
        return _needed("polars", "to_polars").DataFrame(self.to_dict())

    @property
    def cut(self) -> bool:
        """Whether there are more than are shown. The largest of many are large by luck as well, so
        those are shown with the intervals that hold for all at once.
        """
        return len(self) > SHOWN

    @property
    def heads(self) -> tuple[str, str, str]:
        """What stands above the words of a row."""
        percent = f"{100.0 * self.level:g} %"
        return (*HEAD, f"{percent} for all at once" if self.cut or self.chosen else f"{percent} interval")

    def shown(self) -> list[int]:
        """The places of the rows to show: all in their order, or the largest first."""
        if self.ordered and self.cut:
            return [int(place) for place in np.linspace(0, len(self) - 1, SHOWN).round()]
        order = np.argsort(-self.estimate, kind="stable") if self.cut else np.arange(len(self))
        return [int(place) for place in order[:SHOWN]]

    def ends(self, place: int) -> tuple[float, float]:
        """The ends of the interval that is shown with a row."""
        low, high = (self.all_lower, self.all_upper) if self.cut or self.chosen else (self.lower, self.upper)
        return float(low[place]), float(high[place])

    def words(self, place: int) -> tuple[str, str, str]:
        """Estimate, standard error and interval of a row. The interval is rounded outwards: what is
        shown covers as often as it says.
        """
        error, (low, high) = float(self.stderr[place]), self.ends(place)
        decimals = 0 if self.whole else max(0, 1 - math.floor(math.log10(max(error, 1e-12))))
        unit = 10.0**decimals
        numbers = (
            round(float(self.estimate[place]), decimals),
            error,
            math.floor(low * unit) / unit,
            math.ceil(high * unit) / unit,
        )
        value, deviation, least, most = (f"{each + 0.0:,.{decimals}f}" for each in numbers)  # + 0.0: no -0
        return value, deviation, f"{least} to {most}"

    def __repr__(self) -> str:
        """A table to read."""
        rows = [("", *self.heads), *((self.label[place], *self.words(place)) for place in self.shown())]
        first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
        lines = [
            "  ".join([label.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, others, strict=True))])
            for label, *cells in rows
        ]
        return "\n".join([*lines, f"... and {len(self) - SHOWN:,} more"] if self.cut else lines)


def _needed(name: str, method: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InvalidInput(
            f"{name} must be installed for {method}(), got no such package. Install it, or take to_dict() or "
            f"to_arrow(), which need nothing more."
        ) from None


FILES = {
    "page.html": "the result page, to read, sign and verify",
    "estimates.csv": "every estimate with its error bars",
    "estimates.json": "estimates and all that is known about them, for programs",
    "estimates.svg": "the figure",
    "design.json": "the design, to repeat the question",
}


def files_of(record: Record) -> dict[str, str]:
    """All that a release leaves in its folder: what lies there, and what it is."""
    first, *others = FILES.items()
    tables = {f"{table.name}.csv": f"the {table.name}, with their error bars" for table in record.tables[1:]}
    return {**dict([first]), **tables, **dict(others)}


def _replacing(folder: Path, *, replace: bool) -> tuple[str, ...]:
    """The files of an earlier release, which a new one takes the place of if that is asked for."""
    if not replace:
        return ()
    try:
        return tuple(files_of(read_record((folder / "estimates.json").read_text(encoding="utf-8"))))
    except (OSError, ValueError):
        return tuple(FILES)


def check_folder(folder: Path, *, replace: bool = False) -> Path:
    """Return ``folder`` if a release can stand there; with ``replace``, also in place of an earlier
    release, and of nothing else.
    """
    return check_new_folder(folder, replacing=_replacing(folder, replace=replace))


def holds_release(folder: Path) -> bool:
    """Whether an earlier release stands there."""
    return any((folder / name).exists() for name in FILES)


def write_release(
    folder: Path,
    record: Record,
    estimate: Estimate,
    *,
    replace: bool = False,
    last: Callable[[], object] | None = None,
) -> None:
    """Put all ``FILES`` into a new ``folder`` at once; ``last`` is called just before they can be
    seen.
    """

    def fill(place: Path) -> None:
        whole = Table.estimated(ESTIMATES, estimate, unit="", level=LEVEL)
        for table in (whole, *record.tables[1:]):
            write_csv(place / f"{table.name}.csv", table)
        _write_json(place / "estimates.json", record.as_json())
        _write_json(place / "design.json", record.design.as_json())
        release_svg(record).save(place / "estimates.svg")
        (place / "page.html").write_text(html(record), encoding="utf-8")

    new_folder(folder, fill, replacing=_replacing(folder, replace=replace), last=last)


def _write_json(path: Path, facts: object) -> None:
    path.write_text(json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def write_csv(path: Path, table: Table) -> None:
    """One row per label: each interval by itself, and all of them at once."""
    heads = ("estimate" if name == "value" else name for name in table.columns())
    write_table(path, ("label", *heads), table.rows())
