"""The command design: a question and its noise are settled before there is a table."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shuffledp.cli import options, show
from shuffledp.cli.listing import RUN, app, examples
from shuffledp.cli.options import QUESTION, declared_for, is_typed, sharing, whole
from shuffledp.cli.questions import asked, own_of
from shuffledp.cli.waiting import patiently
from shuffledp.errors import Argument, InvalidInput
from shuffledp.questions import OURS, options_of_all
from shuffledp.release.options import Budgeted, WeekOptions, options_of
from shuffledp.storage.files import check_apart, check_new_file, replace_file
from shuffledp.wording import quote, rounded

if TYPE_CHECKING:
    from shuffledp.design import Design
    from shuffledp.release.arguments import Promise

__all__: list[str] = []

QUESTIONS = options_of_all()
LATER = {*options_of(WeekOptions), *options_of(Budgeted), "title", "by"} - {"missing"}  # said where there is a table


@app.command(
    "design",
    rich_help_panel=RUN,
    epilog=examples(
        "design histogram --categories cities.txt --n 1e6 --epsilon 1 --delta 1e-8 --out city.json",
        "design crosstab --column region --column smoker --categories regions.txt --categories yes,no --n 1e6 "
        "--epsilon 1 --delta 1e-8 --out table.json",
        "design mean --lower 0 --upper 120 --n 1e6 --honest 90% --rounds 12 --epsilon 1 --delta 1e-8 --out age.json",
        "design quantile --lower 0 --upper 120 --at 0.1,0.5,0.9 --n 1e6 --epsilon 1 --delta 1e-8 --out age.json",
        "design top --k 10 --longest 8 --n 20000 --epsilon 1 --delta 1e-6 --out words.json",
    ),
)
@sharing([options.COLUMNS, *declared_for(QUESTIONS, leave=LATER), options.AS_JSON], dict)
def design(
    given: dict[str, Any],
    task: Annotated[str, typer.Argument(metavar="TASK", help=f"One of {', '.join(OURS)}.")],
    n: Annotated[int, whole("n", QUESTION, "How many people will report.")],
    out: options.OutFile,
    force: options.ReplaceFile = False,
) -> None:
    """Write the design file that clients, shuffler and analyst share."""
    check_apart(check_new_file(out, replace=force), *map(Path, given["categories"] or ()))
    if task not in OURS:
        raise InvalidInput(
            f"the task must be one of {', '.join(OURS)}, got {task!r}. A histogram counts the people in each category."
        )
    question, promise = _asked(task, given)
    with patiently("calibrating"):
        made = question.design(n, promise)
    replace_file(out, lambda place: place.write_text(made.file_text(), encoding="utf-8"))
    shown: Callable[..., None] = own_of(task).designed or _designed
    return shown(made, out, as_json=given["as_json"])


def _designed(made: "Design", out: Path, *, as_json: bool) -> None:
    """What was settled, and what follows."""
    poll = made.poll
    bound = poll.guarantee.epsilon(delta=made.delta)
    if as_json:
        return show.as_json(
            {
                "design": made.as_json(),
                "digest": made.digest,
                "lower": bound.lower,
                "upper": bound.upper,
                "bits": poll.bits,
                "out": str(out),
            }
        )
    show.answer(
        f"{made.question.type}: {made.n:,} people, at least {made.honest:,} of them honest",
        [
            ("epsilon", rounded(bound.upper, up=True), f"at most, at delta = {show.exactly(made.delta)}"),
            show.alone(made.mechanism, made.shown_alone),
            ("error", f"{poll.predicted_stderr():.4g}", "standard error to expect"),
            ("bits", f"{poll.bits}", "in a report"),
        ],
        [*show.algorithm(made), f"Written to {out}."],
    )
    following = f"shuffledp encode FILE --design {quote(str(out))} --column NAME --out reports.parquet"
    if poll.epsilon0 == math.inf or poll.randomizer.mixes:  # which plain files do not hide
        following = f"shuffledp collection new --design {quote(str(out))} --shuffler URL --out study"
    return show.command(following, "Next: ")


def _asked(task: str, given: dict[str, Any]) -> "tuple[Any, Promise]":
    """The question that the options describe, without a table, and what is promised."""
    known = options_of(QUESTIONS[task])
    columns, listed = given["column"], given["categories"]
    if known.get("categories", known[next(iter(known))]).kind != "texts":
        if columns or len(listed or ()) > 1:
            raise InvalidInput(
                f"a {task} is about one column, which needs no name here, got --column or several --categories. Leave "
                f"them out, or design a crosstab."
            )
        given["categories"] = listed[0] if listed else None
    if task == "count" and any(given[name] for name in ("categories", "other")):
        raise InvalidInput(
            "--categories and --other must be left out in a design of a count, got some: it holds the value alone, "
            "and whatever else people hold is else. Design a histogram to tell the others apart."
        )
    for name in sorted(given.keys() - known.keys() - {"column", "as_json"}):
        if is_typed(given[name]):
            takers = ", ".join(each for each, options in QUESTIONS.items() if name in options_of(options))
            flag = Argument.of(name).typed
            raise InvalidInput(f"{task} takes no {flag}. It is for {takers}. Leave out {flag}.")
    question, promise, _ = asked(task, given, "-")
    return question, promise
