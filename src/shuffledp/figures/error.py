"""Privacy against utility: the error of every mechanism that answers a question, at several
epsilons.
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from shuffledp.figures.files import BLUE, DARK, GREY, STYLE, check_figure, save, unframed
from shuffledp.mechanisms.mechanism import ADDING, SEALED
from shuffledp.planning import plan, planned

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
COLOURS = {"curator": GREY, "shuffler": DARK, SEALED: DARK, ADDING: DARK, "nobody": BLUE}
WHOM = {"nobody": "trusts nobody", SEALED: "trusts a shuffler", ADDING: "trusts a shuffler"}
MARKERS = "osD^vPX*<>"


def plan_figure(
    task: str,
    path: str | os.PathLike[str],
    *,
    n: int,
    delta: float,
    categories: int | str | Iterable[Hashable] | None = None,
    rounds: int = 1,
    honest: int | None = None,
    epsilons: Sequence[float] = EPSILONS,
) -> Path:
    """Draw the predicted error of every mechanism against epsilon, and return the file's path.
    Darkness says whom to trust.
    """
    path = check_figure(path)
    categories = list(categories) if categories is not None and not isinstance(categories, (int, str)) else categories
    people: dict[str, Any] = {"n": n, "rounds": rounds, "honest": honest}
    plans = [plan(task, epsilon=epsilon, delta=delta, categories=categories, **people) for epsilon in epsilons]
    errors: dict[tuple[str, str], list[float]] = {}
    for place, each in enumerate(plans):
        for option in each.options:
            errors.setdefault((option.name, option.trust), [math.nan] * len(plans))[place] = option.error
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        for place, ((name, trust), values) in enumerate(errors.items()):
            words = f"{name}, {WHOM.get(trust, f'trusts a {trust}')}"
            look: dict[str, Any] = {"color": COLOURS[trust], "marker": MARKERS[place % len(MARKERS)], "markersize": 4.5}
            axes.plot(epsilons, values, linewidth=1.3, label=words, **look)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(list(epsilons), [f"{epsilon:g}" for epsilon in epsilons])
        axes.minorticks_off()
        axes.set_xlabel(f"ε at δ = {delta:g}")
        axes.set_ylabel(planned(task).error.replace(", ", ",\n"))
        unframed(axes)
        size = f" of {plans[0].domain:,} values" if plans[0].domain else ""
        words = f"{task}{size}; {n:,} users" + (f"; {rounds} rounds" if rounds > 1 else "")
        figure.suptitle(words, x=0.01, ha="left", fontweight="bold")
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8.0)
        return save(figure, path)
