"""What the first-clone swap gains: upper ends over lower ends, before and after it, against the
number of users and against epsilon0. For docs/first-clone-swap.md; not a figure of any paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.shuffled import shuffle
from shuffledp.literature.bounds import LITERATURE, Setting
from shuffledp.papers.experiment import Axis, Experiment, Line, find
from shuffledp.randomizers import OUE, RAPPOR, AnyLDP, Hadamard, Laplace, LocalHash, Randomizer

DELTA = 1e-6
USERS = np.logspace(3.0, 8.0, 6)
EPSILON0S = np.array([0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0])
CROWD = 10_000
BEFORE, NOW = "before: blanket or any-randomizer theorem", "certified"
FAMILIES: dict[str, tuple[Callable[[float], Randomizer], float]] = {  # and epsilon0 in the figure against n
    "binary hashing": (lambda epsilon0: LocalHash(k=16, g=2, epsilon0=epsilon0), 4.0),
    "RAPPOR, k = 16": (lambda epsilon0: RAPPOR(k=16, epsilon0=epsilon0), 2.0),
    "OUE, k = 16": (lambda epsilon0: OUE(k=16, epsilon0=epsilon0), 1.0),
    "Hadamard response, k = 16": (lambda epsilon0: Hadamard(k=16, epsilon0=epsilon0), 1.0),
    "Laplace noise": (lambda epsilon0: Laplace(epsilon0=epsilon0), 1.0),
    "any, fixed in advance": (lambda epsilon0: AnyLDP(epsilon0=epsilon0, adaptive=False), 1.0),
}


def _before(randomizer: Randomizer, n: int) -> float:
    """The smaller upper end of those that need no swap."""
    name = "balle-2019-blanket-exact" if randomizer.known else "shuffledp-any"
    (bound,) = (each for each in LITERATURE if each.name == name)
    return bound.epsilon(Setting(randomizer, n), delta=DELTA)


def _lines(panel: str, at: Floats, cases: Sequence[tuple[Randomizer, int]]) -> Iterator[Line]:
    ends = [shuffle(randomizer, n=n).epsilon(delta=DELTA) for randomizer, n in cases]
    lower = np.array([bound.lower for bound in ends])
    yield Line(BEFORE, "published", at, np.array([_before(*case) for case in cases]) / lower, panel)
    yield Line(NOW, "upper", at, np.array([bound.upper for bound in ends]) / lower, panel)
    yield Line(NOW, "lower", at, np.ones(len(cases)), panel)


def _by_users() -> Iterator[Line]:
    for family, (make, epsilon0) in FAMILIES.items():
        panel = f"{family}, ε₀ = {epsilon0:g}"
        yield from _lines(panel, USERS, [(make(epsilon0), round(n)) for n in USERS])


def _by_epsilon0() -> Iterator[Line]:
    for family, (make, _) in FAMILIES.items():
        yield from _lines(family, EPSILON0S, [(make(float(epsilon0)), CROWD) for epsilon0 in EPSILON0S])


def gap(ratio: float) -> str:
    """A ratio of two ends, as what the upper one exceeds the lower one by; rounded up."""
    percent = 100.0 * (ratio - 1.0)
    digits = 0 if percent >= 10.0 else 1 if percent >= 1.0 else 2
    return f"{np.ceil(percent * 10**digits) / 10**digits:.{digits}f} %"


def swap_table(lines: Sequence[Line]) -> str:
    """Before and now, for every panel and x, in Markdown."""
    panels = list(dict.fromkeys(line.panel for line in lines))
    at = find(lines, NOW, "upper", panels[0]).x
    header = "| | " + " | ".join(f"$n = 10^{{{round(np.log10(n))}}}$" for n in at) + " |"
    rows = [header, "|---" * (len(at) + 1) + "|"]
    for panel in panels:
        before, now = find(lines, BEFORE, panel=panel), find(lines, NOW, "upper", panel)
        cells = [f"{gap(a)} → {gap(b)}" for a, b in zip(before.y.tolist(), now.y.tolist(), strict=True)]
        rows.append("| " + " | ".join([panel, *cells]) + " |")
    return "\n".join(rows)


def _verdict(lines: Sequence[Line]) -> str:
    words = []
    for panel in dict.fromkeys(line.panel for line in lines):
        before, now = find(lines, BEFORE, panel=panel).y, find(lines, NOW, "upper", panel).y
        words.append(
            f"- {panel}: {gap(float(np.min(before)))} to {gap(float(np.max(before)))} before, "
            f"{gap(float(np.min(now)))} to {gap(float(np.max(now)))} now."
        )
    return "\n".join(["By how much the upper end exceeds the lower end:", "", *words])


_figure = partial(
    Experiment,
    paper="this package",
    y=Axis("upper end / lower end of epsilon"),
    count=3 * len(FAMILIES),
    verdict=_verdict,
)
EXPERIMENTS: tuple[Experiment, ...] = (
    _figure(
        name="swap-by-users",
        title="What the first-clone swap gains, against the number of users",
        parameters=f"delta = {DELTA:g}; parameters: ours",
        x=Axis("number of users n", log=True),
        compute=_by_users,
    ),
    _figure(
        name="swap-by-epsilon0",
        title="What the first-clone swap gains, against epsilon0",
        parameters=f"n = {CROWD:,}, delta = {DELTA:g}; parameters: ours",
        x=Axis("epsilon0"),
        compute=_by_epsilon0,
    ),
)
