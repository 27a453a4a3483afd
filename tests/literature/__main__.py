"""`make literature`: at least a million comparisons of published bounds with exact answers, each of
which could fail; and the first-clone swap on twenty thousand datasets.

Exits with 1 if one fails that should not.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tests.literature.grid import Tally, bounds
from tests.literature.report import WIDTH, Row, table
from tests.literature.swap_search import Found, report
from tests.literature.work import FEWEST, SEARCHES, cases, one_bound, one_case, one_search

WANTED = 1_000_000


def run(console: Console) -> dict[str, Tally]:
    """All cases, then what the slow bounds still lack, on every core."""
    totals = {bound.name: Tally() for bound in bounds()}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("cases"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with (
        ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool,
        Progress(*columns, console=console) as progress,
    ):
        task = progress.add_task("comparing", total=len(cases()))
        for done in as_completed([pool.submit(one_case, i) for i in range(len(cases()))]):
            for name, tally in done.result().items():
                totals[name] += tally
            progress.update(
                task, advance=1, description=f"{sum(tally.comparisons for tally in totals.values()):>9,} comparisons"
            )
        invalid = {bound.name for bound in bounds() if bound.status == "invalid"}
        short = [
            name
            for name, tally in totals.items()
            if tally.comparisons < FEWEST or (name in invalid and not tally.violations)
        ]
        for done in as_completed([pool.submit(one_bound, name) for name in short]):
            for name, tally in done.result().items():
                totals[name] += tally
    return totals


def swapped() -> Found:
    """The first-clone swap on datasets of its own, on every core."""
    found = Found()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for each in pool.map(one_search, range(SEARCHES)):
            found += each
    return found


def main() -> int:
    """Print the table and what is wrong, if anything is."""
    console = Console()
    totals = run(console)
    described = {bound.name: bound for bound in bounds()}
    rows = [
        Row(
            name,
            described[name].status,
            described[name].side,
            t.comparisons,
            t.trivial,
            t.refused,
            t.tightest,
            t.violations,
        )
        for name, t in totals.items()
    ]
    Console(width=max(console.width, WIDTH)).print(table(rows))
    wrong = [
        f"{name} ({described[name].status}): {t.where}"
        for name, t in totals.items()
        if t.violations and described[name].status != "invalid"
    ]
    wrong += [
        f"{name} is labelled invalid, and nothing refutes it"
        for name, t in totals.items()
        if described[name].status == "invalid" and not t.violations
    ]
    wrong += [f"{name} was compared only {t.comparisons} times" for name, t in totals.items() if t.comparisons < FEWEST]
    count = sum(tally.comparisons for tally in totals.values())
    trivial = sum(tally.trivial for tally in totals.values())
    console.print(
        f"{count:,} comparisons of {len(totals)} bounds with exact answers; {trivial:,} more answers could not fail"
    )
    if count < WANTED:
        wrong.append(f"only {count:,} comparisons, {WANTED:,} are wanted")
    found = swapped()
    console.print(f"first-clone swap: {report(found)}", highlight=False)
    wrong += found.violations
    for line in wrong:
        console.print(f"[red]wrong[/red] {line}", highlight=False)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
