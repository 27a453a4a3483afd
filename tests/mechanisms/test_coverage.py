"""Intervals cover: every question by every mechanism, calibrated to a promise, in one round to which
some do not come, and in three; each row by itself, and all rows at once.

``pytest -s -m long`` on this file prints the table: how often the least and the average row was
covered, and all of them together. What is covered more than 98.5 times in a hundred is marked:
limits of few votes are exact tests, and those of numbers hold for the worst data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp import InvalidInput, Poll
from shuffledp.mechanisms.estimate import Interval
from shuffledp.mechanisms.results import Tally
from shuffledp.mechanisms.rows import Parts, Rows, Scaled, Weighted
from shuffledp.questions import kind_of
from shuffledp.questions.quantile.quantile_rows import quantile_rows

PEOPLE, LEVEL, LEAST, AMPLE = 600, 0.95, 0.93, 0.985
PART = 100  # runs that are drawn at once
CUTS = tuple(float(cut) for cut in range(10))
HELD = (0.4, 0.25, 0.2, 0.125, 0.025, 0.0)  # shares of people in each of six cells
ASKED: dict[str, dict[str, Any]] = {
    "histogram": {"categories": list("abcdef")},
    "count": {"value": "yes"},
    "crosstab": {"columns": ["region", "answer"], "categories": [list("abc"), list("yn")]},
    "quantile": {"cuts": CUTS, "at": (0.1, 0.5, 0.9), "ranges": [(2, 5), (7, 9)]},
    "mean": {"lower": -10.0, "upper": 30.0},
    "sum": {"lower": -10.0, "upper": 30.0},
}
WAYS: dict[str, dict[str, dict[str, Any]]] = {  # of what is not chosen by name alone
    "histogram": {"sums of bits": {"mechanism": "oue", "view": "sums"}},
    "crosstab": {"fakes, lightly": {"mechanism": "fakes", "light_epsilon0": 5.0}},
    "quantile": {
        "krr": {"levels": ()},
        "levels": {"mechanism": "krr", "levels": (3, 9)},
        "dummies": {"keep": 0.9},
        "tree": {"mechanism": "dummies", "levels": 2, "branches": 3},
    },
}
TERMS = {"1 round": (1, 450, 520), "3 rounds": (3, PEOPLE, PEOPLE)}  # rounds, honest people, and who report


def pairs() -> Iterator[tuple[str, str]]:
    for question in ASKED:
        kind = kind_of(question)
        for way in dict.fromkeys([*(kind.choices or kind.mechanisms), *WAYS.get(question, ())]):
            yield question, way


def asked(question: str, way: str, terms: str) -> tuple[Poll, list[Any], dict[str, NDArray[Any]]]:
    """A poll, what people hold, and what is true of them."""
    rounds, honest, number = TERMS[terms]
    own = {"mechanism": way, **WAYS.get(question, {}).get(way, {})}
    promise = {"n": PEOPLE, "honest": honest, "rounds": rounds, "epsilon": 2.0, "delta": 1e-4}
    poll = Poll(question, **ASKED[question], **own, **promise)
    if question in ("mean", "sum"):
        numbers = np.concatenate([np.linspace(-9.9, 17.3, number - 40), np.full(40, 30.0)])
        return poll, numbers.tolist(), {"rows": np.array([numbers.sum() / (number if question == "mean" else 1)])}
    if question == "quantile":
        numbers = 9.0 * np.linspace(0.001, 0.999, number) ** 2
        under = np.array([np.count_nonzero(numbers < cut) for cut in CUTS])
        ranges = np.array([under[high] - under[low] for low, high in ASKED[question]["ranges"]])
        bins = np.array([np.argmax(under[1:] >= at * number) for at in ASKED[question]["at"]])
        return poll, numbers.tolist(), {"rows": under[1:-1], "ranges": ranges, "quantiles": bins}
    cells = np.rint(number * np.array(HELD)).astype(int)
    labels = ["no", "yes", *["no"] * 4] if question == "count" else poll.question.domain(6).names
    if question == "crosstab":
        labels = [(region, answer) for region in "abc" for answer in "yn"]
    truth = cells[1:2] if question == "count" else poll.question.workload(6).apply(cells)
    return poll, [label for label, many in zip(labels, cells, strict=True) for _ in range(many)], {"rows": truth}


def tallies(poll: Poll, values: list[Any], runs: int, rng: np.random.Generator) -> Iterator[Tally]:
    """Of so many runs, each with its rounds."""
    parts = np.split(poll.encode(values * runs * poll.rounds, rng=rng).rows, runs * poll.rounds)
    rounds = [Tally.of(poll.randomizer, each).mixed(rng=rng) for each in parts]
    for start in range(0, len(rounds), poll.rounds):
        yield reduce(Tally.again, rounds[start : start + poll.rounds])


def stacked(rows: list[Any]) -> Rows:
    """Rows of several runs as rows of one: the same law has the limits of all looked for at once."""
    first = rows[0]
    if isinstance(first, Scaled):
        return replace(first, rows=stacked([each.rows for each in rows]))
    if isinstance(first, Parts):
        parts = tuple(
            (
                np.concatenate([each.parts[part][0] + run * each.size for run, each in enumerate(rows)]),
                turned,
                stacked([each.parts[part][2] for each in rows]),
            )
            for part, (_, turned, _) in enumerate(first.parts)
        )
        return replace(first, parts=parts, size=first.size * len(rows))
    joined = {name: np.concatenate([getattr(each, name) for each in rows]) for name in first.by_row}
    if isinstance(first, Weighted) and first.deviations is not None:
        ends = {
            name: np.concatenate([getattr(each.deviations, name) for each in rows])
            for name in ("own", "others", "above", "below")
        }
        joined["deviations"] = replace(first.deviations, **ends)
    return replace(first, **joined)


def limits(rows: list[Any], tail: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """A row for each run."""
    low, high = (end.reshape(len(rows), -1) for end in stacked(rows).limits(tail))
    return low, high


def covered(
    poll: Poll, values: list[Any], truth: dict[str, NDArray[Any]], runs: int, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Which rows each run covers."""
    drawn = list(tallies(poll, values, runs, rng))
    found = [poll.question.estimate(poll.mechanism, tally) for tally in drawn]
    rows, tail = [each.rows for each in found], (1.0 - LEVEL) / 2.0
    alone = limits(rows, tail)
    said = {"rows": alone, "all rows": limits(rows, tail / len(truth["rows"]))}
    if "ranges" in truth:
        ranges = [poll.question.derive(poll.mechanism, *each)["ranges"].rows for each in zip(drawn, found, strict=True)]
        bins = [
            [
                (CUTS.index(row.lower), CUTS.index(row.upper) - 1)
                for row in quantile_rows(poll.question.at, CUTS, each.unbiased, Interval(*ends), each.n)
            ]
            for each, *ends in zip(found, *alone, strict=True)
        ]
        said |= {"ranges": limits(ranges, tail), "quantiles": tuple(np.moveaxis(np.array(bins), 2, 0))}
    inside = {}
    for name, (low, high) in said.items():
        true = truth[name.removeprefix("all ")]
        fits = (low <= true + 1e-9) & (true - 1e-9 <= high)
        inside[name] = fits.all(axis=1, keepdims=True) if name.startswith("all") else fits
    return inside


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize(("question", "way"), list(pairs()))
@pytest.mark.parametrize("runs", [300, pytest.param(2_000, marks=pytest.mark.long)])
def test_intervals_cover_as_often_as_they_say(question: str, way: str, terms: str, runs: int) -> None:
    (poll, values, truth), rng = asked(question, way, terms), np.random.default_rng(runs)
    parts = [covered(poll, values, truth, PART, rng) for _ in range(runs // PART)]
    for name in parts[0]:
        often = np.concatenate([part[name] for part in parts]).mean(axis=0)
        mark = ", more than it says" if often.mean() > AMPLE else ""
        print(f"{question} by {way}, {terms}: {name}: {often.min():.1%} at least, {often.mean():.1%} on average{mark}")
        assert often.min() >= LEAST - (0.0 if runs >= 2_000 else 5.0 * (LEAST * (1.0 - LEAST) / runs) ** 0.5)


@pytest.mark.parametrize("way", ["fakes", "dummies"])
def test_a_mean_among_fakes_or_dummies_is_switched_off(way: str) -> None:
    with pytest.raises(InvalidInput, match="must be one of krr, split for a mean"):
        Poll("mean", n=PEOPLE, epsilon=2.0, delta=1e-4, mechanism=way)
