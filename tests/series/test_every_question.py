"""A series of every question that a single release answers: weeks are released, the trend has its
lines, and what is settled in advance is kept.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from shuffledp import Poll, Series
from shuffledp.design import Design, Law
from shuffledp.errors import InvalidInput
from shuffledp.randomizers import KRR
from shuffledp.randomizers.law_file import law_of
from shuffledp.release.budget import Budget
from shuffledp.search.question import Level
from shuffledp.series.series_file import SeriesFile, read_series
from shuffledp.series.trend import Point, Trend
from shuffledp.series.weeks import new_series

PEOPLE, LEAST = 600, 500
SETTLED: dict[str, Any] = {"n": PEOPLE, "honest": LEAST, "rounds": 3, "epsilon": 3.0, "delta": 1e-4}
ANSWERS = ["tea", "coffee", "tea"] * 190
AGES = np.random.default_rng(3).normal(45.0, 12.0, 570).clip(0.0, 90.0)
TABLE = pa.table({"region": ["north", "south"] * 285, "smoker": ["yes", "no", "no"] * 190})
CROSSED: dict[str, Any] = {"columns": ["region", "smoker"], "categories": [["north", "south"], ["yes", "no"]]}
BINS: dict[str, Any] = {"cuts": range(0, 91, 15), "at": [0.25, 0.5], "ranges": [(15, 60)]}
CELLS = {f"{region} × {smoker}" for region in ("north", "south") for smoker in ("yes", "no")}
WITHIN = {label.replace(" × ", ": ") for label in CELLS}
DRUNK, BINNED = {"tea", "coffee"}, {"lower quartile", "median", "from 15 to 60"}


def asked(question: str, mechanism: str | None, data: object, drawn: set[str], **own: Any) -> Any:
    return pytest.param(
        {"question": question, "mechanism": mechanism, **own}, data, drawn, id=f"{question} {mechanism}"
    )


@pytest.mark.fleet
@pytest.mark.parametrize(
    ("own", "data", "drawn"),
    [
        asked("histogram", "fakes", ANSWERS, DRUNK, categories=["tea", "coffee"]),
        asked("histogram", "dummies", ANSWERS, DRUNK, categories=["tea", "coffee"]),
        asked("count", None, ANSWERS, {"tea"}, value="tea"),
        asked("mean", "split", AGES, {"mean"}, lower=0, upper=90),
        asked("sum", None, AGES, {"sum"}, lower=0, upper=90),
        asked("sum", "split", AGES, {"sum"}, lower=0, upper=90),
        asked("quantile", None, AGES, BINNED, **BINS),
        asked("quantile", "dummies", AGES, BINNED, **BINS),
        asked("crosstab", None, TABLE, CELLS, **CROSSED),
        asked("crosstab", "dummies", TABLE, WITHIN, **CROSSED),
    ],
)
def test_two_weeks_of_every_question(own: dict[str, Any], data: object, drawn: set[str], tmp_path: Path) -> None:
    by = "region" if drawn == WITHIN else None
    ledger: dict[str, Any] = {"population": "p", "limit_epsilon": 4.0, "limit_delta": 1e-3}
    series = Series.new(tmp_path / "weekly", Poll(**own, **SETTLED), by=by, ledger=tmp_path / "b.sqlite", **ledger)
    for week in (1, 2):
        series.add(data, rng=np.random.default_rng(week))
    assert read_series(tmp_path / "weekly").by == by
    trend = series.trend
    assert set(trend.largest(8)) == drawn
    for label in trend.lines:
        (change,) = trend.changes(label)
        assert change.band is not None
        assert change.band[0] <= change.lower <= change.value <= change.upper <= change.band[1]
        assert not change.told, "nobody has changed"
        for point in trend.lines[label]:
            assert point.band is not None
            assert point.band[0] <= point.lower <= point.value <= point.upper <= point.band[1]
    shown = (tmp_path / "weekly" / "trend.html").read_text(encoding="utf-8")
    assert all(f"{label}, " in shown for label in drawn)
    assert series.spent is not None
    assert 0.0 < series.spent.upper < 3.0
    (pace,) = series.paces()
    assert pace.epsilon.upper <= 3.0
    assert series.left == 1


def two(*, apart: bool) -> Trend:
    """Two weeks, of which each is known to be in a bin from 20 to 30, and no more."""
    known = (20.0, 30.0)
    weeks = [Point(week, None, week, 100, 25.0, None, *known, known, known if apart else None) for week in (1, 2)]
    return Trend(None, {"median": weeks}, {"median": "quantile"}, {"median": 1}, 0.95, True)  # type: ignore[arg-type]


def test_a_change_of_quantiles_is_known_no_closer_than_their_bins() -> None:
    """The quantile may be anywhere in its bin, in both weeks: limits that are recovered from
    variances, the control, would leave out changes that may well be true.
    """
    (change,) = two(apart=True).changes("median")
    assert (change.lower, change.upper) == change.band == (-10.0, 10.0)
    (narrow,) = two(apart=False).changes("median")
    assert narrow.upper == pytest.approx(math.hypot(5.0, 5.0))
    assert narrow.upper < 29.9 - 20.1


def test_what_is_drawn_of_a_crosstab_is_what_fits(weekly: Design) -> None:
    columns = {"columns": ["area", "age"], "categories": [[str(each) for each in range(5)], ["old", "young"]]}
    law = Poll("crosstab", **columns, n=10, epsilon0=1.0, rounds=2, delta=0.1)  # type: ignore[arg-type]
    labels = [*law.question.rows, "0: old", "0: young"]
    points = [Point(1, None, 1, 10, 0.5, 0.1, 0.4, 0.6, None)]

    def drawn(design: Design, labels: list[str], most: int) -> list[str]:
        series = SeriesFile(name="s", created="", design=design)
        ranks = {label: 0 if ":" in label else 1 + label.count("(all)") for label in labels}
        return Trend(series, dict.fromkeys(labels, points), {}, ranks, 0.95, True).largest(most)

    crossed = Design.of(law)
    assert drawn(crossed, labels, 8) == ["0: old", "0: young"]
    assert drawn(crossed, labels[:-2], 10) == list(law.question.cells.names)
    assert drawn(crossed, labels[:-2], 8) == labels[10:17], "the sums for one column"
    assert drawn(crossed, labels[:-2], 2) == labels[:2]
    assert drawn(weekly, ["yes", "no"], 2) == ["yes", "no"]


def test_what_no_week_can_ask_is_refused_and_nothing_is_paid(tmp_path: Path, weekly: Design, budget: Budget) -> None:
    for by in ("region", 3):
        with pytest.raises(InvalidInput, match=f"by must be one of the columns of a crosstab, here none, got {by!r}"):
            new_series(tmp_path / "x", weekly, "x", by=by, budget=budget)  # type: ignore[arg-type]
    assert not (tmp_path / "x").exists()
    words = Level(tokens=("a",), longest=4, words=(), prefixes=("",), span=1, room=4)
    level = Design.asked(words, Law.from_json(law_of(KRR(k=4, epsilon0=1.0))), weekly.target)
    with pytest.raises(InvalidInput, match=r"got a search for top words.*Search once"):
        new_series(tmp_path / "x", level, "x", budget=budget)
    assert not budget.path.exists()
