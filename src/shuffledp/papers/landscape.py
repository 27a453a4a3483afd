"""How many times too large each published bound is, from a thousand users to a hundred million. Not
a figure of any paper.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from shuffledp.accounting.shuffled import shuffle
from shuffledp.errors import DoesNotApply
from shuffledp.literature.bounds import LITERATURE, Published, Setting
from shuffledp.papers.experiment import Axis, Experiment, Line, find, kind_of
from shuffledp.randomizers import KRR, AnyLDP, Randomizer

DELTA = 1e-6
USERS = np.logspace(3.0, 8.0, 11)
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


def _compute() -> Iterator[Line]:
    bounds = {bound.name: bound for bound in LITERATURE}
    for panel, randomizer in PANELS.items():
        certified = [shuffle(randomizer, n=round(n)).epsilon(delta=DELTA) for n in USERS]
        yield Line("certified", "upper", USERS, np.array([at.upper / at.lower for at in certified]), panel)
        yield Line("certified", "lower", USERS, np.ones(len(USERS)), panel)
        for name, label in DRAWN.items():
            ratios = [
                _ratio(bounds[name], Setting(randomizer, round(n)), at.lower)
                for n, at in zip(USERS, certified, strict=True)
            ]
            kind = "upper" if bounds[name].paper == "this package" else kind_of(bounds[name])
            yield Line(label, kind, USERS, np.array(ratios), panel)


def _ratio(bound: Published, setting: Setting, truth: float) -> float:
    """nan where the bound says nothing, or nothing better than one report on its own."""
    try:
        epsilon = bound.epsilon(setting, delta=DELTA)
    except DoesNotApply:
        return math.nan
    return epsilon / truth if epsilon < (1.0 - 1e-9) * setting.epsilon0 else math.nan


def _verdict(lines: Sequence[Line]) -> str:
    words = []
    for panel in PANELS:
        mine = {line.label: line for line in lines if line.panel == panel and line.kind == "published"}
        at = {label: float(line.y[-5]) for label, line in mine.items() if not math.isnan(line.y[-5])}
        best = min(at, key=lambda label: at[label])
        width = float(find(lines, "certified", "upper", panel).y[-5])
        worst = max(at, key=lambda label: at[label])
        words.append(
            f"- {panel}: the best published one ({best}) is {at[best]:.2f} times the certified lower end, the loosest "
            f"({worst}) {at[worst]:.1f} times, and the certified upper end {width:.3f} times."
        )
    return "\n".join(
        [
            "Each curve begins where its conditions hold and it beats one report on its own. With a million users:",
            "",
            *words,
        ]
    )


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        name="bounds-by-users",
        paper="this package",
        title="How many times too large each bound is",
        parameters=f"delta = {DELTA:g}; parameters: ours",
        x=Axis("number of users n", log=True, limits=(1e3, 1e8)),
        y=Axis("epsilon / certified lower end", log=True),
        count=len(PANELS) * (len(DRAWN) + 2),
        compute=_compute,
        verdict=_verdict,
    ),
)
