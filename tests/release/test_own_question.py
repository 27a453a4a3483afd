"""A question that derives from another is released, drawn, shown and verified like it: whoever adds
one writes the question, its options and its recheck, and edits no module that shows or judges.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from shuffledp.page import html
from shuffledp.questions import options_module
from shuffledp.release.arguments import complete
from shuffledp.release.options import options_of
from shuffledp.release.pipeline import answered
from shuffledp.verify import verify
from tests.verify.other_package import forget, write


def test_a_question_that_derives_from_another_needs_no_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path)
    votes = ["ann"] * 40 + ["bob"] * 20
    known = options_of(options_module("ballot").Options)
    given = complete(known, {"categories": ["ann", "bob"], "epsilon": 2.0, "delta": 1e-2})
    made = answered("ballot", votes, None, given, None)
    page = html(made.record)
    assert "Ballot of a column" in page
    assert "of-ballots 1.2" in page
    assert "Ballot of a column" in made.plot()._repr_svg_()
    found = verify(page)  # which reads it again first
    forget()
    assert (found.verdict, found.failed) == ("pass", ())
