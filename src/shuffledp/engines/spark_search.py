"""A search for frequent words over a Spark frame: level after level, each drawn, committed and
counted like a question of its own, among people who are at no other level.

A person's level is a keyed hash of their id. The key is drawn once, when the work folder is
claimed, and is in its claim: whatever runs again, a task, a job or the whole search, finds every
person at the level where they were. So rows need ids.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.engines.batch import UNSURE
from shuffledp.engines.spark_column import SparkColumn, Surveyed
from shuffledp.engines.spark_commit import claimed_folder, count_claimed, draw_claimed
from shuffledp.errors import Argument, InvalidInput
from shuffledp.record import Asked
from shuffledp.release.budget import Budget
from shuffledp.release.finishing import charged
from shuffledp.release.stages import operated
from shuffledp.release.top_release import TopRelease, finished_search, paying
from shuffledp.release.write import check_folder
from shuffledp.search.progress import found_words, progress_of
from shuffledp.search.search import TopSearch

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["at_level", "release_search_column"]

HASHED = 8  # hexadecimal digits of the hash that decide a level: 32 bits, as a search draws them


def release_search_column(
    column: SparkColumn,
    search: TopSearch,
    surveyed: Surveyed,
    asked: Asked,
    *,
    work: str,
    folder: Path | None = None,
    budget: Budget | None = None,
    force: bool = False,
) -> TopRelease:
    """Ask all levels of a search, and publish what was found. A work folder of the same search is
    gone on with: levels that were committed are counted, and nothing is drawn again.
    """
    check_ids(column)
    if folder is not None:
        check_folder(folder, replace=force)
    design, paid = search.first_design(), paying(budget, search)
    if paid is not None:
        paid.afford(design, asked.what or asked.task)
    place, claim = claimed_folder(column, design, work)
    if not place.exists:
        place.check_new()
        place.begin(claim)
    elif not place.claim().asks_as(claim):
        raise InvalidInput(
            f"{place.title} must be the work folder of this search, got that of another. Name a new folder, or delete "
            f"this one."
        )
    key, tallies, notes = place.claim().batch, list[NDArray[np.int64]](), tuple[str, ...]()
    while (progress := progress_of(search, tallies)).next is not None:
        number = len(tallies)
        group = at_level(column.ids or "", key, search, number, onwards=progress.next.counting)
        mine = replace(column, frame=column.frame.where(group))
        counted = _counted(mine, progress.design(), f"{place.path}/level-{number + 1}")
        tallies.append(counted.votes)
        notes = operated(counted)
    found = found_words(progress)
    spent = None
    if paid is not None:
        spent = paid.spend(design, asked.what or asked.task, batches=(key,), held_back=True)
    with charged(spent):
        return finished_search(
            found,
            asked,
            folder,
            missing=surveyed.missing,
            repeated=surveyed.repeated,
            spent=spent,
            force=force,
            notes=notes,
            held_back=True,
        )


def check_ids(column: SparkColumn) -> None:
    """Refuse rows of which nobody can say again at which level they were."""
    if column.ids is None:
        raise InvalidInput(
            Argument("id"),
            " must be given for top words on Spark, got none: a person's level is drawn by it, so that nobody "
            "is asked twice when a task runs again. Name the column that says whose row it is.",
        )


def at_level(ids: str, key: str, search: TopSearch, level: int, *, onwards: bool) -> Column:
    """Whose level it is: the first 32 bits of a keyed hash of the id, as ``TopSearch.levels_of``
    reads them; ``onwards``, all who were at none before it.
    """
    from pyspark.sql import functions

    named = functions.col("`" + ids.replace("`", "``") + "`").cast("string")
    digest = functions.sha2(functions.concat(functions.lit(f"{key}:"), named), 256)
    number = functions.conv(functions.substring(digest, 1, HASHED), 16, 10).cast("long")
    drawn = functions.least(functions.floor(number / search.share), functions.lit(len(search.spans)))
    return drawn >= level if onwards else drawn == level


def _counted(column: SparkColumn, design: Any, path: str) -> Any:
    """One level: drawn and committed, unless it was, and counted."""
    place, claim = claimed_folder(column, design, path)
    if not place.exists:
        place.check_new()
        draw_claimed(column, place, claim)
    elif not place.claim().asks_as(claim):
        raise InvalidInput(f"{place.title} must be this level of this search, got another. {UNSURE}")
    return count_claimed(column, place, design)
