"""The commands series new, add, status and plot: one design, asked every week."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.cli import options, show
from shuffledp.cli.app import command
from shuffledp.cli.options import ANSWER, JSON, QUESTION, TABLE, argument, declared, option, read_count
from shuffledp.cli.questions import (
    Keeping,
    TypedCommand,
    certify,
    engine_of,
    found,
    heard,
    read_as,
    show_release,
    source_of,
)
from shuffledp.cli.show import patiently
from shuffledp.errors import InvalidInput
from shuffledp.release.options import Budgeted, Titled, WeekOptions
from shuffledp.wording import quote, rounded

if TYPE_CHECKING:
    from shuffledp.series.pausing import Pace
    from shuffledp.series.trend import Trend
    from shuffledp.series.weeks import Tracked, Week

SERIES = "The series"
NOT_LOOKING = (
    "A pace is chosen without looking at the answers. Other noise is another design: a new series, paid for by itself."
)
PAID = "All weeks were paid for in the ledger, and each will be released once."
UNPAID = (
    "Without a ledger only this folder knows which weeks were released: do not copy it, and do not ask the same "
    "people elsewhere."
)
FOLDER = argument("folder", "FOLDER", "The folder of the series.")
PERIOD = option("period", SERIES, "The week, month or day that it is about, such as 2026-W47.", metavar="PERIOD")
LEDGER = option("ledger", SERIES, "Where the ledger of the series is now, if it was moved.", Path)


@command(
    "series new",
    "cities --design city.json",
    "ages --design age.json --ledger budget.sqlite --population app-users --limit-epsilon 4 --limit-delta 1e-5",
    options=[
        argument("folder", "FOLDER", "The folder of the series; it must not exist yet."),
        option("design", QUESTION, "Design whose --rounds is the number of weeks.", Path, default=...),
        option("weeks", QUESTION, "The number of weeks, to compare with the design's.", read_count),
        option("name", SERIES, "Its name; if left out, that of the folder."),
        option("by", TABLE, "For a crosstab: follow shares within the groups of this column."),
        *declared(Budgeted, Titled),
        JSON,
    ],
)
def new(
    *,
    folder: Path,
    design: Path,
    weeks: int | None,
    name: str | None,
    by: str | None,
    title: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Start a series: one design whose promise is for all weeks together.

    With --ledger, all weeks are paid for at once, and each of them is then released once, wherever
    the folder is copied. Without one, nothing keeps a copy of the folder from being used again.
    """
    from shuffledp.client import read_design
    from shuffledp.release.arguments import budget_of
    from shuffledp.series.weeks import new_series

    budget = budget_of(given)
    shared = certify(read_design(design))
    if shared.rounds < 2:
        raise InvalidInput(
            f"--design must have two rounds or more, one for each week, got {shared.rounds}. Write it again with "
            f"`shuffledp stage design`, and --rounds 52."
        )
    if weeks not in (None, shared.rounds):
        raise InvalidInput(
            f"--weeks must be the rounds of the design, {shared.rounds}, got {weeks}. Write the design again with "
            f"--rounds {weeks}."
        )
    with patiently("paying for all weeks" if budget is not None else "writing"):
        made = new_series(folder, shared, folder.name if name is None else name, title=title, by=by, budget=budget)
    bound = shared.poll.guarantee.epsilon(delta=shared.delta)
    if as_json:
        facts = {"out": str(folder), "series": made.as_json(), "digest": made.digest}
        ends = {"lower": bound.lower, "upper": bound.upper}
        return show.as_json(facts | ends | {"error": shared.poll.predicted_stderr()})
    show.answer(
        f"series {made.name}: {shared.question.type}, {made.weeks:,} weeks of {shared.honest:,} to {shared.n:,} people",
        [
            (
                "epsilon",
                rounded(bound.upper, up=True),
                f"for all weeks together, at delta = {show.exactly(shared.delta)}",
            ),
            show.alone(shared.mechanism, shared.reveals),
            ("error", show.number(shared.poll.predicted_stderr()), "standard error to expect of a week"),
        ],
        [PAID if made.ledger is not None else UNPAID],
    )
    return show.command(f"shuffledp series add {quote(str(folder))} FILE --column NAME", "Next: ")


@command(
    "series add",
    "cities people.parquet --column city",
    "cities people.parquet --column city --period 2026-W47",
    "cities 'visits/*.parquet' --column city --engine spark",
    options=[
        FOLDER,
        options.SOURCES,
        PERIOD,
        option("week", SERIES, "Which week it is; if left out, the next.", read_count),
        LEDGER,
        options.COLUMNS,
        *declared(WeekOptions, Titled),
        *options.ENGINE_OPTIONS,
        JSON,
    ],
)
def add(**given: Any) -> None:
    """Release one more week of a series.

    A week with fewer people than were promised is refused, and not used up; nor is one whose run
    was killed before its folder stood. With --period, weeks that were left out show as gaps; a
    later week has a later period, and a week that was left out may be released late: --week.
    """
    from shuffledp.series.weeks import next_week

    named = {each: given.pop(each) for each in ("week", "period", "ledger")}
    with next_week(given.pop("folder"), **named) as week:
        asking = _asking(week, given)
        with heard(as_json=asking.keeping.as_json), found(asking) as table:
            week.check_people(table.people)
            made = table.publish(week.series.design)
    refresh(week.folder.parent.parent, named["ledger"])
    show_release(made, as_json=asking.keeping.as_json)


def _asking(week: "Week", given: dict[str, Any]) -> TypedCommand:
    """A week as a question in one go, with the promise of the design."""
    from shuffledp.client import column_for
    from shuffledp.release.arguments import Promise
    from shuffledp.series.weeks import question_of

    design, engine = week.series.design, engine_of(given)
    promise = Promise(epsilon=design.epsilon, delta=design.delta, rounds=design.rounds, honest=design.honest)
    reading = read_as(source_of(given["source"]), given) | {"column": column_for(design, given["column"] or [])}
    rules = {name: given[name] for name in ("missing", "clip", "title")}
    question = question_of(week, **reading | rules)
    return TypedCommand(question, promise, week.budget, Keeping(week.folder, False, given["as_json"]), False, engine)


def refresh(folder: Path, ledger: Path | None) -> None:
    """Make the page and the table of the trend again."""
    from shuffledp.series.trend_page import write_pages
    from shuffledp.series.weeks import tracked

    with patiently("drawing the trend"):
        write_pages(tracked(folder, ledger=ledger))


@command("series status", "cities", "cities --json", options=[FOLDER, LEDGER, JSON])
def status(folder: Path, ledger: Path | None, as_json: bool) -> None:
    """How many weeks are left, what was spent so far, and what a pause would buy: every number is
    certified.
    """
    from shuffledp.series.pausing import paces, spent_after
    from shuffledp.series.weeks import tracked

    state = tracked(folder, ledger=ledger)
    design, released = state.series.design, len(state.taken)
    with patiently("composing the weeks"):
        spent, options = spent_after(design, released), paces(design, released)
    weeks = [_released(state, week) for week in sorted(state.taken)]
    if as_json:
        return show.as_json(
            {
                "series": state.series.name,
                "digest": state.series.digest,
                "weeks": state.series.weeks,
                "released": weeks,
                "left": state.left,
                "spent": None if spent is None else {"lower": spent.lower, "upper": spent.upper},
                "promised": {"epsilon": design.epsilon, "delta": design.delta},
                "paces": [each.as_json() for each in options],
            }
        )
    at_most = "nothing" if spent is None else rounded(spent.upper, up=True)
    rows = [
        ("released", f"{released:,}", f"of {state.series.weeks:,} weeks"),
        ("left", f"{state.left:,}", "weeks"),
        ("spent", at_most, f"epsilon of these {released:,} at delta = {show.exactly(design.delta)}, at most"),
        ("promised", f"{design.epsilon:g}" if design.epsilon is not None else "nothing", "epsilon of all weeks"),
    ]
    show.answer(f"series {state.series.name}", rows, [])
    _show_weeks(state, [each for each in weeks if each["here"]])
    if options:
        head = ["ask", "weeks", "epsilon in all", "error of a week", "if calibrated anew"]
        show.table(head, [_row(each) for each in options], numbers=0)
        show.sentences([NOT_LOOKING])
    return None


def _show_weeks(state: "Tracked", weeks: list[dict[str, Any]]) -> None:
    if weeks:
        print()
        table = [(str(each["week"]), f"{each['reports']:,}", each["period"] or "", each["when"][:16]) for each in weeks]
        show.table(["week", "reports", "period", "released, UTC"], table, numbers=2)
    if elsewhere := sorted(state.taken - set(state.standing)):
        show.sentences([f"Released elsewhere, says the ledger: week {', '.join(map(str, elsewhere))}."])
    if state.paid is not None:
        show.sentences(["The ledger keeps what was paid for all weeks: a week that is never asked gives nothing back."])
    print()


def _released(state: "Tracked", week: int) -> dict[str, Any]:
    record = state.standing.get(week)
    if record is None:
        return {"week": week, "here": False}
    return {
        "week": week,
        "here": True,
        "period": state.periods()[week],
        "reports": record.counted.reports,
        "when": record.made.when,
        "page": str(state.folder / "weeks" / f"{week:03d}" / "page.html"),
    }


def _row(pace: "Pace") -> tuple[str, ...]:
    better = ""
    if pace.gain is not None and pace.calibrated_error is not None:
        better = f"{show.number(pace.calibrated_error)}: {pace.gain:.2f} times smaller"
    return (pace.words, f"{pace.asked:,}", rounded(pace.epsilon.upper, up=True), show.number(pace.error), better)


@command(
    "series plot",
    "cities",
    "cities --out trend.svg",
    options=[FOLDER, option("out", ANSWER, "An .svg file; if left out, trend.svg in the folder.", Path), LEDGER, JSON],
)
def plot(folder: Path, out: Path | None, ledger: Path | None, as_json: bool) -> None:
    """Draw the trend: every week with its interval, the one that holds for all weeks at once, and
    gaps where there is none. The page and the table are made again, too.
    """
    from shuffledp.series.trend import trend_of
    from shuffledp.series.trend_page import PAGES, trend_svg, write_pages
    from shuffledp.series.weeks import tracked

    state = tracked(folder, ledger=ledger)
    trend = trend_of(state)
    if not trend.lines:
        raise InvalidInput(
            f"series {state.series.name!r} must have a week to draw, got none. Release one: shuffledp series add."
        )
    with patiently("drawing the trend"):
        place = trend_svg(trend).save(folder / "trend.svg" if out is None else out)
        write_pages(state)
    if as_json:
        return show.as_json({"out": str(place), **trend.as_json()})
    _show_changes(trend)
    print()
    show.files(folder, PAGES)
    return print(f"{place}  the figure")


def _show_changes(trend: "Trend") -> None:
    from shuffledp.series.trend_page import compared, in_words

    every, told = compared(trend)
    show.sentences([f"{len(told)} of {len(every)} changes from week to week are more than noise, all of them at once."])
    words = ((label, change, *in_words(trend, label, change)) for label, change in told)
    show.bullets(
        f"{label}: {value} from week {change.since.week} to {change.to.week}, between {between}"
        for label, change, value, between in words
    )
