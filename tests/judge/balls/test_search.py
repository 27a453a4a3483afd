"""A sample of `python -m tests.literature.ball_search`: no fast end is on the wrong side of its ball."""

from __future__ import annotations

from tests.literature.ball_search import report, search


def test_no_fast_end_is_beyond_its_ball() -> None:
    cases = search(25, seed=5)
    assert not [case for case in cases if case.false]
    assert sum(case.width < 1e-3 for case in cases) >= 15
    assert "false ends: 0" in report(cases)
