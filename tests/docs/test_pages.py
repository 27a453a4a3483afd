"""The computed pages of docs/ are what `make docs` would write, and their figures what the code
computes.
"""

import json
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from pages import choosing, papers, prose, swap
from shuffledp.literature.fourier import Grid
from shuffledp.papers import FOUR, balle, koskela_curves
from shuffledp.papers.experiment import Experiment, arranged, facts, find, read_table
from shuffledp.papers.experiments import EXPERIMENTS

DOCS = Path(__file__).resolve().parents[2] / "docs"
FIGURES = DOCS / "figures"
WITHOUT_ENDS = {
    "balle-fig2",
    "biswas-gap",
    "biswas-fig1",
    "biswas-map",
}  # densities; and a gap that is measured from the certified end
# How many lines of an experiment are computed again, where all of them would take too long.
AGAIN = {
    "koskela-fig1": 7,
    "koskela-fig2": 5,
    "koskela-fig3": 5,
    "koskela-fig4": 10,
    "koskela-fig5": 5,
    "koskela-fig6": 5,
    "koskela-fig8": 9,
    "koskela-fig9": 8,
    "koskela-fig10": 16,
    "feldman-fig2": 1,
    "feldman-fig3a": 1,
    "feldman-fig3b": 1,
    "feldman-fig4": 5,
    "balle-fig3iv": 3,
    "biswas-gap": 4,
    "bounds-by-users": 11,
    "swap-by-users": 2,
    "swap-by-epsilon0": 2,
}


@pytest.mark.parametrize(
    "name, page",
    [
        ("choosing-a-bound", choosing.page),
        ("papers/index", lambda: papers.index(FIGURES)),
        *((f"papers/{paper.name}", partial(papers.page, paper, FIGURES)) for paper in FOUR),
        ("first-clone-swap", lambda: swap.page(DOCS)),
        *((name, partial(prose.page, DOCS, name)) for name in prose.PAGES),
    ],
)
def test_a_computed_page_is_up_to_date(name: str, page: Callable[[], str]) -> None:
    assert (DOCS / f"{name}.md").read_text(encoding="utf-8") == page(), "run make docs"


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_every_figure_is_in_the_docs_with_its_numbers(experiment: Experiment) -> None:
    name = experiment.name
    about, lines = read_table((FIGURES / f"{name}.csv").read_text(encoding="utf-8"))
    assert about == facts(experiment), "run make docs"
    assert {"upper", "lower"} <= {line.kind for line in lines} or name in WITHOUT_ENDS, (
        "every figure shows both certified ends"
    )
    assert (FIGURES / f"{name}.png").stat().st_size > 10_000
    assert json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))["verdict"] == experiment.verdict(lines)


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "all"])
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_the_numbers_behind_a_figure_are_those_that_the_code_computes(
    experiment: Experiment, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(koskela_curves, "Grid", partial(Grid, m=400_000))  # 25 times coarser than in the figures
    if not whole:
        monkeypatch.setattr(balle, "EVERY", 99)  # the first and the last of the paper's n: no curve is left out
    _, stored = read_table((FIGURES / f"{experiment.name}.csv").read_text(encoding="utf-8"))
    for now in islice(experiment.compute(), None if whole else AGAIN.get(experiment.name, experiment.count)):
        (now,) = arranged([now])
        kept = find(stored, now.label, now.kind, now.panel)
        coarse = experiment.name.startswith("koskela") and now.kind in ("published", "invalid")
        few = slice(None) if len(now.x) == len(kept.x) else np.searchsorted(kept.x, now.x)
        np.testing.assert_allclose(kept.x[few], now.x, rtol=1e-12)
        np.testing.assert_allclose(kept.y[few], now.y, rtol=0.02 if coarse else 1e-6, atol=1e-300)


def test_of_every_experiment_something_is_computed_again() -> None:
    assert set(AGAIN) <= {experiment.name for experiment in EXPERIMENTS}
    assert all(0 < AGAIN[experiment.name] < experiment.count for experiment in EXPERIMENTS if experiment.name in AGAIN)
