"""Figures of ours, in none of the papers: how many times too large each published bound is, from a
thousand users to a hundred million; and, for docs/first-clone-swap.md, what the first-clone swap
gains: upper ends over lower ends, before and after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.shuffled import shuffle
from shuffledp.errors import DoesNotApply
from shuffledp.literature.bounds import Published, Setting
from shuffledp.literature.bounds import find as bound_of
from shuffledp.papers.experiment import Axis, Experiment, Line, by_panel, curve, find, kind_of
from shuffledp.randomizers import KRR, OUE, RAPPOR, AnyLDP, Hadamard, Laplace, LocalHash, Randomizer

DELTA = 1e-6
MANY = np.logspace(3.0, 8.0, 11)
PANELS: dict[str, Randomizer] = {
    "any randomizer fixed in advance, ε₀ = 1": AnyLDP(epsilon0=1.0, adaptive=False),
    "any randomizer fixed in advance, ε₀ = 4": AnyLDP(epsilon0=4.0, adaptive=False),
    "k-RR, k = 16, ε₀ = 4": KRR(k=16, epsilon0=4.0),
}
DRAWN = {  # name in the literature -> label
    "balle-2019-thm-1": "Balle 2019, Thm 1",
    "balle-2019-hoeffding": "Balle 2019, Hoeffding",
    "balle-2019-bennett": "Balle 2019, Bennett",
    "balle-2019-bennett-krr": "Balle 2019, Bennett for k-RR",
    "feldman-2020-thm-3.1": "Feldman 2020, Thm 3.1",
    "feldman-2020-cor-4.2": "Feldman 2020, Cor 4.2",
    "feldman-2020-clones-exact": "Feldman 2020, clones, evaluated here",
    "girgis-2021": "Girgis 2021, via Renyi, reconstructed",
    "shuffledp-any": "any-randomizer theorem",
}


def _too_large() -> Iterator[Line]:
    for panel, randomizer in PANELS.items():
        certified = {n: shuffle(randomizer, n=round(n)).epsilon(delta=DELTA) for n in MANY.tolist()}
        yield curve("certified", "upper", MANY, lambda n, ends=certified: ends[n].upper / ends[n].lower, panel)  # type: ignore[misc]
        yield Line("certified", "lower", MANY, np.ones(len(MANY)), panel)
        for name, label in DRAWN.items():
            bound = bound_of(name)
            ratios = [_ratio(bound, Setting(randomizer, round(n)), at.lower) for n, at in certified.items()]
            kind = "upper" if bound.paper == "this package" else kind_of(bound)
            yield Line(label, kind, MANY, np.array(ratios), panel)


def _ratio(bound: Published, setting: Setting, truth: float) -> float:
    """nan where the bound says nothing, or nothing better than one report on its own."""
    try:
        epsilon = bound.epsilon(setting, delta=DELTA)
    except DoesNotApply:
        return math.nan
    return epsilon / truth if epsilon < (1.0 - 1e-9) * setting.epsilon0 else math.nan


def _verdict_too_large(lines: Sequence[Line]) -> str:
    said = "Each curve begins where its conditions hold and it beats one report on its own. With a million users:"
    words = [said, ""]
    for panel, mine in by_panel(lines).items():
        published = {line.label: float(line.y[-5]) for line in mine if line.kind == "published"}
        at = {label: y for label, y in published.items() if not math.isnan(y)}
        best, worst = min(at, key=at.__getitem__), max(at, key=at.__getitem__)
        words.append(
            f"- {panel}: the best published one ({best}) is {at[best]:.2f} times the certified lower end, the loosest "
            f"({worst}) {at[worst]:.1f} times, and the certified upper end "
            f"{float(find(mine, 'certified', 'upper').y[-5]):.3f} times."
        )
    return "\n".join(words)


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
    return bound_of(name).epsilon(Setting(randomizer, n), delta=DELTA)


def _lines(panel: str, at: Floats, cases: Sequence[tuple[Randomizer, int]]) -> Iterator[Line]:
    ends = [shuffle(randomizer, n=n).epsilon(delta=DELTA) for randomizer, n in cases]
    lower, upper = np.array([(bound.lower, bound.upper) for bound in ends]).T
    yield Line(BEFORE, "published", at, np.array([_before(*case) for case in cases]) / lower, panel)
    yield Line(NOW, "upper", at, upper / lower, panel)
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
    panels = by_panel(lines)
    at = find(next(iter(panels.values())), NOW, "upper").x
    header = "| | " + " | ".join(f"$n = 10^{{{round(np.log10(n))}}}$" for n in at) + " |"
    rows = [header, "|---" * (len(at) + 1) + "|"]
    for panel, mine in panels.items():
        before, now = find(mine, BEFORE), find(mine, NOW, "upper")
        cells = [f"{gap(a)} → {gap(b)}" for a, b in zip(before.y.tolist(), now.y.tolist(), strict=True)]
        rows.append("| " + " | ".join([panel, *cells]) + " |")
    return "\n".join(rows)


def _verdict_swap(lines: Sequence[Line]) -> str:
    words = ["By how much the upper end exceeds the lower end:", ""]
    for panel, mine in by_panel(lines).items():
        (least, most), (low, high) = (
            (gap(float(y.min())), gap(float(y.max()))) for y in (find(mine, BEFORE).y, find(mine, NOW, "upper").y)
        )
        words.append(f"- {panel}: {least} to {most} before, {low} to {high} now.")
    return "\n".join(words)


_figure = partial(Experiment, paper="this package")
_swap = partial(_figure, y=Axis("upper end / lower end of epsilon"), count=3 * len(FAMILIES), verdict=_verdict_swap)
EXPERIMENTS: tuple[Experiment, ...] = (
    _figure(
        name="bounds-by-users",
        title="How many times too large each bound is",
        parameters=f"delta = {DELTA:g}; parameters: ours",
        x=Axis("number of users n", log=True, limits=(1e3, 1e8)),
        y=Axis("epsilon / certified lower end", log=True),
        count=len(PANELS) * (len(DRAWN) + 2),
        compute=_too_large,
        verdict=_verdict_too_large,
    ),
    _swap(
        name="swap-by-users",
        title="What the first-clone swap gains, against the number of users",
        parameters=f"delta = {DELTA:g}; parameters: ours",
        x=Axis("number of users n", log=True),
        compute=_by_users,
    ),
    _swap(
        name="swap-by-epsilon0",
        title="What the first-clone swap gains, against epsilon0",
        parameters=f"n = {CROWD:,}, delta = {DELTA:g}; parameters: ours",
        x=Axis("epsilon0"),
        compute=_by_epsilon0,
    ),
)
