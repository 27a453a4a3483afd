"""Before the tests: which of them make fleet runs. After them: how often a published bound was
compared with an exact answer, and what was killed, filled and damaged.
"""

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from shuffledp import randomizers
from shuffledp.literature.bounds import LITERATURE
from shuffledp.randomizers import family, names
from tests.kept import KeptCurves
from tests.literature.report import WIDTH, Row, table

LEAST = 20_000  # comparisons that could fail, if the whole grid was run
# Fixtures that start a Spark cluster, PostgreSQL or a browser, or build the site; and those that start what is killed
# again and again, or tells the whole story.
FLEET = ("cluster", "database", "chromium", "site", "browser")
LONG = ("runner", "demo")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays until the end: looking through it for garbage, again and again, took a
    quarter of the time that collecting takes.
    """
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


@pytest.hookimpl(tryfirst=True)  # before pytest looks at marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that asks for one of them is marked."""
    for item in items:
        asked = getattr(item, "fixturenames", ())
        if any(name in asked for name in FLEET) and item.get_closest_marker("sample") is None:
            item.add_marker("fleet")
        if any(name in asked for name in LONG):
            item.add_marker("long")


CURVES = KeptCurves(pytest.MonkeyPatch())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    CURVES.begin(item.nodeid)


REGISTERED: tuple[dict[Any, Any], ...] = (family._families, family._laws, names.NAMES)
assert all(hasattr(randomizers, each) for each in randomizers.__all__)  # which loads them all
OURS = [dict(each) for each in REGISTERED]


@pytest.fixture(autouse=True)
def families() -> None:
    """A test begins with the families of the package: what another one registered, or a module
    while it was collected, is forgotten.
    """
    for each, held in zip(REGISTERED, OURS, strict=True):
        each.clear()
        each.update(held)


def compared(reporter: pytest.TerminalReporter) -> list[Row]:
    """Collected from the tests' properties, which also reach here from the workers of
    pytest-xdist.
    """
    reports = [report for outcome in ("passed", "failed") for report in reporter.stats.get(outcome, [])]
    return [
        Row(*value)
        for report in reports
        for name, value in getattr(report, "user_properties", [])
        if name == "literature"
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows = compared(terminalreporter)
    if rows:
        terminalreporter.section("published bounds against exact answers")
        console = Console(file=terminalreporter._tw._file, width=WIDTH, color_system=None)
        console.print(table(rows))
        count, trivial = sum(row.comparisons for row in rows), sum(row.trivial for row in rows)
        terminalreporter.write_line(
            f"{count:,} comparisons of {len(rows)} bounds with exact answers; {trivial:,} more answers could not fail"
        )
    faults = [
        (name.removeprefix("fault: "), value)
        for report in terminalreporter.stats.get("passed", [])
        for name, value in getattr(report, "user_properties", [])
        if name.startswith("fault: ")
    ]
    if faults:
        terminalreporter.section("faults")
        for name, value in faults:
            terminalreporter.write_line(f"{name}: {value}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A grid that has shrunk fails the run, like any test."""
    gc.unfreeze()  # an interpreter takes down what it can see
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    rows = compared(reporter) if isinstance(reporter, pytest.TerminalReporter) else []
    if {bound.name for bound in LITERATURE} <= {row.name for row in rows} and sum(
        row.comparisons for row in rows
    ) < LEAST:
        reporter.write_line(f"\nfewer than {LEAST:,} comparisons with exact answers", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
