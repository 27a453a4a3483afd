"""The command plan: which mechanism for a question, and what error to expect. And studio: the
planner as a page on this machine.
"""

import math
import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from shuffledp.cli import show
from shuffledp.cli.app import app
from shuffledp.cli.options import (
    ANSWER,
    LATEX,
    QUESTION,
    Json,
    as_declared,
    check_form,
    declared,
    flag,
    read_sizes,
    sharing,
    whole,
)
from shuffledp.cli.questions import own_of
from shuffledp.cli.show import patiently
from shuffledp.errors import InvalidInput, check_delta
from shuffledp.questions import OURS
from shuffledp.release.options import Epsilon, Promised, Rounds, options_of
from shuffledp.search.options import Searched
from shuffledp.wording import in_percent

PROMISED = {**options_of(Epsilon), **options_of(Promised), **options_of(Rounds)}


@app.command(
    "plan",
    "plan histogram --domain 16 --n 10000 --epsilon 1 --delta 1e-6",
    "plan quantile --domain 120 --n 10000 --epsilon 1 --delta 1e-6",
    "plan crosstab --domain 4x3 --n 10000 --epsilon 1 --delta 1e-6",
    "plan top --n 1e6 --k 20 --longest 8 --epsilon 1 --delta 1e-6",
    "plan mean --n 1e5 --honest 90% --epsilon 0.5 --delta 1e-8",
)
@sharing(
    [*declared(Epsilon, Promised, Rounds), *declared(Searched, only=("k", "longest", "least_holders", "tokens"))], dict
)
def plan(
    given: dict[str, Any],
    task: Annotated[str, typer.Argument(metavar="TASK", help=f"One of {', '.join(OURS)}.")],
    n: int = whole("n", QUESTION, "How many users report."),
    domain: Any = flag(
        "domain",
        QUESTION,
        "How many categories, or bins of a quantile; of a crosstab those of each column, as 4x3; a mean has none.",
        metavar="COUNT",
        parser=read_sizes,
        default=None,
    ),
    plot: Path | None = flag(
        "plot", ANSWER, "Draw error against epsilon, as png, svg or pdf.", metavar="FILE", default=None
    ),
    as_json: Json = False,
    latex: Annotated[bool, LATEX] = False,
) -> None:
    """Every mechanism that keeps a promise (epsilon, delta), with the error to expect and the bits
    to send.
    """
    from shuffledp import figures
    from shuffledp.planning import plan as made
    from shuffledp.planning import planned
    from shuffledp.release.arguments import complete, promise_of

    searched = {name: given[name] for name in options_of(Searched) if given.get(name) is not None}
    promise = promise_of(complete(PROMISED, as_declared(PROMISED, given)))
    delta = promise.delta
    if task in OURS and (own_plan := own_of(task).planned) is not None:
        _refuse(task, domain=domain, plot=plot, latex=latex or None)
        check_delta(delta)
        return own_plan(n, promise, searched, as_json=as_json)  # type: ignore[no-any-return]
    _refuse(task, **searched)
    if task not in OURS:
        raise InvalidInput(
            f"the task must be one of {', '.join(OURS)}, got {task!r}. A histogram counts the people in each category."
        )
    check_form(as_json=as_json, latex=latex)
    if plot is not None:
        figures.check_figure(plot)
    kind, rounds = task, promise.rounds
    terms = promise.terms(n)
    with patiently("planning"):
        found = made(kind, domain=domain, **terms)
        if plot is not None:
            figures.plan_figure(kind, plot, n=n, delta=delta, domain=domain, rounds=rounds, honest=terms["honest"])
    if as_json:
        cells = ("name", "trust", "epsilon0", "right", "error", "worst", "messages", "bits", "rests")
        facts = {
            "task": task,
            "n": n,
            "honest": n if terms["honest"] is None else terms["honest"],
            "domain": domain,
            "epsilon": promise.epsilon,
            "delta": delta,
            "rounds": rounds,
        }
        options = [{cell: _plain(getattr(option, cell)) for cell in cells} for option in found.options]
        refused = [{"name": name, "reason": reason} for name, reason in found.refused]
        return show.as_json(
            facts | {"options": options, "refused": refused} | ({"plot": str(plot)} if plot is not None else {})
        )
    about = planned(kind)
    counts = about.worst is not None
    rows = [
        (
            "-" if option.epsilon0 is None else f"{option.epsilon0:.4f}",
            "-" if option.right is None else "always" if option.right == 1.0 else in_percent(option.right, up=True),
            f"{option.error:.4g}",
            *([f"{option.worst:.4g}"] if counts else []),
            f"{option.messages}",
            f"{option.bits}",
            option.trust,
            option.title,
        )
        for option in found.options
    ]
    columns = [
        "epsilon0",
        "right",
        "error",
        *(["worst"] if counts else []),
        "messages",
        "bits",
        "whom to trust",
        "mechanism",
    ]
    if latex:
        return show.latex(columns, rows, numbers=5 + counts)
    show.answer(str(found).partition("\n")[0], [], [])
    show.table(columns, rows, numbers=5 + counts)
    show.sentences([f"\nThe error is the {about.error}, predicted for one round."])
    show.sentences(["Right is how often the best guess from one report is, at most, where no answer seemed likelier."])
    if any(option.right == 1.0 for option in found.options):
        show.sentences(
            ["Always: a person's messages contain the true answer, or add up to it and their share of the noise."]
        )
    if counts:
        show.sentences([f"The worst is the {about.worst}: for instance with {about.crowded}."])
    show.bullets(f"{name} does not fit: {reason}" for name, reason in found.refused)
    return show.written(figure=plot)


def _plain(cell: Any) -> Any:
    """As JSON has it: there is no infinity."""
    return None if cell == math.inf else cell


def _refuse(task: str, **options: object) -> None:
    """Refuse options that say nothing of this task."""
    if given := [name for name, value in options.items() if value is not None]:
        raise InvalidInput(
            f"--{given[0].replace('_', '-')} must be left out of a plan of {task}, got it. It is for other tasks."
        )


HIGHEST = 65_535


@app.command("studio", "studio", "studio --port 8765 --no-open", "studio --plan 'n=1000000&rounds=12'")
def studio(
    port: int | None = whole(
        "port", ANSWER, "The port to listen on, on this machine alone; if left out, a free one.", default=None
    ),
    plan: str | None = flag("plan", QUESTION, "A plan that the page was asked to share.", metavar="TEXT", default=None),
    open_page: bool = typer.Option(
        True, "--open/--no-open", help="Open the page in the browser.", rich_help_panel=ANSWER
    ),
) -> None:
    """Plan on a page: move users, categories, rounds and promise, and see noise, error and every
    published bound while you move.
    """
    from shuffledp.studio.server import Studio

    if port is not None and not 1 <= port <= HIGHEST:
        raise InvalidInput(f"--port must lie in [1, {HIGHEST}], got {port}. Leave it out for a free one.")
    try:
        server = Studio(port or 0)
    except OSError as error:
        raise InvalidInput(
            f"--port must be free to listen on, got {port}: {error.strerror}. Leave it out for a free one."
        ) from None
    fragment = "" if plan is None else f"#{quote(plan, safe='=&%+')}"
    with server:
        print(f"The planner is at {server.address}{fragment}", flush=True)
        print("It answers this machine alone, for as long as this runs. Ctrl-C ends it.", flush=True)
        if open_page and _has_screen():
            webbrowser.open(server.invitation + fragment)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("\nThe planner has ended.")


def _has_screen() -> bool:
    """Whether a browser would open beside this terminal, and not inside it."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
