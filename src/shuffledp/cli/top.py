"""The command top: the most frequent words of a column, from no list at all."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.cli import show
from shuffledp.cli.questions import PROMISED, Found, Own, TypedCommand, asked, question_command, show_cost
from shuffledp.cli.show import patiently
from shuffledp.wording import quote, rounded

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.cli.spark import Engine
    from shuffledp.release.arguments import Promise
    from shuffledp.release.top_release import SearchRequest
    from shuffledp.search.search import Search


def _in_spark(asking: TypedCommand, engine: "Engine") -> AbstractContextManager[Found]:
    """Tables that a session of Spark reads, level by level."""
    from shuffledp.cli.spark import in_spark
    from shuffledp.engines.spark import check_ids, release_search_column

    check_ids(asking.question.ids)
    return in_spark(asking, engine, release_search_column)


def _dry_run(
    asking: TypedCommand, question: "SearchRequest", search: "Search", _missing: int | None, remarks: Sequence[str]
) -> None:
    """What would be asked of whom, and what could be found."""
    with patiently("certifying"):
        told = _expected(search)
        receipt = None if asking.budget is None else asking.budget.afford(search, question.what)
    if asking.keeping.as_json:
        facts = {"dry_run": True, "asked": question.asked().as_json(), "search": search.as_json()}
        return show.as_json(facts | told | ({} if receipt is None else {"ledger": receipt}), remarks)
    _show_expected(f"{question.what}: {search.people:,} people", search, told)
    show.warnings(f"{each}." for each in remarks)
    show_cost(receipt)
    return show.sentences(["\nNothing was written. Leave out --dry-run, and add --out FOLDER, to run it."])


def _designed(search: "Search", out: Path, *, as_json: bool) -> None:
    """The design, and what follows from it."""
    with patiently("certifying"):
        told = _expected(search)
    if as_json:
        return show.as_json({"search": search.as_json(), "digest": search.digest, "out": str(out)} | told)
    title = f"top words: {search.people:,} people, at least {search.honest:,} of them honest"
    _show_expected(title, search, told)
    show.sentences([f"\nWritten to {out}."])
    return show.command(f"shuffledp survey new --design {quote(str(out))} --shuffler URL --out search", "Next: ")


def _planned(n: int, promise: "Promise", given: dict[str, Any], *, as_json: bool) -> None:
    """What a search among n people would find, and how accurately."""
    question, *_ = asked("top", given | {"epsilon": promise.epsilon, "delta": promise.delta}, "-")
    with patiently("planning"):
        search = question.design(n, promise)
        told = _expected(search)
    if as_json:
        about = {"task": "top", "n": n, "honest": search.honest, "k": search.k, "longest": search.longest}
        return show.as_json(about | {"delta": search.delta, "epsilon0": search.law.epsilon0} | told)
    return _show_expected(f"top {search.k} words: {n:,} people", search, told)


question_command(
    "top",
    f"searches.parquet --column query --words 50 {PROMISED} --out result",
    f"visits.csv --column page --tokens letters.txt --longest 12 {PROMISED} --dry-run",
    f"'logs/*.parquet' --column query --id user {PROMISED} --out result --engine spark",
    own=Own(_dry_run, _designed, _planned, _in_spark),
)


def _expected(search: "Search") -> dict[str, Any]:
    """What is certified of a search, who would be asked, and what could be found."""
    from shuffledp.search.planning import count_error, rarest_found
    from shuffledp.search.search import MISS

    design, rarest, levels = search.first_design, rarest_found(search), len(search.spans)
    assert rarest is not None  # else no search is planned
    return {
        "epsilon": design.poll.guarantee.epsilon_at_most(delta=search.level_delta),
        "levels": levels,
        "people_of_a_level": search.group(0).honest,
        "people_who_count": search.group(levels, counting=True).honest,
        "found_from": rarest,
        "miss": MISS,
        "error_of_a_count": count_error(search, rarest),
        "bits": design.poll.bits,
    }


def _show_expected(title: str, search: "Search", told: dict[str, Any]) -> None:
    """The same for people."""
    show.answer(
        title,
        [
            ("epsilon", rounded(told["epsilon"], up=True), f"at most, at delta = {show.exactly(search.delta)}"),
            show.alone(search.law, search.first_design.reveals),
            ("levels", f"{told['levels']}", f"of {told['people_of_a_level']:,} people or more, and one more to count"),
            (
                "found",
                f"{told['found_from']:,}",
                f"people with a word are enough to find it with probability {1.0 - told['miss']:g}",
            ),
            ("error", show.number(told["error_of_a_count"]), "standard error of the count of such a word"),
            (
                "listed",
                f"{search.least_holders:,}",
                f"people or more have each listed word, with probability {1.0 - search.error:.10g}",
            ),
        ],
        [],
    )
