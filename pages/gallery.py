"""docs/gallery.md: every figure with what it shows, from the tables that the figures were drawn
from.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from shuffledp.papers import EXPERIMENTS
from shuffledp.papers.experiment import Experiment
from shuffledp.papers.table import read_table

__all__ = ["page"]

INTRODUCTION = """\
# Gallery

The figures and tables of the papers, computed again, with the certified ends next to the papers' curves. Thin solid lines are bounds where their conditions hold;
dashed lines are bounds where they do not; dash-dotted ones are unproven; dotted ones are invalid as printed. The thick line is what this package certifies, and the
thin pale one is the leakage that is certainly there. Our copies of the papers are texts without their images, so "agrees" means that we agree with the numbers and the
words in the text. Click on a figure to see it large.

`shuffledp reproduce --all --out docs/figures` computes them all, `shuffledp reproduce NAME --out DIR` one of them. The CSV file holds every curve of a figure.
"""


def page(figures: Path) -> str:
    """The page for the tables in ``figures``."""
    parts = [INTRODUCTION]
    for paper, group in groupby(EXPERIMENTS, key=lambda experiment: experiment.paper):
        parts += [f"## {paper[0].upper()}{paper[1:]}\n", *(_section(experiment, figures) for experiment in group)]
    return "\n".join(parts)


def _section(experiment: Experiment, figures: Path) -> str:
    _, lines = read_table((figures / f"{experiment.name}.csv").read_text(encoding="utf-8"))
    return f"""\
### {experiment.title}

![{experiment.title}]({figures.name}/{experiment.name}.png)

`{experiment.name}` · {experiment.parameters} · [CSV]({figures.name}/{experiment.name}.csv)

{experiment.verdict(lines)}
"""
