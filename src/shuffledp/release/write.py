"""The folder that a release leaves: estimates as CSV and JSON, a figure, the design, and the page.
It is absent or complete.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from shuffledp.mechanisms.estimate import Estimate
from shuffledp.page import html
from shuffledp.page.svg_file import release_svg
from shuffledp.record import Record
from shuffledp.release.facts import LEVEL
from shuffledp.storage.files import check_new_folder, new_folder, write_table

__all__ = ["FILES", "check_folder", "holds_release", "write_release"]

FILES = {
    "page.html": "the result page, to read, sign and verify",
    "estimates.csv": "every estimate with its error bars",
    "estimates.json": "estimates and all that is known about them, for programs",
    "estimates.svg": "the figure",
    "design.json": "the design, to repeat the question",
}
COLUMNS = ("label", "estimate", "stderr", "lower", "upper", "all_lower", "all_upper")


def check_folder(folder: Path, *, replace: bool = False) -> Path:
    """Return ``folder`` if a release can stand there; with ``replace``, also in place of an earlier
    release, and of nothing else.
    """
    return check_new_folder(folder, replacing=tuple(FILES) if replace else ())


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
        _write_csv(place / "estimates.csv", estimate)
        _write_json(place / "estimates.json", record.as_json())
        _write_json(place / "design.json", record.design.as_json())
        release_svg(record).save(place / "estimates.svg")
        (place / "page.html").write_text(html(record), encoding="utf-8")

    new_folder(folder, fill, replacing=tuple(FILES) if replace else (), last=last)


def _write_json(path: Path, facts: object) -> None:
    path.write_text(json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _write_csv(path: Path, estimate: Estimate) -> None:
    """One row per label: each interval by itself, and all of them at once, at the level of the
    page.
    """
    columns = (estimate.values, estimate.stderr, *estimate.interval(LEVEL), *estimate.simultaneous(LEVEL))
    write_table(path, COLUMNS, zip(estimate.labels, *(column.tolist() for column in columns), strict=True))
