"""Accuracy, in one figure: the error of every way to ask, beside that of a trusted curator, from a
thousand to ten million people.

Predicted errors are exact; some are compared with runs from fixed seeds.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp import Poll
from shuffledp._types import Floats
from shuffledp.figures.files import BLUE, DARK, GREY, PALE, STYLE
from shuffledp.mechanisms.baselines import Baseline, counts_by_curator, number_by_curator
from shuffledp.survey.envelopes import OVERHEAD

PEOPLE = tuple(10**power for power in range(3, 8))
CATEGORIES = 16
PROMISE: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
RUNS = 400
SIMULATED = 10_000
MIXING, SEALED, ADDING, CURATOR = (
    "a shuffler that forgets who sent what",
    "a shuffler, which must not read; messages are sealed",
    "the same, and that it adds its dummies",
    "a curator, who sees everything",
)


@dataclass(frozen=True)
class Way:
    """One way to ask, and how it is drawn."""

    name: str
    trust: str
    make: Callable[[int], Poll]
    look: dict[str, Any]
    worst: bool = False

    def error(self, people: int) -> float:
        """The standard error with so many people: for even counts, or for the worst data."""
        asked = self.make(people)
        return asked.worst_stderr() if self.worst else asked.predicted_stderr()


@dataclass(frozen=True)
class Question:
    """A question, the ways to ask it, and what a curator's answer would be off by."""

    title: str
    ways: tuple[Way, ...]
    curator: Baseline


def questions() -> tuple[Question, Question, Question]:
    """A histogram, a count and a sum, each beside the best curator that shuffledp knows."""
    sixteen = {"categories": CATEGORIES, **PROMISE}
    one = {"color": BLUE, "marker": "o"}
    histogram = (
        Way("one message (k-RR)", MIXING, lambda n: Poll("histogram", n=n, **sixteen), one),
        Way(
            "one message, a value that all hold",
            MIXING,
            lambda n: Poll("histogram", n=n, **sixteen),
            {"color": PALE, "marker": "o", "linestyle": "--"},
            worst=True,
        ),
        Way(
            "users' fakes",
            SEALED,
            lambda n: Poll("histogram", mechanism="fakes", n=n, **sixteen),
            {"color": DARK, "marker": "s"},
        ),
        Way(
            "shuffler's dummies",
            ADDING,
            lambda n: Poll("histogram", mechanism="dummies", n=n, **sixteen),
            {"color": DARK, "marker": "^"},
        ),
    )
    count = (
        Way("count, one message", MIXING, lambda n: Poll("histogram", categories=range(2), n=n, **PROMISE), one),
        Way(
            "count, +1 and −1 messages",
            SEALED,
            lambda n: Poll("count", value=1, other=0, n=n, **PROMISE),
            {"color": DARK, "marker": "^"},
        ),
    )
    total = (
        Way("sum, one message", MIXING, lambda n: Poll("sum", n=n, **PROMISE), {"color": PALE, "marker": "D"}),
        Way(
            "sum, split and mix",
            SEALED,
            lambda n: Poll("sum", mechanism="split", n=n, **PROMISE),
            {"color": DARK, "marker": "v"},
        ),
    )
    return (
        Question(f"A count of {CATEGORIES}", histogram, counts_by_curator(CATEGORIES, **PROMISE)),
        Question("One count", count, counts_by_curator(2, **PROMISE)),
        Question("A sum of numbers from 0 to 1", total, number_by_curator(1.0, **PROMISE)),
    )


def table(question: Question) -> list[str]:
    """Errors from left to right, then the ratio to a curator's, and what a person sends."""
    heads = " | ".join(f"{people:,}" for people in PEOPLE)
    rows = [
        f"| | {heads} | times the curator's | messages | bytes | sealed | whom to trust |",
        f"|---|{len(PEOPLE) * '--:|'}--:|--:|--:|--:|---|",
    ]
    for way in question.ways:
        asked = [way.make(people) for people in PEOPLE]
        laws = [each.randomizer for each in asked]
        errors = [way.error(people) for people in PEOPLE]
        sealed = [law.report_bytes + OVERHEAD * law.messages for law in laws]
        cells = [
            *(f"{error:.2f}" for error in errors),
            _range([error / question.curator.error for error in errors], ".2f"),
            _range([law.messages for law in laws], "d"),
            _range([law.report_bytes for law in laws], "d"),
            _range(sealed, ",d"),
            way.trust,
        ]
        rows.append(f"| {way.name} | {' | '.join(cells)} |")
    same = " | ".join(f"{question.curator.error:.2f}" for _ in PEOPLE)
    rows.append(f"| curator, {question.curator.name} | {same} | 1.00 | | | | {CURATOR} |")
    return rows


def _range(values: Sequence[float], form: str) -> str:
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def confirmed(runs: int, asked: Iterable[Question]) -> list[str]:
    """The error over some runs, beside the predicted one."""
    rows = ["| | predicted | measured | times the predicted |", "|---|--:|--:|--:|"]
    for question in asked:
        for way in question.ways:
            predicted = way.error(SIMULATED)
            measured = float(np.sqrt(np.mean(_errors(way, runs) ** 2)))
            rows.append(f"| {way.name} | {predicted:.2f} | {measured:.2f} | {measured / predicted:.2f} |")
    return rows


def _errors(way: Way, runs: int) -> Floats:
    """How far estimates are from the truth: of all values, or of the one that everybody holds."""
    asked, rng = way.make(SIMULATED), np.random.default_rng(15)
    held, truth = _people(way, asked)
    law = asked.randomizer
    tallies = (asked.randomizer.tally(asked.encode(held, rng=rng).rows) for _ in range(runs))
    found = [asked.analyse_counts(law.mixed(tally, rng=rng)).values[: len(truth)] for tally in tallies]
    errors: Floats = np.array(found) - truth
    return errors


def _people(way: Way, asked: Poll) -> tuple[NDArray[Any], Floats]:
    """What people hold, and the true answer."""
    if asked.question.type == "sum":
        numbers: Floats = np.linspace(0.0, 1.0, SIMULATED)
        return numbers, np.array([numbers.sum()])
    if way.worst:
        return np.zeros(SIMULATED, dtype=np.int64), np.array([float(SIMULATED)])
    held = np.arange(SIMULATED) % asked.randomizer.k
    counts: Floats = np.bincount(held).astype(np.float64)
    return held, counts[1:] if asked.question.type == "count" else counts


def draw(asked: tuple[Question, Question, Question], path: Path) -> None:
    """Both panels: a histogram; a count and a sum."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    histogram, count, total = asked
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 3.9), layout="constrained")
        left, right = figure.subplots(1, 2)
        for axes, title, shown in (
            (left, f"Histogram of {CATEGORIES} values: one value's count", (histogram,)),
            (right, "One count; a sum of numbers from 0 to 1", (count, total)),
        ):
            for question in shown:
                for way in question.ways:
                    errors = [way.error(people) for people in PEOPLE]
                    axes.plot(PEOPLE, errors, label=way.name, linewidth=1.3, markersize=4.5, **way.look)
            axes.axhline(shown[0].curator.error, color=GREY, linewidth=1.6, label="trusted curator")
            axes.set_xscale("log")
            axes.set_yscale("log")
            ticks = [each for each in (1, 2, 5, 10, 20, 50) if each < 1.4 * axes.get_ylim()[1]]
            axes.set_yticks(ticks, [str(each) for each in ticks])
            axes.minorticks_off()
            axes.set_xlabel("people")
            axes.set_title(title, loc="left")
            axes.grid(visible=True, which="major", color="0.9", linewidth=0.6)
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize=7.5)
        left.set_ylabel("standard error")
        figure.savefig(path, dpi=200)


PAGE = """# Accuracy, measured

What it costs that nobody is trusted with the answers: the standard error of every way to ask, beside that of a
trusted curator, all with the same promise, epsilon = {epsilon:g} at delta = {delta:g}. `make accuracy` computes it
again, and writes this page.

![Standard error against the number of people](figures/accuracy-by-users.png)

The noise hardly depends on how many people there are, so as a share of them it vanishes; only a sum by one message
each errs by more people as there are more, about 1.5 times for every factor of ten. All errors are compared with
the best curator that shuffledp knows at the same promise, which each table names. *Bytes* is what
one person's report takes, *sealed* the same over the network, with each message in an envelope of its own
({overhead} bytes more).

## A histogram of {categories} values

The error of one value's count, with people spread evenly, and for one message also of a value that everybody
holds, which is the worst case. With fakes and dummies the error is the same whatever people hold.

{histogram}

## One count

{count}

## A sum of numbers from 0 to 1

For the worst data: rounding a number to its grid errs most if it lies halfway between two points. From 10,000
people on, a count and a sum by several messages err by at most 1.2 times what a curator's answer would be off by;
the tests hold them to it.

{total}

## Against runs

{simulated:,} people, {runs} runs of the code that ships, from fixed seeds (Python {python}, NumPy {numpy}): the
root mean square of the errors. Where an answer is one number, {runs} runs tell it to within about 6 %. Sums are of
numbers spread evenly from 0 to 1, which are kinder than the worst.

{confirmed}
"""


def main() -> None:
    """Compute it, and write the page and its figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    asked = questions()
    if given.figure is not None:
        draw(asked, given.figure)
    tables = dict(zip(("histogram", "count", "total"), map(table, asked), strict=True))
    tables["confirmed"] = confirmed(given.runs, asked)
    made = PAGE.format(
        **PROMISE,
        **{name: "\n".join(rows) for name, rows in tables.items()},
        overhead=OVERHEAD,
        categories=CATEGORIES,
        simulated=SIMULATED,
        runs=given.runs,
        python=platform.python_version(),
        numpy=np.__version__,
    )
    if given.page is None:
        print(made)
    else:
        given.page.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
