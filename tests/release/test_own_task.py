"""A task that derives from another is released, drawn, shown and verified like it: whoever adds one
writes the task and its protocol, and edits no module that shows or judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.page import html
from shuffledp.protocols import Histogram
from shuffledp.protocols.settling import PROTOCOLS
from shuffledp.protocols.tasks import TASKS, HistogramTask, by_task
from shuffledp.release.answered import answered
from shuffledp.release.arguments import categories_of, complete
from shuffledp.release.options import HistogramOptions, options_of
from shuffledp.release.question import Question
from shuffledp.verify import verify


@dataclass(frozen=True)
class Ballot(HistogramTask):
    """Who is elected."""

    name: ClassVar[str] = "ballot"


@dataclass(frozen=True, kw_only=True, eq=False)
class BallotBox(Histogram):
    """Votes, through a shuffler."""

    @property
    def task(self) -> Ballot:
        return Ballot(tuple(map(str, self.categories)), None)


def test_a_task_that_derives_from_another_needs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "ballot", Ballot)
    monkeypatch.setitem(PROTOCOLS, ("ballot", None), BallotBox)
    votes = ["ann"] * 40 + ["bob"] * 20
    known = categories_of(["ann", "bob"], other=None, missing=None)
    given = complete(options_of(HistogramOptions), {"epsilon": 2.0, "delta": 1e-2})
    made = answered(lambda read, *_: Question(task="ballot", categories=known, **read), votes, None, given, None)
    page = html(made.record)
    assert "Ballot of a column" in page
    assert "Ballot of a column" in made.plot()._repr_svg_()
    found = verify(page)  # which reads it again first
    assert (found.verdict, found.failed) == ("pass", ())


def test_a_task_of_no_known_kind_is_refused_in_a_sentence() -> None:
    with pytest.raises(InvalidInput, match=r"known kind of task, got mean\. Derive it from one of HistogramTask\."):
        by_task({HistogramTask: 1}, "mean")
