"""The command plan: which mechanism for a question, and what error to expect. With
--web, the planner as a page on this machine.
"""

import math
import os
import sys
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import quote

from shuffledp.cli import show
from shuffledp.cli.app import command
from shuffledp.cli.options import (
    ANSWER,
    JSON,
    LATEX,
    PLOT,
    QUESTION,
    argument,
    as_declared,
    check_form,
    declared,
    option,
    read_count,
    read_sizes,
)
from shuffledp.cli.questions import check_question, own_of
from shuffledp.cli.show import patiently
from shuffledp.errors import InvalidInput, check_delta
from shuffledp.questions import OURS
from shuffledp.release.options import Epsilon, Promised, Rounds, options_of
from shuffledp.search.options import Searched
from shuffledp.wording import in_percent

SEARCHED = ("words", "longest", "least_holders", "tokens")
PROMISED = {**options_of(Epsilon), **options_of(Promised), **options_of(Rounds)}


@command(
    "plan",
    "histogram --categories 16 --n 10000 --epsilon 1 --delta 1e-6",
    "quantile --categories 120 --n 10000 --epsilon 1 --delta 1e-6",
    "crosstab --categories 4x3 --n 10000 --epsilon 1 --delta 1e-6",
    "top --n 1e6 --words 20 --longest 8 --epsilon 1 --delta 1e-6",
    "mean --n 1e5 --honest 90% --epsilon 0.5 --delta 1e-8",
    "--web",
    options=[
        argument("question", "QUESTION", f"One of {', '.join(OURS)}.", str, None),
        *((name, each.replace(default=None)) for name, each in declared(Epsilon, Promised)),
        *declared(Rounds),
        *declared(Searched, only=SEARCHED),
        option("n", QUESTION, "How many people report.", read_count),
        option(
            "categories", QUESTION, "Number of categories, or bins; of a crosstab, 4x3.", read_sizes, metavar="COUNT"
        ),
        PLOT,
        LATEX,
        option("web", ANSWER, "Open the planner as a page on this machine.", bool),
        option("port", ANSWER, "With --web: the port to listen on; if left out, a free one.", read_count),
        option("plan", ANSWER, "With --web: a plan that the page was asked to share.", metavar="TEXT"),
        JSON,
    ],
)
def plan(
    *,
    question: str | None,
    n: int | None,
    categories: Any,
    plot: Path | None,
    latex: bool,
    web: bool,
    port: int | None,
    plan: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Every mechanism that keeps a promise (epsilon, delta), with the error to expect and the bits
    to send.
    """
    if web:
        return _serve(port, plan)
    from shuffledp import figures
    from shuffledp.planning import plan as made
    from shuffledp.planning import planned
    from shuffledp.release.arguments import complete, promise_of

    _refuse("a question, without --web", port=port, plan=plan)
    wanted = {"QUESTION": question, "--n": n, "--epsilon": given["epsilon"], "--delta": given["delta"]}
    if missing := [f"'{name}'" for name, value in wanted.items() if value is None]:
        raise InvalidInput(f"Missing {', '.join(missing)}. Give them, or --web to open the planner as a page.")
    assert question is not None
    assert n is not None
    searched = {name: given[name] for name in options_of(Searched) if given.get(name) is not None}
    promise = promise_of(complete(PROMISED, as_declared(PROMISED, given)))
    delta = promise.delta
    check_question(question)
    if (own_plan := own_of(question).planned) is not None:
        _refuse(question, categories=categories, plot=plot, latex=latex or None)
        check_delta(delta)
        return own_plan(n, promise, searched, as_json=as_json)  # type: ignore[no-any-return]
    _refuse(question, **searched)
    check_form(as_json=as_json, latex=latex)
    if plot is not None:
        figures.check_figure(plot)
    rounds = promise.rounds
    terms = promise.terms(n)
    with patiently("planning"):
        found = made(question, categories=categories, **terms)
        if plot is not None:
            figures.plan_figure(
                question, plot, n=n, delta=delta, categories=categories, rounds=rounds, honest=terms["honest"]
            )
    if as_json:
        cells = ("name", "trust", "epsilon0", "right", "error", "worst", "messages", "bits", "rests")
        facts = {
            "task": question,
            "n": n,
            "honest": n if terms["honest"] is None else terms["honest"],
            "domain": categories,
            "epsilon": promise.epsilon,
            "delta": delta,
            "rounds": rounds,
        }
        options = [{cell: _plain(getattr(option, cell)) for cell in cells} for option in found.options]
        refused = [{"name": name, "reason": reason} for name, reason in found.refused]
        return show.as_json(
            facts | {"options": options, "refused": refused} | ({"plot": str(plot)} if plot is not None else {})
        )
    about = planned(question)
    counts = about.worst is not None
    rows = [
        (
            "-" if option.epsilon0 is None else f"{option.epsilon0:.4f}",
            "-" if option.right is None else "always" if option.right == 1.0 else in_percent(option.right, up=True),
            show.number(option.error),
            *([show.number(option.worst)] if counts else []),
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
            f"--{given[0].replace('_', '-')} must be left out of a plan of {task}, got it. It is for other questions."
        )


HIGHEST = 65_535


def _serve(port: int | None, shared: str | None) -> None:
    """The planner as a page: move people, categories, rounds and promise, and see noise, error and
    every published bound while you move.
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
    fragment = "" if shared is None else f"#{quote(shared, safe='=&%+')}"
    with server:
        print(f"The planner is at {server.address}{fragment}", flush=True)
        print("It answers this machine alone, for as long as this runs. Ctrl-C ends it.", flush=True)
        if _has_screen():
            webbrowser.open(server.invitation + fragment)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("\nThe planner has ended.")


def _has_screen() -> bool:
    """Whether a browser would open beside this terminal, and not inside it."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
