"""A list that is cut shows its largest estimates, which are large by luck as well: its intervals
must hold for all at once.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.cli import questions as command
from shuffledp.cli import show
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.page.page import release_svg
from shuffledp.record import Record, embedded_json
from shuffledp.release.files import SHOWN, EstimateTable
from tests.cli.people import Said, done

VALUES, PEOPLE, RUNS = 9_758, 40_000, 60
Shown = list[tuple[str, float, float]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the terminal shows of an estimate: the title of its column of intervals, and label, low
    and high of every row.
    """
    seen: list[Any] = []
    monkeypatch.setattr(show, "table", lambda columns, rows, **_: seen.append((columns[2], rows)))
    monkeypatch.setattr(show, "sentences", lambda _: None)

    def of(estimate: Estimate) -> tuple[str, Shown]:
        command._show_estimates(EstimateTable.of(estimate, level=0.95))
        title, rows = seen.pop()
        return title, [
            (label, *(float(end.replace(",", "")) for end in interval.split(" to "))) for _, _, interval, label in rows
        ]

    return of


def holds(rows: Shown, truth: np.ndarray) -> bool:
    """Whether every interval that is shown has the true count inside."""
    return all(low <= truth[int(label)] <= high for label, low, high in rows)


def test_the_intervals_of_a_list_that_is_cut_all_hold_the_truth(shown: Any) -> None:
    """As often as they say, in spite of the choice; intervals for each by itself, which were shown
    before, never do.
    """
    rng = np.random.default_rng(7)
    truth = rng.multinomial(PEOPLE, np.full(VALUES, 1.0 / VALUES))
    poll = Poll("histogram", categories=range(VALUES), n=PEOPLE, epsilon0=5.0)
    law = poll.randomizer
    good = alone = 0
    for _ in range(RUNS):
        kept = rng.binomial(truth, law.contrast)
        estimate = poll.analyse_counts(kept + rng.multinomial(PEOPLE - int(kept.sum()), np.full(VALUES, 1.0 / VALUES)))
        title, rows = shown(estimate)
        assert title == "95 % for all at once"
        assert len(rows) == SHOWN
        good += holds(rows, truth)
        low, high = estimate.interval()
        alone += holds([(label, low[int(label)], high[int(label)]) for label, _, _ in rows], truth)
    assert good >= 0.95 * RUNS
    assert alone == 0, "the control: this is what the choice does to intervals that do not know of it"


def test_the_same_for_hadamard_response(shown: Any) -> None:
    rng = np.random.default_rng(7)
    people = rng.integers(0, VALUES, 5_000)
    truth = np.bincount(people, minlength=VALUES)
    words = Poll("histogram", categories=VALUES, mechanism="hadamard", n=len(people), epsilon0=5.0)
    good = 0
    for _ in range(10):
        _, rows = shown(words.analyse_counts(words.randomizer.tally(words.encode(people, rng=rng).rows)))
        good += holds(rows, truth)
    assert good == 10


def test_a_short_list_keeps_its_order_and_the_interval_of_each(shown: Any) -> None:
    poll = Poll("histogram", categories=range(SHOWN), n=1000, epsilon0=5.0)
    estimate = poll.analyse_counts(np.full(SHOWN, 50))
    title, rows = shown(estimate)
    assert title == "95 % interval"
    assert [label for label, _, _ in rows] == [str(place) for place in range(SHOWN)]
    low, high = estimate.interval()
    assert [(least, most) for _, least, most in rows] == list(zip(np.floor(low), np.ceil(high), strict=True))


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> tuple[Said, dict[str, Any], str]:
    """A release of 60 values, of which three are common: what was said, its facts, and its page."""
    folder = tmp_path_factory.mktemp("long") / "result"
    content = b"page\n" + b"".join(b"%d\n" % (i % 3) for i in range(3000))
    said = done(
        "histogram",
        "-",
        "--categories",
        "0..59",
        "--mechanism",
        "hadamard",
        "--epsilon",
        1,
        "--delta",
        1e-6,
        "--out",
        folder,
        stdin=content,
    )
    page = (folder / "page.html").read_text(encoding="utf-8")
    facts = embedded_json(page)
    assert isinstance(facts, dict)
    return said, facts, page


def test_terminal_page_and_figure_say_that_intervals_hold_for_all_at_once(
    long: tuple[Said, dict[str, Any], str],
) -> None:
    said, facts, page = long
    assert "95 % for all at once" in said.out
    text = re.sub(r"<[^>]*>", "", page).replace("\u00a0", " ")
    assert "For all at once" in text
    assert "intervals that hold for all 60 at once" in text
    drawn = release_svg(Record.from_json(facts))
    assert "intervals that hold for all 60 at once" in drawn.caption
    assert "for all answers at once" in drawn.promise


def test_it_is_said_how_many_can_be_told_from_nothing(long: tuple[Said, dict[str, Any], str]) -> None:
    said, facts, page = long
    told = sum(low > 0.0 for low in facts["tables"][0]["all_lower"])
    assert told >= 3  # and more in 5 runs of 100, at most: the noise is fresh
    assert f"{told} of the 60 counts can be told from 0" in " ".join(said.out.split())
    assert f"{told} of the 60 estimates can be distinguished from 0" in page


def test_a_maximum_of_noise_is_not_presented_as_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(7)
    poll = Poll("histogram", categories=range(500), n=500, epsilon0=3.0)
    noise = poll.analyse_counts(rng.multinomial(500, np.full(500, 1.0 / 500.0)))
    command._show_estimates(EstimateTable.of(noise, level=0.95))
    assert "None of the 500 counts can be told from 0" in " ".join(capsys.readouterr().out.split())
