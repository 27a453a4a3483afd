"""The command open: from what a shuffler released to a page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shuffledp.cli.asking import BUDGET_OPTIONS, OUTPUT_OPTIONS, Keeping, budget_of
from shuffledp.cli.listing import NETWORK, app, examples
from shuffledp.cli.options import ANSWER, AS_JSON
from shuffledp.cli.release import fitting, heard, show_release
from shuffledp.cli.sharing import argument, sharing
from shuffledp.cli.waiting import progress

__all__: list[str] = []


@app.command(
    "open",
    rich_help_panel=NETWORK,
    epilog=examples(
        "open study sealed.bin --out result",
        "open study sealed.bin --out result --ledger budget.sqlite --population app-users --limit-epsilon 4 "
        "--limit-delta 1e-5",
    ),
)
@sharing(
    dict(
        [
            argument(
                "study", "The folder of the collection, with the analyst's key.", metavar="STUDY", annotation=Path
            ),
            argument("sealed", "What `shuffledp collection fetch` wrote.", metavar="FILE", annotation=Path),
            *BUDGET_OPTIONS,
            *OUTPUT_OPTIONS,
            AS_JSON,
        ]
    ),
    dict,
)
def open_(
    given: dict[str, Any],
    title: Annotated[
        str | None,
        typer.Option(
            "--title",
            metavar="TEXT",
            help="A headline for the page; if left out, the question that people were asked.",
            rich_help_panel=ANSWER,
        ),
    ] = None,
) -> None:
    """For the analyst: open what the shuffler released, and publish estimates, a figure and a page.

    Every report is opened and checked by itself, on all cores; invalid ones are counted and left
    out. Fewer than were promised are refused. STUDY/opened.json remembers what was opened: the same
    file may be opened again, another one of the same collection is refused.
    """
    from shuffledp.collection.network.opening_processes import OnAllCores
    from shuffledp.collection.network.opening_reports import Study, publish_study
    from shuffledp.collection.release.terms import check_words
    from shuffledp.collection.release.write import check_folder

    keeping = Keeping(given["out"], given["force"], given["as_json"])
    budget = budget_of(*(given[name] for name, _ in BUDGET_OPTIONS))
    check_words("--title", title)
    check_folder(keeping.folder(), replace=keeping.force)
    study = Study.read(given["study"])
    sealed = study.sealed(given["sealed"])
    with heard(as_json=keeping.as_json), progress("opening", then="certifying and writing") as watched:
        made = publish_study(
            study,
            sealed,
            keeping.folder(),
            title=title,
            budget=budget,
            force=keeping.force,
            opening=OnAllCores(watched(sealed.header.count, lambda: None)),
        )
    more = fitting(budget, study.collection.design)
    show_release(made, as_json=keeping.as_json, more=more)
