"""The computed pages of docs/ are what `make docs` would write, and their figures what the code computes."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pages import choosing, gallery
from shuffledp.experiments import EXPERIMENTS, errata
from shuffledp.experiments.base import Experiment
from shuffledp.experiments.table import arranged, facts, read_table

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES = DOCS / "figures"
WITHOUT_ENDS = {"balle-fig2", "biswas-gap"}  # densities; and a gap that is measured from the certified end
QUICK = ["koskela-fig7", "balle-fig2", "balle-fig3i", "biswas-table1", "biswas-table3", "feldman-fig4"]


@pytest.mark.parametrize("name, page", [("errata", errata.page), ("choosing-a-bound", choosing.page), ("gallery", lambda: gallery.page(FIGURES))])
def test_a_computed_page_is_up_to_date(name: str, page: Callable[[], str]) -> None:
    assert (DOCS / f"{name}.md").read_text(encoding="utf-8") == page(), "run make docs"


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_every_figure_lies_beside_the_gallery_with_its_numbers(experiment: Experiment) -> None:
    name = experiment.name
    about, lines = read_table((FIGURES / f"{name}.csv").read_text(encoding="utf-8"))
    assert about == facts(experiment), "run make docs"
    assert {"upper", "lower"} <= {line.kind for line in lines} or name in WITHOUT_ENDS, "every figure shows both certified ends"
    assert (FIGURES / f"{name}.png").stat().st_size > 10_000
    assert json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))["verdict"] == experiment.verdict(lines)


@pytest.mark.parametrize("name", QUICK)
def test_the_numbers_behind_a_figure_are_computed_and_not_kept(name: str) -> None:
    (experiment,) = (each for each in EXPERIMENTS if each.name == name)
    _, stored = read_table((FIGURES / f"{name}.csv").read_text(encoding="utf-8"))
    for kept, now in zip(stored, arranged(experiment.compute()), strict=True):
        assert (kept.label, kept.kind, kept.panel) == (now.label, now.kind, now.panel)
        np.testing.assert_allclose(kept.y, now.y, rtol=1e-6, atol=1e-300)
