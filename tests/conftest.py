"""After the tests: how often a published bound was compared with an exact answer, and how close it came."""

import pytest
from rich.console import Console

from tests.literature.report import WIDTH, Row, table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Collected from the tests' properties, which also reach here from the workers of pytest-xdist."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])]
    rows = [Row(*value) for report in reports for name, value in getattr(report, "user_properties", []) if name == "literature"]
    if rows:
        terminalreporter.section("published bounds against exact answers")
        console = Console(file=terminalreporter._tw._file, width=WIDTH, color_system=None)
        console.print(table(rows))
        terminalreporter.write_line(f"{sum(row.comparisons for row in rows):,} comparisons of {len(rows)} bounds with exact answers")
