"""The command design: a question and its noise are settled before there is a table."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shuffledp.cli import options, show
from shuffledp.cli.asking import binned, promise_of
from shuffledp.cli.listing import RUN, app, examples
from shuffledp.cli.numbers import read_count, read_number
from shuffledp.cli.options import QUESTION, TABLE, option, sharing, whole
from shuffledp.cli.top import SEARCH_OPTIONS, expected, given_terms, show_expected
from shuffledp.cli.waiting import patiently
from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks import TASKS, TopTask
from shuffledp.release.terms import Hiding, Promise, read_categories
from shuffledp.storage.canonical import canonical
from shuffledp.storage.files import check_apart, check_new_file, replace_file
from shuffledp.wording import quote, rounded

if TYPE_CHECKING:
    from shuffledp.release.question import Question

__all__: list[str] = []

# Of a count, a mean or a sum that is settled before there is a table.
REACHING_OPTIONS = [
    option("value", TABLE, "For a count: the value to count."),
    option(
        "error",
        TABLE,
        "For a mean, a sum or a count: the standard error to stay below; for top: the probability of listing a word "
        "that too few people hold.",
        read_number,
    ),
]
STEPS_OR_WORDS = option(
    "k",
    QUESTION,
    "For a mean or a sum, with --gamma or --epsilon0: the steps of the grid that numbers are rounded to; for top: how "
    "many words to list.",
    read_count,
)
SEARCHED = [each for each in SEARCH_OPTIONS if each[0] not in ("k", "error")]
USUAL = {"at": "0.5", "mechanism": "krr"}
ASKED = [
    options.COLUMNS,
    *options.CATEGORY_OPTIONS,
    options.LISTS,
    *options.BIN_OPTIONS,
    *REACHING_OPTIONS,
    *SEARCHED,
    options.HIDING,
]
with_categories = sharing([*ASKED, *options.NOISE, STEPS_OR_WORDS, *options.PROMISE_OPTIONS[1:], options.AS_JSON], dict)


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
@with_categories
def design(
    given: dict[str, Any],
    task: Annotated[str, typer.Argument(metavar="TASK", help=f"One of {', '.join(TASKS)}.")],
    n: Annotated[int, whole("n", QUESTION, "How many people will report.")],
    out: options.OutFile,
    lower: options.LowerBound = None,
    upper: options.UpperBound = None,
    force: options.ReplaceFile = False,
) -> None:
    """Settle a question and its noise: the file that clients, shuffler and analyst share."""
    check_apart(check_new_file(out, replace=force), *map(Path, given["categories"] or ()))
    _check_own(task, given | {"lower": lower, "upper": upper})
    if task == TopTask.name:
        return _design_search(given, n, promise_of(given, noise=()), out)
    promise = promise_of(given)
    question = _settled_question(task, given, lower=lower, upper=upper)
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
        f"{task}: {n:,} people, at least {made.honest:,} of them honest",
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


def _check_own(task: str, given: dict[str, Any]) -> None:
    """Refuse options of a search for another question, and the other way round."""
    searched = {name for name, _ in SEARCH_OPTIONS}
    fits = {*searched, "epsilon", "delta", "honest", "rounds", "as_json"}
    if task != TopTask.name:
        fits = {*given} - searched | {"k", "error"}
    for name, value in given.items():
        if name not in fits and value is not None and value != USUAL.get(name):
            flag = "range" if name == "ranges" else name.replace("_", "-")
            given_as = str(value) if isinstance(value, Path) else value
            raise InvalidInput(f"--{flag} says nothing about {task}, got {given_as!r}. Leave it out.")


def _design_search(given: dict[str, Any], n: int, promise: Promise, out: Path) -> None:
    """The file of a search for frequent words among so many people."""
    from shuffledp.release.top_question import TopQuestion

    question = TopQuestion(source="-", **given_terms(given)).checked()
    with patiently("calibrating"):
        search = question.search(n, promise)
        told = expected(search)
    replace_file(out, lambda place: place.write_text(canonical(search.as_json()) + "\n", encoding="utf-8"))
    if given["as_json"]:
        return show.as_json({"search": search.as_json(), "digest": search.digest, "out": str(out)} | told)
    show_expected(f"top words: {n:,} people, at least {search.honest:,} of them honest", search, told)
    show.sentences([f"\nWritten to {out}."])
    return show.command(f"shuffledp collection search --design {quote(str(out))} --shuffler URL --out search", "Next: ")


def _settled_question(task: str, given: dict[str, Any], *, lower: float | None, upper: float | None) -> "Question":
    """The question that the options describe, without a table, of one column or of several."""
    if task not in TASKS:
        raise InvalidInput(
            f"the task must be one of {', '.join(TASKS)}, got {task!r}. A histogram counts the people in each category."
        )
    hiding = Hiding(task, given["mechanism"])
    common: dict[str, Any] = {"source": "-", "task": task, "hiding": hiding}
    counting = TASKS[task].counts
    if task == "quantile":
        common |= {"bins": binned(given | {"lower": lower, "upper": upper})}
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
    return _question(task, given, common).settled()


def _question(task: str, given: dict[str, Any], common: dict[str, Any]) -> "Question":
    """What is asked, of one column or of several."""
    from shuffledp.release.central_questions import CountQuestion, SumQuestion
    from shuffledp.release.crossed import CrossQuestion, check_columns, crossed_columns, read_parts
    from shuffledp.release.question import Question

    error, value = given.get("error"), _check_reaching(task, given.get("value"), given.get("error"))
    listed, columns = given["categories"] or [], given["column"] or []
    rules = {name: given[name] for name in ("other", "missing")}
    if task == "crosstab":
        names = check_columns(crossed_columns(columns, None))
        return CrossQuestion(**common, columns=names, parts=read_parts(names, listed, **rules))
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
        return CountQuestion(**common, value=value, error=error)
    if not TASKS[task].counts:
        return SumQuestion(**common, error=error) if task in ("mean", "sum") else Question(**common)
    known = read_categories(listed[0] if listed else None, domain=given["domain"], **rules)
    return Question(**common, categories=known)


def _check_reaching(task: str, value: str | None, error: float | None) -> str | None:
    """The value that is counted, if one is; refused where it, or an error, says nothing."""
    if (value is not None) != (task == "count"):
        raise InvalidInput(
            f"--value must be given for a count, and for nothing else, got {value!r} for a {task}. Add it, or leave it "
            f"out."
        )
    if error is not None and task not in ("mean", "sum", "count"):
        raise InvalidInput(f"--error must be of a mean, a sum or a count, got a {task}. Leave it out.")
    return value
