"""The command top: the most frequent words of a column, from no list at all."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from shuffledp.cli import show
from shuffledp.cli.answering import fitting, heard, show_release
from shuffledp.cli.questions import PROMISED, Asking, Engine, question_command
from shuffledp.cli.waiting import patiently, progress
from shuffledp.wording import rounded

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.release.top_question import TopRequest
    from shuffledp.release.top_release import TopRelease
    from shuffledp.search.search import TopSearch

__all__ = ["FoundTable", "expected", "show_expected"]


class FoundTable(NamedTuple):
    """A table that was read, wherever it lies: the question as it stands then, how many people have
    a word, and how a search among them is carried out.
    """

    question: "TopRequest"
    people: int
    publish: "Callable[[TopSearch], TopRelease]"


def _search(asking: Asking) -> None:
    """Read, calibrate, and either show the plan or search."""
    from shuffledp.release.files import check_folder
    from shuffledp.release.top_release import paying

    keeping = asking.keeping
    if not asking.dry_run:
        check_folder(keeping.folder(), replace=keeping.force)
    with _found(asking) as table:
        with patiently("calibrating"):
            search = table.question.search(table.people, asking.promise)
        asking = replace(asking, budget=paying(asking.budget, search))
        if asking.dry_run:
            return _plan(asking, table.question, search)
        with heard(as_json=keeping.as_json):
            made = table.publish(search)
        more = fitting(asking.budget, search.first_design())
    show_release(made, as_json=keeping.as_json, more=more)
    return None


question_command(
    "top",
    f"searches.parquet --column query --k 50 {PROMISED} --out result",
    f"visits.csv --column page --tokens letters.txt --longest 12 {PROMISED} --dry-run",
    f"'logs/*.parquet' --column query --id user {PROMISED} --out result --engine spark",
    carried_out=_search,
)


def _found(asking: Asking) -> AbstractContextManager[FoundTable]:
    """The table of a question, here or on an engine."""
    if asking.engine is None:
        return _in_file(asking, asking.question)
    return _in_spark(asking, asking.engine, asking.question)


@contextmanager
def _in_spark(asking: Asking, engine: Engine, question: "TopRequest") -> Iterator[FoundTable]:
    """Tables that a session of Spark reads."""
    from shuffledp.cli.spark import reading_column, working
    from shuffledp.engines.spark import check_ids, release_search_column

    with reading_column(asking, engine, question) as column:
        check_ids(column)
        with patiently("reading the table"):
            surveyed = column.survey(question.reader())
        settled = replace(question, column=column.name)

        def publish(search: "TopSearch") -> "TopRelease":
            with patiently("drawing, committing and counting, level by level"), working(asking, engine) as work:
                return release_search_column(
                    column,
                    search,
                    surveyed,
                    settled.asked(),
                    work=work,
                    folder=asking.keeping.folder(),
                    budget=asking.budget,
                    force=asking.keeping.force,
                )

        yield FoundTable(settled, surveyed.people, publish)


@contextmanager
def _in_file(asking: Asking, question: "TopRequest") -> Iterator[FoundTable]:
    """A table that this process reads."""
    from shuffledp.release.top_release import release_search

    keeping = asking.keeping
    with progress("reading") as watched:
        column = question.open()
        settled = replace(question, column=column.name)
        values = settled.values(column, tick=watched(column.rows, column.progress))

    def publish(search: "TopSearch") -> "TopRelease":
        with progress("asking, level by level", then="certifying and writing") as watched:
            return release_search(
                search,
                values,
                settled.asked(),
                keeping.folder(),
                budget=asking.budget,
                force=keeping.force,
                tick=watched(values.count, lambda: None),
            )

    with values:
        yield FoundTable(settled, values.count, publish)


def _plan(asking: Asking, question: "TopRequest", search: "TopSearch") -> None:
    """What would be asked of whom, and what could be found."""
    with patiently("certifying"):
        told = expected(search)
        receipt = None if asking.budget is None else asking.budget.afford(search.first_design(), question.what)
    if asking.keeping.as_json:
        facts = {"dry_run": True, "asked": question.asked().as_json(), "search": search.as_json()}
        show.as_json(facts | told | ({} if receipt is None else {"ledger": receipt}))
        return
    show_expected(f"{question.what}: {search.people:,} people", search, told)
    if receipt is not None:
        spent = f"{rounded(receipt['total']['upper'], up=True)} of {receipt['limit']['epsilon']:g}"
        show.sentences([f"\nOf the budget of {receipt['population']!r}, {spent} would be spent."])
    show.sentences(["\nNothing was written. Leave out --dry-run, and add --out FOLDER, to run it."])


def expected(search: "TopSearch") -> dict[str, Any]:
    """What is certified of a search, who would be asked, and what could be found."""
    from shuffledp.search.search import MISS, rarest_found

    design, rarest, levels = search.first_design(), rarest_found(search), len(search.spans)
    assert rarest is not None  # else no search is planned
    return {
        "epsilon": design.poll.guarantee.epsilon_at_most(delta=search.level_delta),
        "levels": levels,
        "people_of_a_level": search.group(0).honest,
        "people_who_count": search.group(levels, counting=True).honest,
        "found_from": rarest,
        "miss": MISS,
        "error_of_a_count": search.count_error(rarest),
        "bits": design.poll.bits,
    }


def show_expected(title: str, search: "TopSearch", told: dict[str, Any]) -> None:
    """The same for people."""
    show.answer(
        title,
        [
            ("epsilon", rounded(told["epsilon"], up=True), f"at most, at delta = {show.exactly(search.delta)}"),
            show.alone(search.law, search.first_design().shown_alone),
            ("levels", f"{told['levels']}", f"of {told['people_of_a_level']:,} people or more, and one more to count"),
            (
                "found",
                f"{told['found_from']:,}",
                f"people must hold a word for it to be missed with probability {told['miss']} at most",
            ),
            ("error", f"{told['error_of_a_count']:.4g}", "standard error of the count of such a word"),
            (
                "listed",
                f"{search.least_holders:,}",
                f"people hold any listed word but with probability {search.error:g}",
            ),
        ],
        [],
    )
