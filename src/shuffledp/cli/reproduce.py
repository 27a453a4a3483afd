"""The command reproduce: figures and tables of the papers, computed again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from shuffledp.cli import show
from shuffledp.cli.listing import COMPARE, app, examples
from shuffledp.cli.options import ANSWER, QUESTION, Json
from shuffledp.cli.waiting import bars
from shuffledp.errors import InvalidInput
from shuffledp.papers.experiment import Experiment
from shuffledp.papers.reproduction import Outcome, ReproductionError, select
from shuffledp.papers.reproduction import reproduce as computed

__all__: list[str] = []

FOLDER = "reproduced"


@app.command(
    "reproduce",
    rich_help_panel=COMPARE,
    epilog=examples("reproduce --list", "reproduce koskela-fig1 biswas-table1", "reproduce --all --out figures"),
)
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Which figures and tables; --list has their names.", show_default=False
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All of them, which takes minutes.", rich_help_panel=QUESTION)
    ] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="List what there is, and compute nothing.", rich_help_panel=QUESTION)
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Recompute what is already there, too.", rich_help_panel=QUESTION)
    ] = False,
    out: Annotated[
        str,
        typer.Option("--out", metavar="FOLDER", help="Where the files go; made if missing.", rich_help_panel=ANSWER),
    ] = FOLDER,
    as_json: Json = False,
) -> None:
    """The figures and tables of the papers, computed again beside certified bounds: as CSV, PNG and
    SVG.

    What is already there is kept, and an interrupted run continues where it stopped.
    """
    if names and everything:
        raise InvalidInput(f"either names or --all, got both --all and {names[0]!r}. Leave one out.")
    chosen = select(names or None)
    if listing:
        return _list(chosen, as_json)
    if not names and not everything:
        raise InvalidInput(
            "names of figures or tables are missing. Give some, or --all; see them with: shuffledp reproduce --list"
        )
    if not out.strip():
        raise InvalidInput(
            f"--out must name a folder, got {out!r}. Write . for the current one, or leave it out for {FOLDER!r}."
        )
    try:
        with _watching(chosen) as progress:
            outcomes = computed([experiment.name for experiment in chosen], Path(out), force=force, progress=progress)
    except ReproductionError as error:
        _show(error.outcomes, out, as_json)
        raise
    return _show(outcomes, out, as_json)


def _list(chosen: Sequence[Experiment], as_json: bool) -> None:
    if as_json:
        cells = ("name", "paper", "title", "parameters")
        return show.as_json(
            {"experiments": [{cell: getattr(experiment, cell) for cell in cells} for experiment in chosen]}
        )
    return show.table(
        ["name", "what"], [(each.name, f"{each.title}\n{each.paper}. {each.parameters}") for each in chosen], numbers=0
    )


def _show(outcomes: Sequence[Outcome], out: str, as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "name": each.name,
                "state": each.state,
                "seconds": each.seconds,
                "files": [str(path) for path in each.files],
            }
            | ({"error": each.error} if each.error else {})
            for each in outcomes
        ]
        return show.as_json({"out": out, "experiments": rows})
    cells = [
        (
            "-" if each.state == "kept" else f"{each.seconds:.1f}",
            each.state,
            each.name,
            " ".join(path.suffix[1:] for path in each.files),
        )
        for each in outcomes
    ]
    show.table(["seconds", "", "name", "files"], cells, numbers=1)
    return show.sentences([f"\nThe files are in {out!r}."])


@contextmanager
def _watching(chosen: Sequence[Experiment]) -> Iterator[Callable[[str, int, int], None] | None]:
    """Bars on a terminal: curves in all, and those of every experiment under way. Standard output
    is left alone.
    """
    if not Console(stderr=True).is_terminal:
        yield None
        return
    with bars() as drawn:
        everything = sum(experiment.count for experiment in chosen)
        total = drawn.add_task(f"{len(chosen)} experiments", total=everything, said="")
        hidden: dict[str, Any] = {"visible": False, "start": False, "said": ""}
        mine = {each.name: drawn.add_task(each.name, total=each.count, **hidden) for each in chosen}
        finished: dict[str, int] = {}

        def advance(name: str, done: int, count: int) -> None:
            if name not in finished:
                drawn.start_task(mine[name])
            finished[name] = min(done, count)
            drawn.update(
                mine[name], completed=finished[name], visible=done < count, said=f"{finished[name]} of {count} curves"
            )
            drawn.update(total, completed=sum(finished.values()), said=f"{sum(finished.values())} of {everything}")

        yield advance
