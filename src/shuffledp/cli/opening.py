"""The command open: from what a shuffler released to a page."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from shuffledp.cli.answering import fitting, heard, show_release
from shuffledp.cli.listing import NETWORK, app, examples
from shuffledp.cli.options import (
    ANSWER,
    AS_JSON,
    ENGINE,
    MASTER,
    OUTPUT_OPTIONS,
    argument,
    declared,
    flag,
    option,
    sharing,
)
from shuffledp.cli.questions import LOCAL, Keeping, check_engine
from shuffledp.cli.track import SERIES, refresh
from shuffledp.cli.waiting import patiently, progress
from shuffledp.errors import InvalidInput
from shuffledp.release.options import Budgeted

if TYPE_CHECKING:
    from shuffledp.release.budget import Budget
    from shuffledp.series.weeks import Week
    from shuffledp.survey.collection import Collection
    from shuffledp.survey.opening_tasks import Opening

    Where = tuple[Opening, tuple[str, ...]]  # where reports are opened, and what is to be said of that

__all__: list[str] = []

SPARK = option(
    "engine",
    ENGINE,
    "Open the reports on an engine: spark. The analyst's key travels to its workers, and they must find FILE.",
)


@app.command(
    "open",
    rich_help_panel=NETWORK,
    epilog=examples(
        "open study sealed.bin --out result",
        "open study sealed.bin --out result --ledger budget.sqlite --population app-users --limit-epsilon 4 "
        "--limit-delta 1e-5",
        "open study /shared/sealed.bin --out result --engine spark --master spark://host:7077",
    ),
)
@sharing(
    [
        argument("study", "STUDY", "The folder of the collection, with the analyst's key."),
        argument("sealed", "FILE", "What `shuffledp collection fetch` wrote."),
        *declared(Budgeted),
        SPARK,
        MASTER,
        *OUTPUT_OPTIONS,
        AS_JSON,
    ],
    dict,
)
def open_(
    given: dict[str, Any],
    title: Annotated[
        str | None,
        flag(
            "title",
            ANSWER,
            "A headline for the page; if left out, the question that people were asked.",
            metavar="TEXT",
        ),
    ] = None,
    series: Annotated[
        Path | None,
        flag(
            "series",
            SERIES,
            "Publish it as a week of this series, that of its round, instead of --out.",
            metavar="FOLDER",
        ),
    ] = None,
    period: Annotated[
        str | None, flag("period", SERIES, "With --series: the week, month or day that it is about.", metavar="PERIOD")
    ] = None,
) -> None:
    """For the analyst: open what the shuffler released, and publish estimates, a figure and a page.

    Every report is opened and checked by itself, on all cores; invalid ones are counted and left
    out. Fewer than were promised are refused. STUDY/opened.json remembers what was opened: the same
    file may be opened again, another one of the same collection is refused.
    """
    from shuffledp.release.arguments import check_words
    from shuffledp.release.write import check_folder
    from shuffledp.survey.opener import Study, publish_study

    check_words("--title", title)
    check_engine(given["engine"], given["master"])
    study = Study.read(given["study"])
    sealed = study.sealed(given["sealed"])
    where = _here(sealed.header.count) if given["engine"] is None else _on_spark(given["master"])
    with _placed(study.collection, series, period, given) as (keeping, budget, week):
        check_folder(keeping.folder(), replace=keeping.force)
        with heard(as_json=keeping.as_json), where as (opening, notes):
            made = publish_study(
                study,
                sealed,
                keeping.folder(),
                title=title,
                budget=budget,
                force=keeping.force,
                opening=opening,
                notes=notes,
                series=None if week is None else week.said,
                by=None if week is None else week.series.by,
            )
    if series is not None:
        refresh(series, given["ledger"])
    more = fitting(budget, study.collection.design) if series is None else None
    show_release(made, as_json=keeping.as_json, more=more)


@contextmanager
def _placed(
    collection: "Collection", series: Path | None, period: str | None, given: dict[str, Any]
) -> "Iterator[tuple[Keeping, Budget | None, Week | None]]":
    """Where a release goes, and who pays for it: a folder and a budget, or a week of a series."""
    from shuffledp.release.arguments import budget_of

    keeping = Keeping.of(given)
    if series is None:
        if period is not None:
            raise InvalidInput(f"--period must come with --series, got {period!r} alone. Leave it out.")
        yield keeping, budget_of(given), None
        return
    from shuffledp.series.weeks import collected_week

    for name in ("out", "force", "population", "limit_epsilon", "limit_delta"):
        if given[name]:
            option = name.replace("_", "-")
            raise InvalidInput(f"--{option} must be left out with --series, which says it, got both. Leave one out.")
    ledger, design = given["ledger"], collection.design
    with collected_week(series, design, collection.round, period=period, ledger=ledger) as week:
        yield Keeping(week.folder, False, keeping.as_json), week.budget, week


@contextmanager
def _here(envelopes: int) -> "Iterator[Where]":
    """All cores of this machine."""
    from shuffledp.survey.opening_tasks import OnAllCores

    with progress("opening", then="certifying and writing") as watched:
        yield OnAllCores(watched(envelopes, lambda: None)), ()


@contextmanager
def _on_spark(master: str | None) -> "Iterator[Where]":
    """The workers of Spark."""
    from shuffledp.engines.spark_session import session_at
    from shuffledp.survey.spark import ON_SPARK, OnSpark

    with ExitStack() as held:
        with patiently("starting Spark"):
            session = held.enter_context(session_at(LOCAL if master is None else master))
        with patiently("opening on Spark"):
            yield OnSpark(session), (ON_SPARK,)
