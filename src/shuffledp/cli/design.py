"""The command design: a question and its noise are settled before there is a table."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shuffledp.cli import show
from shuffledp.cli.hiding_options import HIDING_OPTIONS, hiding_of
from shuffledp.cli.listing import RUN, app, examples
from shuffledp.cli.numbers import read_count, read_number
from shuffledp.cli.options import AS_JSON, QUESTION, OutFile, ReplaceFile, whole
from shuffledp.cli.promise_options import NOISE, PROMISE_OPTIONS
from shuffledp.cli.sharing import option, sharing
from shuffledp.cli.table_options import COLUMNS, TABLE
from shuffledp.cli.value_options import (
    BIN_OPTIONS,
    BINNED,
    CATEGORY_OPTIONS,
    LISTS,
    EncodedBy,
    LowerBound,
    UpperBound,
    binned,
)
from shuffledp.cli.waiting import patiently
from shuffledp.collection.release.terms import Promise, read_categories
from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks import TASKS
from shuffledp.storage.files import check_apart, check_new_file, replace_file
from shuffledp.wording import quote, rounded

if TYPE_CHECKING:
    from shuffledp.collection.release.question import Question

__all__ = ["ASKED_EARLY", "settled_question"]

HIDDEN = ("histogram", "crosstab", "quantile")  # by fakes, if asked for
# Of a count, a mean or a sum that is settled before there is a table.
REACHING_OPTIONS = [
    option("value", TABLE, "For a count: the value to count.", metavar="NAME"),
    option(
        "messages", TABLE, "For a mean, a sum or a count: how many messages each person may send.", parser=read_count
    ),
    option("error", TABLE, "For a mean, a sum or a count: the standard error to stay below.", parser=read_number),
]
ASKED_EARLY = [COLUMNS, *CATEGORY_OPTIONS, LISTS, *BIN_OPTIONS, *REACHING_OPTIONS, *HIDING_OPTIONS]
with_categories = sharing(dict([*ASKED_EARLY, *NOISE, *PROMISE_OPTIONS[1:], AS_JSON]), dict)


@app.command(
    "design",
    rich_help_panel=RUN,
    epilog=examples(
        "design histogram --categories cities.txt --n 1e6 --epsilon 1 --delta 1e-8 --out city.json",
        "design crosstab --column region --column smoker --categories regions.txt --categories yes,no --n 1e6 "
        "--epsilon 1 --delta 1e-8 --out table.json",
        "design mean --lower 0 --upper 120 --n 1e6 --honest 90% --rounds 12 --epsilon 1 --delta 1e-8 --out age.json",
        "design quantile --lower 0 --upper 120 --at 0.1,0.5,0.9 --n 1e6 --epsilon 1 --delta 1e-8 --out age.json",
    ),
)
@with_categories
def design(
    given: dict[str, Any],
    task: Annotated[str, typer.Argument(metavar="TASK", help=f"One of {', '.join(TASKS)}.")],
    n: Annotated[int, whole("n", QUESTION, "How many people will report.")],
    out: OutFile,
    lower: LowerBound = None,
    upper: UpperBound = None,
    method: EncodedBy = "hadamard",
    force: ReplaceFile = False,
) -> None:
    """Settle a question and its noise: the file that clients, shuffler and analyst share."""
    check_apart(check_new_file(out, replace=force), *map(Path, given["categories"] or ()))
    promise = Promise(
        rounds=1 if given["rounds"] is None else given["rounds"],
        **{name: given[name] for name in ("epsilon", "delta", "honest", "gamma", "epsilon0", "k")},
    )
    question = settled_question(task, given, lower=lower, upper=upper, method=method)
    with patiently("calibrating"):
        made = question.design(n, promise)
    replace_file(out, lambda place: place.write_text(made.file_text(), encoding="utf-8"))
    protocol = made.protocol
    bound = protocol.guarantee.epsilon(delta=promise.delta)
    if given["as_json"]:
        return show.as_json(
            {
                "design": made.as_json(),
                "digest": made.digest,
                "lower": bound.lower,
                "upper": bound.upper,
                "bits": protocol.bits,
                "out": str(out),
            }
        )
    show.answer(
        f"{task}: {n:,} people, at least {made.least:,} of them honest",
        [
            ("epsilon", rounded(bound.upper, up=True), f"at most, at delta = {show.exactly(promise.delta)}"),
            show.alone(made.law, number=made.task.name in ("mean", "sum")),
            ("error", f"{protocol.predicted_stderr():.4g}", "standard error to expect"),
            ("bits", f"{protocol.bits}", "in a report"),
        ],
        [*show.algorithm(made), f"Written to {out}."],
    )
    following = f"shuffledp encode FILE --design {quote(str(out))} --column NAME --out reports.parquet"
    if protocol.epsilon0 == math.inf or protocol.randomizer.mixes:  # which plain files do not hide
        following = f"shuffledp collection new --design {quote(str(out))} --shuffler URL --out study"
    return show.command(following, "Next: ")


def settled_question(
    task: str, given: dict[str, Any], *, lower: float | None, upper: float | None, method: str
) -> "Question":
    """The question that the options of a design describe, without a table, of one column or of
    several; ``given`` holds those of ``ASKED_EARLY``.
    """
    if task not in TASKS:
        raise InvalidInput(
            f"the task must be one of {', '.join(TASKS)}, got {task!r}. A histogram counts a few categories, a "
            f"frequency very many."
        )
    hiding = hiding_of(given)
    if hiding.family is not None and task not in HIDDEN:
        raise InvalidInput(
            f"--protocol {hiding.protocol} must be of a {', '.join(HIDDEN[:-1])} or {HIDDEN[-1]}, got a {task}. Leave "
            f"it out."
        )
    common: dict[str, Any] = {"source": "-", "task": task, "hiding": hiding}
    counting = TASKS[task].counts
    if task == "quantile":
        common |= {"bins": binned(lower=lower, upper=upper, **{name: given.get(name) for name in BINNED})}
    elif any(given.get(name) is not None for name in ("bins", "scale", "cuts", "ranges")):
        raise InvalidInput(f"a {task} takes no --bins, --scale, --cuts and --range, got some. Leave them out.")
    if counting and not (lower is None and upper is None):
        raise InvalidInput(f"a {task} takes no --lower and --upper, got them. Leave them out, or design a mean.")
    if not counting and task != "quantile":
        if lower is None or upper is None:
            raise InvalidInput(
                "a mean needs --lower and --upper, the bounds that are known without the data, got none. Add --lower 0 "
                "--upper 120."
            )
        common |= {"lower": lower, "upper": upper}
    return _question(task, given, method, common).settled()


def _question(task: str, given: dict[str, Any], method: str, common: dict[str, Any]) -> "Question":
    """What is asked, of one column or of several."""
    from shuffledp.collection.release.central_questions import CountQuestion, SumQuestion
    from shuffledp.collection.release.crossed import CrossQuestion, check_columns, crossed_columns, read_parts
    from shuffledp.collection.release.question import Question

    reaching: dict[str, Any] = {name: given.get(name) for name in ("messages", "error")}
    value = _check_reaching(task, given.get("value"), reaching)
    listed, columns = given["categories"] or [], given["column"] or []
    rules = {name: given[name] for name in ("other", "missing")}
    if task == "crosstab":
        names = check_columns(crossed_columns(columns, by := given.get("by")))
        return CrossQuestion(**common, columns=names, parts=read_parts(names, listed, **rules), by=by)
    if columns or len(listed) > 1:
        raise InvalidInput(
            f"a {task} is about one column, which needs no name here, got --column or several --categories. Leave them "
            f"out, or design a crosstab."
        )
    if value is not None:
        if listed or given["domain"] or rules["other"]:
            raise InvalidInput(
                "--categories, --domain and --other must be left out in a design of a count, got some: it holds the "
                "value alone, and whatever else people hold is else. Design a histogram to tell the others apart."
            )
        return CountQuestion(**common, value=value, **reaching)
    if not TASKS[task].counts:
        return SumQuestion(**common, **reaching) if task in ("mean", "sum") else Question(**common)
    known = read_categories(listed[0] if listed else None, domain=given["domain"], **rules)
    common |= {"categories": known, "method": method}
    return Question(**common)


def _check_reaching(task: str, value: str | None, reaching: dict[str, Any]) -> str | None:
    """The value that is counted, if one is; refused where it, messages or an error say nothing."""
    if (value is not None) != (task == "count"):
        raise InvalidInput(
            f"--value must be given for a count, and for nothing else, got {value!r} for a {task}. Add it, or leave it "
            f"out."
        )
    wrong = [name for name, given in reaching.items() if given is not None and task not in ("mean", "sum", "count")]
    if wrong:
        raise InvalidInput(f"--{wrong[0]} must be of a mean, a sum or a count, got a {task}. Leave it out.")
    return value
