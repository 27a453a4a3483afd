"""Spark: everybody's report drawn where the data are, committed once, counted, released.

``encode`` draws the reports of a column in one job, and commits them; ``count`` adds up what was
committed; ``release`` does both and publishes the answer by the same record, ledger and page as on
one machine. ``survey`` says how many people there are, which a design must know.

A frame of reports that is computed when somebody looks at it would be drawn anew at every look, and
show two reports of the same person; so none is handed out. Whoever operates the engine could see
the values: inside one company that is a curator.

Workers need shuffledp, too. The work folder must lie where all of them can write.

A search for frequent words goes level after level, each drawn, committed and counted like a
question of its own, among people who are at no other level. A person's level is a keyed hash of
their id. The key is drawn once, when the work folder is claimed, and is in its claim: whatever runs
again, a task, a job or the whole search, finds every person at the level where they were. So rows
need ids.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.design import Design
from shuffledp.domain import Missing, as_list, per_column
from shuffledp.engines.batch import UNSURE, design_of
from shuffledp.engines.spark_column import SparkColumn, Surveyed
from shuffledp.engines.spark_commit import (
    EncodedFolder,
    WorkFolder,
    counted_in,
    drawn_once,
    encoded,
    prepared,
    release_column,
)
from shuffledp.engines.spark_session import EngineFailed, check_frame, check_running
from shuffledp.errors import Argument, InvalidInput, Refusal, check_words, shown
from shuffledp.record import Context
from shuffledp.release.budget import Budget
from shuffledp.release.categories import Categories, categories_of, parts_of
from shuffledp.release.files import check_folder
from shuffledp.release.pipeline import Run, charged
from shuffledp.release.released import Release
from shuffledp.release.request import Request
from shuffledp.release.stages import operated, seal_counts
from shuffledp.release.top_release import finished_search
from shuffledp.search.found import Found
from shuffledp.search.search import Search
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning
from shuffledp.tables.counted_reports import CountedReports
from shuffledp.tables.values import JoinedPlaces, Numbers, Places

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = [
    "EncodedFolder",
    "EngineFailed",
    "Surveyed",
    "at_level",
    "count",
    "encode",
    "release",
    "release_search_column",
    "survey",
]

PathLike = str | os.PathLike[str]


def encode(
    frame: DataFrame,
    design: Any,
    *,
    column: str | Sequence[str],
    out: PathLike | None = None,
    tallied: bool = False,
    missing: Missing = None,
    clip: bool = False,
    cleaning: Cleaning = AS_WRITTEN,
    ids: str | None = None,
    one_row_per_person: bool = False,
    keep: str = "random",
) -> EncodedFolder:
    """Draw everybody's report and commit them in ``out``, a folder that must not exist yet: a path
    or an address such as ``hdfs:///tmp/poll``, where all workers can write.

    ``design`` is one, a poll, or the file of a design. Values are read as on files: missing
    ones count as ``missing`` or are left out, ``clip`` moves numbers to the nearest bound,
    ``cleaning`` says what of messy texts is forgiven. With ``tallied``, each task keeps the sums of
    its reports and no report; that is all that an estimate needs.

    ``ids`` names the column that says whose row it is: of a person's rows that hold a value, any
    one stands for them. An engine has no first row, so ``keep`` can only be "random". Without it,
    the first 100,000 rows of other columns that are named like an id are looked at, and one that
    repeats is refused, unless ``one_row_per_person`` is said.

    Whatever fails, of one drawing only is ever read: tasks that run again commit once, and a folder
    that was begun and never committed is refused by everybody. Speculation must be off.
    """
    if out is None:
        raise InvalidInput(
            Refusal(
                (Argument("out"), " must be given"),
                "none: reports that are not committed would be drawn anew at every look",
                ("Add ", Argument("out", "work"), ", a new folder that all workers share."),
            )
        )
    agreed = design_of(design)
    rules = {"missing": missing, "clip": clip, "cleaning": cleaning}
    asked = _column(frame, column, ids=ids, keep=keep, one_row_per_person=one_row_per_person, **rules)
    work, claim = prepared(asked, agreed, out, tallied=tallied)
    work.check_new()
    return encoded(asked, work, claim)


def count(
    session: SparkSession,
    folder: EncodedFolder | PathLike,
    *,
    design: Any = None,
    out: PathLike | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    force: bool = False,
) -> CountedReports:
    """Add up what was committed in a ``folder``; with ``design``, of no other one. Nothing is
    drawn, so this can be asked again.

    With ``out``, the counts are also written to that file, for ``shuffledp stage analyze``; fewer
    reports than were promised are refused then, and a ``ledger`` is charged before, as by
    ``shuffle``.
    """
    check_running(session)
    agreed = None if design is None else design_of(design)
    path = folder.path if isinstance(folder, EncodedFolder) else folder
    budget = Budget.of(None if ledger is None else Path(ledger), population, limit_epsilon, limit_delta)
    if budget is not None and out is None:
        raise InvalidInput(
            "ledger must come with out, got none: what only you see is not charged. Name the file for the analyst."
        )
    counted = counted_in(session, WorkFolder(session, path), agreed)
    if out is not None:
        seal_counts(counted, Path(out), design=agreed, budget=budget, force=force)
    return counted


def survey(
    frame: DataFrame,
    *,
    column: str | Sequence[str],
    categories: Iterable[Any] | None = None,
    other: Missing = None,
    lower: float | None = None,
    upper: float | None = None,
    missing: Missing = None,
    clip: bool = False,
    cleaning: Cleaning = AS_WRITTEN,
    ids: str | None = None,
    one_row_per_person: bool = False,
) -> Surveyed:
    """How many people have a value, for the ``n`` of a design; nothing is drawn. Values outside
    ``categories``, or outside ``lower`` to ``upper``, are refused as they would be later. Several
    columns have a list of categories each.
    """
    rules = {"missing": missing, "clip": clip, "cleaning": cleaning}
    asked = _column(frame, column, ids=ids, keep="random", one_row_per_person=one_row_per_person, **rules)
    if categories is None:
        if lower is None or upper is None:
            raise InvalidInput(
                "categories, or lower and upper, must be given, got neither. Say which values are possible."
            )
        return asked.survey(Numbers(lower, upper, clip=clip, cleaning=cleaning))
    if isinstance(column, str):
        listed = as_list("categories", categories, remedy='Pass a list such as ["yes", "no"].')
        return asked.survey(_places(categories_of(listed, other=other, missing=missing), cleaning))
    parts = parts_of(column, categories, other=other, missing=missing)
    return asked.survey(JoinedPlaces(tuple(_places(part, cleaning) for part in parts)))


def _places(known: Categories, cleaning: Cleaning) -> Places:
    return Places(known.checked(), other=known.other, missing=known.missing, cleaning=cleaning)


def release(
    frame: DataFrame,
    design: Any,
    *,
    column: str | Sequence[str],
    work: PathLike,
    out: PathLike | None = None,
    title: str | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    missing: Missing = None,
    clip: bool = False,
    cleaning: Cleaning = AS_WRITTEN,
    ids: str | None = None,
    one_row_per_person: bool = False,
    keep: str = "random",
    force: bool = False,
) -> Release:
    """From a frame to a defended answer, in the folder ``out`` or in memory: ``encode`` with sums
    into the folder ``work``, ``count``, and what ``sdp.histogram`` does with the counts.

    Started again over a ``work`` folder that was committed for the same question about the same
    table, it draws nothing and goes on; a table is the same if Spark computes it in the same way
    from the same files. What it reads from elsewhere may have changed: name a new folder then. The
    ledger is not charged twice for a run that was killed before its answer stood.
    Delete ``work`` when it does.
    """
    check_words(Argument("title"), title)
    agreed = design_of(design)
    rules = {"missing": missing, "clip": clip, "cleaning": cleaning}
    asked = _column(frame, column, ids=ids, keep=keep, one_row_per_person=one_row_per_person, **rules)
    budget = Budget.of(None if ledger is None else Path(ledger), population, limit_epsilon, limit_delta)
    words = _question(agreed, asked, column, title).asked()
    folder = None if out is None else Path(out)
    return release_column(asked, agreed, words, work=work, folder=folder, budget=budget, force=force)


def _column(frame: DataFrame, name: object, *, keep: str, **rules: Any) -> SparkColumn:
    named = tuple(name) if isinstance(name, (list, tuple)) else name
    if not (isinstance(named, str) or (isinstance(named, tuple) and all(isinstance(each, str) for each in named))):
        raise InvalidInput(f"column must be the name of a column, got {shown(name)}. Pass a string.")
    if isinstance(named, tuple) and len(set(named)) < max(len(named), 2):
        raise InvalidInput(f"columns must be two or more, each once, got {', '.join(named) or 'none'}. Name them all.")
    if keep != "random":
        raise InvalidInput(
            f"keep must be random on an engine, where no row is the first, got {keep!r}. Leave it out, or keep one row "
            f"of each person before."
        )
    return SparkColumn.of(check_frame(frame), named, **rules)


def _question(design: Design, asked: SparkColumn, column: str | Sequence[str], title: str | None) -> Request:
    """What is asked, for the record; the design may call several columns otherwise."""
    missing, named = asked.missing, design.domain.column_names
    if named is not None:
        gaps = per_column(Argument("missing"), missing, named)
        missing = {name: gap for name, gap in zip(column, gaps, strict=True) if gap is not None}
    return Request(
        question=design.resolved,
        source="a table in Spark",
        column=asked.name if named is None else tuple(column),
        title=title,
        cleaning=asked.cleaning,
        ids=asked.ids,
        missing=missing,
        clip=asked.clip,
        origins=("a list",),
    )


HASHED = 8  # hexadecimal digits of the hash that decide a level: 32 bits, as a search draws them


def release_search_column(
    column: SparkColumn,
    search: Search,
    asked: Context,
    *,
    surveyed: Surveyed,
    work: str,
    folder: Path | None = None,
    budget: Budget | None = None,
    force: bool = False,
) -> Release:
    """Ask all levels of a search, and publish what was found. A work folder of the same search is
    gone on with: levels that were committed are counted, and nothing is drawn again.
    """
    check_ids(column.ids)
    if folder is not None:
        check_folder(folder, replace=force)
    if budget is not None:
        budget.afford(search, asked.what or asked.question)
    place, claim = prepared(column, search.first_design, work)
    if not place.stands(claim, "search"):
        place.begin(claim)
    key, tallies, notes = place.claim().batch, list[NDArray[np.int64]](), tuple[str, ...]()
    while not isinstance(step := search.next(tallies), Found):
        number = len(tallies)
        group = at_level(column.ids or "", key, search, number, onwards=step.resolved.counting)
        mine = replace(column, frame=column.frame.where(group))
        path = f"{place.path}/level-{number + 1}"
        counted = drawn_once(mine, step, path, "level of this search", remedy=UNSURE)
        tallies.append(counted.votes)
        notes = operated(counted)
    spent = None
    if budget is not None:
        spent = budget.spend(search, asked.what or asked.question, batches=(key,), held_back=True)
    with charged(spent):
        run = Run(
            asked=replace(asked, engine="Spark"),
            folder=folder,
            missing=surveyed.missing,
            repeated=surveyed.repeated,
            spent=spent,
            held_back=True,
            force=force,
            notes=notes,
        )
        return finished_search(step, run)


def check_ids(ids: str | None) -> None:
    """Refuse rows of which nobody can say again at which level they were."""
    if ids is None:
        raise InvalidInput(
            Argument("id"),
            " must be given for top words on Spark, got none: a person's level is drawn by it, so that nobody "
            "is asked twice when a task runs again. Name the column that says whose row it is.",
        )


def at_level(ids: str, key: str, search: Search, level: int, *, onwards: bool) -> Column:
    """Whose level it is: the first 32 bits of a keyed hash of the id, as ``Search.levels_of``
    reads them; ``onwards``, all who were at none before it.
    """
    from pyspark.sql import functions

    named = functions.col("`" + ids.replace("`", "``") + "`").cast("string")
    digest = functions.sha2(functions.concat(functions.lit(f"{key}:"), named), 256)
    number = functions.conv(functions.substring(digest, 1, HASHED), 16, 10).cast("long")
    drawn = functions.least(functions.floor(number / search.share), functions.lit(len(search.spans)))
    return drawn >= level if onwards else drawn == level
