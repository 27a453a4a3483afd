"""docs/papers/: one page for each of the four papers, statement by statement, and an index."""

from __future__ import annotations

import re
from pathlib import Path

from shuffledp.papers import FOUR, PAPERS, Paper, Statement
from shuffledp.papers.experiment import Experiment, read_table
from shuffledp.papers.experiments import EXPERIMENTS
from shuffledp.papers.paper import VERDICTS

__all__ = ["OTHER_FIGURES", "index", "page"]

INTRODUCTION = """\
# The papers

shuffledp implements what four papers state: every definition, theorem, algorithm, figure and table has a row on the page of its paper, with the place where it is
in the package, a command to copy, and the number that the paper prints next to ours. `shuffledp papers show NAME` prints the same, and `shuffledp papers bounds NAME` the
bounds. In Python a statement is an attribute: `sdp.papers.koskela_2021.theorem_8`.
"""
LEGEND = """\
In the figures, thin solid lines are bounds where their conditions hold; dashed lines are bounds where they do not; dash-dotted ones are unproven; dotted ones are invalid as
printed. The thick line is what this package computes as an upper end, and the thin pale one is the leakage that is certainly there. Our copies of the papers are texts without
their images, so "agrees" means that we agree with the numbers and words in the text. The CSV file has every curve of a figure.
"""
OTHER_FIGURES = [each for each in EXPERIMENTS if each.paper not in {paper.cited for paper in FOUR}]


def index(figures: Path) -> str:
    """The list of the papers, and the figures that are in none of them."""
    rows = [
        f"| [{paper.title}]({paper.name}.md) | {paper.cited} | {paper.brought} | {_counted(paper)} |" for paper in FOUR
    ]
    others = [f"| [{each.title}]({each.link}) | {each.cited} | {each.brought} |" for each in PAPERS if each not in FOUR]
    parts = [
        INTRODUCTION,
        "| paper | cited as | what it contributed | statements |\n|---|---|---|---|\n" + "\n".join(rows) + "\n",
        "Where a paper is wrong, the [errata](../errata.md) show it in a few lines.\n",
        "## Other papers\n\nTheir bounds or an erratum are here, and nothing else of them.\n",
        "| paper | cited as | what it contributed |\n|---|---|---|\n" + "\n".join(others) + "\n",
        "## Figures of ours\n",
        LEGEND,
        *(_figure(each, figures, "###") for each in OTHER_FIGURES),
    ]
    return "\n".join(parts)


def page(paper: Paper, figures: Path) -> str:
    """The page of one paper, with the tables in ``figures``."""
    parts = [
        f"# {paper.title}\n",
        f"{paper.authors}, {paper.year}. [{paper.published}]({paper.link}).\n",
        f"{paper.brought} {paper.numbering}".rstrip() + "\n",
        f"```sh\n{paper.start}\n```\n",
        f"{len(paper.statements)} statements: {_counted(paper)}. `shuffledp papers show {paper.name}` prints this page's text, "
        f"`shuffledp papers bounds {paper.name}` its bounds, and `shuffledp papers reproduce {paper.name}` computes its figures.\n",
        LEGEND,
        *(_section(each, figures) for each in paper),
    ]
    return "\n".join(parts)


def _counted(paper: Paper) -> str:
    numbers = {verdict: sum(each.verdict == verdict for each in paper) for verdict in VERDICTS}
    return ", ".join(f"{verdict} {count}" for verdict, count in numbers.items() if count)


def _section(statement: Statement, figures: Path) -> str:
    erratum = f" ([erratum {statement.erratum}](../errata.md))" if statement.erratum else ""
    numbers = [f"The paper: {statement.printed}."] if statement.printed else []
    numbers += [f"Here: {statement.ours}."] if statement.ours else []
    parts = [f"## {statement.title}\n", f"**{statement.verdict}**{erratum}. {statement.says}\n"]
    parts += [f"{' '.join(numbers)}\n"] if numbers else []
    parts += [f"{statement.why}\n"] if statement.why else []
    parts += [f"In the package: `{statement.where}`\n"] if statement.where else []
    if statement.run:
        # Not "pycon": a session stands here without its output, which tests/papers compares.
        parts += [f"```{'python-console' if statement.run.startswith('>>>') else 'sh'}\n{statement.run}\n```\n"]
    parts += [_figure(each, figures, "###") for each in EXPERIMENTS if _runs(statement, each)]
    return "\n".join(parts)


def _runs(statement: Statement, experiment: Experiment) -> bool:
    """Whether the experiment is what the statement's command computes."""
    return bool(re.search(rf"papers reproduce (.* )?{experiment.name}( |$)", statement.run, re.MULTILINE))


def _figure(experiment: Experiment, figures: Path, level: str) -> str:
    _, lines = read_table((figures / f"{experiment.name}.csv").read_text(encoding="utf-8"))
    place = f"../{figures.name}/{experiment.name}"
    return f"""\
{level} {experiment.title}

![{experiment.title}]({place}.png)

`{experiment.name}` · {experiment.parameters} · [CSV]({place}.csv)

{experiment.verdict(lines)}
"""
