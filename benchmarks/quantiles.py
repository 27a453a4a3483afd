"""Quantiles, measured: which shape errs less, how far estimates are from the truth and how often
intervals cover it over 200 runs, and what a million people cost.

Everything is drawn from fixed seeds, so that two runs differ in time and memory alone.
"""

from __future__ import annotations

import argparse
import csv
import math
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from shuffledp import Poll
from shuffledp._types import Floats
from shuffledp.domain import Bins
from shuffledp.mechanisms.levels import level_sizes
from shuffledp.mechanisms.noise_search import fewest_dummies
from shuffledp.mechanisms.tree import Tree
from shuffledp.questions.quantile.cuts import cut_points
from shuffledp.randomizers import TreeDummies
from shuffledp.workload import Ranges

RUNS = 200
PROMISE: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
AT = (0.1, 0.5, 0.9)
SHAPES = ((1_000, 64), (1_000, 256), (10_000, 64), (10_000, 256), (10_000, 1024), (100_000, 256), (100_000, 1024))
IN_TREES = (16, 64, 120, 256, 1024, 4096, 65_536)
ALL_CUTS = 4096  # of more bins, some cut points stand for all
PEOPLE = (1_000_000, 10_000_000)


@dataclass(frozen=True)
class Population:
    """People whose numbers are known here, and the bins that are asked about."""

    name: str
    numbers: Floats
    cuts: tuple[float, ...]
    levels: tuple[int, ...] | None = None
    dummies: bool = False


def populations() -> list[Population]:
    """The bundled survey, and made-up incomes with a heavy tail."""
    text = (files("shuffledp.data") / "affairs.csv").read_text(encoding="utf-8")
    ages = np.array([float(row["age"]) for row in csv.DictReader(text.splitlines())])
    rng = np.random.default_rng(15)
    lognormal, pareto = np.exp(rng.normal(10.3, 0.8, 10_000)), 12_000.0 * (1.0 + rng.pareto(1.6, 100_000))
    log64, log256 = (cut_points(1_000, 10_000_000, bins=bins, spacing="log") for bins in (64, 256))
    return [
        Population("survey, age (6,366 people)", ages, cut_points(15, 50)),
        Population("lognormal incomes (10,000), 64 bins", lognormal.clip(1e3, 1e7), log64),
        Population("the same, 256 bins in levels", lognormal.clip(1e3, 1e7), log256),
        Population("the same, 256 bins at once", lognormal.clip(1e3, 1e7), log256, ()),
        Population("Pareto incomes (100,000), 64 bins", pareto.clip(1e3, 1e7), log64),
        Population("survey, by dummies", ages, cut_points(15, 50), dummies=True),
        Population("lognormal incomes, 256 bins, by dummies", lognormal.clip(1e3, 1e7), log256, dummies=True),
        Population("Pareto incomes, 256 bins, by dummies", pareto.clip(1e3, 1e7), log256, dummies=True),
    ]


def levels_of(asked: Poll) -> tuple[int, ...]:
    """How many bins each of several levels has."""
    return tuple(level.k for level in getattr(asked.randomizer, "levels", ()))


def shapes() -> list[str]:
    """The error of all bins at once and of levels, as predicted and certified."""
    rows = [
        "| people | bins | all bins at once | worst data | best levels | error | worst data | chosen |",
        "|--:|--:|--:|--:|---|--:|--:|---|",
    ]
    for n, bins in SHAPES:
        cuts = tuple(float(each) for each in range(bins + 1))
        flat = Poll("quantile", cuts=cuts, n=n, levels=(), **PROMISE)
        trees = [Poll("quantile", cuts=cuts, n=n, levels=sizes, **PROMISE) for sizes in level_sizes(bins)]
        tree = min(trees, key=lambda each: each.predicted_stderr())
        chosen = levels_of(Poll("quantile", cuts=cuts, n=n, **PROMISE))
        sizes = ", ".join(map(str, levels_of(tree)))
        rows.append(
            f"| {n:,} | {bins:,} | {flat.predicted_stderr():.1f} | {flat.worst_stderr():.1f} | {sizes} | "
            f"{tree.predicted_stderr():.1f} | {tree.worst_stderr():.1f} | {'levels' if chosen else 'all bins'} |"
        )
    return rows


def trees() -> list[str]:
    """The error of dummies in one level and in several, at the worst cut point of many: the same
    for all data and for any number of people.
    """
    rows = [
        "| bins | dummies in all bins, the smaller side counted | all bins, people known | 2 levels | 3 | 4 | 5 | 6 | "
        "best |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for bins in IN_TREES:
        some = np.random.default_rng(1).integers(bins // 4, 3 * bins // 4, 512).tolist()
        cuts = range(1, bins) if bins <= ALL_CUTS else some
        errors = {}
        for levels in range(1, 7):
            branches = max(2, round(bins ** (1.0 / levels)))
            if branches ** (levels - 1) >= bins:
                continue
            best = fewest_dummies(2, 1000, *PROMISE.values(), levels, keep=1.0, kind=None, epsilon0=math.inf)
            described = {name: getattr(best, name) for name in ("kind", "center", "left", "right", "rate")}
            law = TreeDummies(k=bins, levels=levels, branches=branches, **described)
            worst = max(Tree(law).worst(Ranges(("",), ((0, int(cut)),)), 0) for cut in cuts)
            name = f"{levels} levels of {best.kind} dummies, {branches} branches"
            errors[levels] = (worst, name if levels > 1 else f"all bins, {best.kind} dummies")
        error, shape = min(errors.values())
        flat = errors[1][0] * math.sqrt(bins // 2 / (bins / 4.0))
        listed = " | ".join(f"{errors[levels][0]:.1f}" if levels in errors else "" for levels in range(1, 7))
        rows.append(f"| {bins:,} | {flat:.1f} | {listed} | {shape}: {error:.1f} |")
    return rows


def accuracy(runs: int) -> list[str]:
    """Error and coverage of every population."""
    rows = [
        "| | shape | error below a cut point, predicted | measured | covered | all at once | median off by | interval "
        "of the median | quantiles covered |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    return rows + [_measured(each, runs) for each in populations()]


def _measured(people: Population, runs: int) -> str:
    n, cuts = len(people.numbers), np.array(people.cuts)
    if people.dummies:
        asked = Poll("quantile", mechanism="dummies", cuts=people.cuts, at=AT, n=n, **PROMISE)
    else:
        asked = Poll("quantile", cuts=people.cuts, at=AT, n=n, levels=people.levels, **PROMISE)
    held = np.bincount(Bins(cuts=people.cuts).places(people.numbers, None), minlength=len(cuts) - 1)
    below = np.cumsum(held)[:-1]
    places = [int(np.argmax(np.append(below, n) >= share * n)) for share in AT]
    median = float(np.median(people.numbers))
    rng = np.random.default_rng(2026)
    errors, covered, together, caught, off, wide = [], [], [], [], [], []
    for _ in range(runs):
        tally = asked.randomizer.tally(asked.encode(people.numbers, rng=rng).rows)
        found = asked.analyse_counts(asked.randomizer.mixed(tally, rng=rng))
        low, high = found.interval()
        lowest, highest = found.simultaneous()
        errors.append(found.values - below)
        covered.append((low <= below) & (below <= high))
        together.append(np.all((lowest <= below) & (below <= highest)))
        rows = asked.question.quantiles(found)  # type: ignore[attr-defined]
        caught += [row.lower <= cuts[at] and cuts[at + 1] <= row.upper for row, at in zip(rows, places, strict=True)]
        off.append(abs(rows[1].value / median - 1.0))
        wide.append((rows[1].upper - rows[1].lower) / median)
    predicted = float(asked.predicted_stderrs(held).max())
    measured = float(np.sqrt(np.mean(np.square(errors), axis=0)).max())
    law = asked.randomizer
    sizes = law.sizes if isinstance(law, TreeDummies) else levels_of(asked) or (len(cuts) - 1,)
    shape = f"levels {', '.join(map(str, sizes))}" if len(sizes) > 1 else f"{len(cuts) - 1} bins"
    return (
        f"| {people.name} | {shape} | {predicted:.1f} | {measured:.1f} | {100.0 * np.mean(covered):.1f} % | "
        f"{100.0 * np.mean(together):.1f} % | {100.0 * np.mean(off):.2f} % | ± {50.0 * np.mean(wide):.1f} % | "
        f"{100.0 * np.mean(caught):.1f} % |"
    )


def cost() -> list[str]:
    """CPU and memory of a whole release, each in a process of its own."""
    rows = ["| people | shape | CPU | memory at most |", "|--:|---|--:|--:|"]
    for n in PEOPLE:
        for levels in ((), (16, 64, 256)):
            run = [sys.executable, "-m", "benchmarks.quantiles", "--one", str(n), *map(str, levels)]
            seconds, megabytes = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
            shape = "levels 16, 64, 256" if levels else "256 bins at once"
            rows.append(f"| {n:,} | {shape} | {seconds} s | {megabytes} MB |")
    return rows


def one(n: int, levels: Sequence[int]) -> None:
    """Encode, count and analyze n people's numbers; say what it took."""
    numbers = np.random.default_rng(1).random(n) * 256.0
    asked = Poll("quantile", cuts=range(257), at=AT, n=n, levels=levels, **PROMISE)
    before = time.process_time()
    step = 1 << 20
    tally = sum(asked.randomizer.tally(asked.encode(numbers[at : at + step]).rows) for at in range(0, n, step))
    asked.question.quantiles(asked.analyse_counts(tally))  # type: ignore[attr-defined]
    spent = time.process_time() - before
    print(f"{spent:.1f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}")


PAGE = """# Quantiles, measured

`make quantiles` repeats this and writes this page. Everything is promised at epsilon = 1, delta = 1e-6, and
drawn from fixed seeds (x86_64, one core; Python {python}, NumPy {numpy}).

## Which shape

All bins at once, by k-ary randomized response, or levels of coarse and fine bins, of which each person
answers one: the largest standard error, in people, of the count below any cut point, if people are spread
evenly, and for the worst data. Levels err less where bins are many for so few people, but more where people
crowd in few bins: a person is heard on one level only. So they are chosen only if they would err less by a
quarter.

{shapes}

## Error and coverage, {runs} runs

Against the truth. *Covered* is how often the 95 % interval of the count below a cut point holds it, over all
cut points and runs: errors of one run are alike from cut point to cut point, so this is not as sure as so many
independent ones would be. *All at once* is how often the band holds at all of them: it is Bonferroni's, and
holds more often than 95 %. An interval for a quantile ends at cut points, so it covers the quantile's bin more
often than it says, and the wider bins are, the more so. The interval of the median is half its width, as a
share of the median. The ages of the survey are midpoints of classes five years wide, so "off by" is mostly the
place inside a bin, which no report tells.

{accuracy}

## All levels at once, by dummies

The shuffler adds dummies to every node of a tree, of which everybody names one on each level: the largest
standard error, in people, of the count below any cut point. It is the same for all data, and for any number of
people. Each level is one more round to account for, so that every node needs more dummies; and yet of many bins
the noise of few nodes adds up. One person can move a count by a few people instead of one. Up to 1,024 bins can
be asked for; the rest shows where this goes (65,536 bins at 512 cut points drawn from the middle half).

{trees}

## Time and memory

Encoding, counting and analyzing numbers that are in memory, which themselves take 8 bytes a person.

{cost}
"""


def page(runs: int) -> str:
    """The page of docs."""
    tables = {"shapes": shapes(), "accuracy": accuracy(runs), "trees": trees(), "cost": cost()}
    joined = {name: "\n".join(rows) for name, rows in tables.items()}
    return PAGE.format(python=platform.python_version(), numpy=np.__version__, runs=runs, **joined)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--one", type=int, nargs="+")
    given = parser.parse_args()
    if given.one:
        return one(given.one[0], given.one[1:])
    made = page(given.runs)
    if given.page is None:
        print(made)
    else:
        given.page.write_text(made, encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
