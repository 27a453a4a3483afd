"""Koskela's figures on a coarse grid: their curves lie where the verdicts say."""

from functools import partial

import numpy as np
import pytest

from shuffledp.literature.fourier import Grid
from shuffledp.papers import koskela_curves
from shuffledp.papers.experiment import Line, find
from shuffledp.papers.experiments import EXPERIMENTS
from shuffledp.papers.koskela_clones import FA, FIG7, _verdict_closed, first_closed_form
from shuffledp.papers.koskela_curves import parted, reaches
from shuffledp.papers.koskela_krr import ENDS, FIG4, FIRST_STRONG, ORDERS, STRONG, THM_8


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(koskela_curves, "Grid", partial(Grid, m=400_000))


def test_there_are_ten_figures() -> None:
    names = [experiment.name for experiment in EXPERIMENTS if experiment.name.startswith("koskela")]
    assert names == [f"koskela-fig{i}" for i in range(1, 11)]


def test_figure_4_has_the_exact_strong_view_between_the_two_versions_of_the_paper() -> None:
    lines = list(FIG4.compute())
    assert len(lines) == FIG4.count
    for rounds in (1, 2, 4):
        panel = f"nc = {rounds}"
        lower, upper = (find(lines, STRONG, kind, panel) for kind in ("lower", "upper"))
        assert np.all(lower.y <= upper.y)
        printed, swapped = (find(lines, f"{FIRST_STRONG}, {order}", "invalid", panel) for order in ORDERS)
        assert np.all(printed.y < swapped.y)
        assert np.all(swapped.y < lower.y)
        assert np.all(find(lines, THM_8, "invalid", panel).y > upper.y)
    assert "nan" not in FIG4.verdict(lines)


def test_figure_7_has_the_accountant_between_the_truth_and_the_closed_form() -> None:
    lines = list(FIG7.compute())
    assert len(lines) == FIG7.count
    for rounds in (1, 2, 4):
        accountant = find(lines, f"{FA}, nc = {rounds}", "published")
        truth = find(lines, f"any randomizer, nc = {rounds}", "upper")
        known = np.isfinite(accountant.y)
        assert known.sum() > 20
        assert np.all(accountant.y[known] >= truth.y[known])
        closed = f"Feldman et al. 2020, Thm 3.1 as (C.2) and basic composition, nc = {rounds}"
        assert reaches(lines, closed, "outside", 1e-8) > reaches(lines, f"{FA}, nc = {rounds}", "published", 1e-8)
    assert "nan" not in FIG7.verdict(lines)
    assert "73% to 77% of each of its curves" in FIG7.verdict(lines)


@pytest.mark.parametrize(
    "epsilon0, said",
    [(0.5, "nc = 1: 1.21, more than the 0.5 of the reports without a shuffler;"), (4.0, "nc = 1: 1.21;")],
)
def test_a_bound_that_says_less_than_no_shuffler_is_called_out(epsilon0: float, said: str) -> None:
    label = "Feldman et al. 2020, Thm 3.1 as (C.2) and basic composition, nc = 1"
    x, y = np.array([0.1, 1.0]), np.array([1e-2, 1e-9])
    lines = [Line(label, "outside", np.array([1.20, 1.22]), np.array([1e-5, 1e-7]))]
    lines += [Line(f"{FA}, nc = 1", "published", x, y), *(Line("any randomizer, nc = 1", end, x, y) for end in ENDS)]
    assert said in _verdict_closed(epsilon0, 1e-5, (1,), "basic", lines)


def test_c2_is_feldmans_theorem_without_its_factor() -> None:
    # n = 1e5, epsilon0 = 4, delta = 1e-6: 0.54997, and 0.53463 with the factor (E-1)/(E+1)
    assert first_closed_form(10**5, 4.0, 1e-6) == (pytest.approx(0.54997, abs=5e-6), True)
    assert first_closed_form(10**4, 4.0, 1e-6)[1] is False


def test_a_curve_is_parted_where_its_condition_ends_and_has_no_gap() -> None:
    x = np.arange(5.0)
    inside, outside = parted("a", x, x, x < 3.0)
    assert (inside.kind, outside.kind) == ("published", "outside")
    assert np.array_equal(np.isfinite(inside.y), [True, True, True, False, False])
    assert np.array_equal(np.isfinite(outside.y), [False, False, True, True, True])
    assert [line.kind for line in parted("a", x, x, x < 9.0)] == ["published"]


def test_where_a_line_comes_down_is_found_between_its_points() -> None:
    line = Line("a", "upper", np.array([1.0, 2.0, 3.0]), np.array([1e-2, 1e-4, 0.0]))
    assert reaches([line], "a", "upper", 1e-3) == pytest.approx(1.5)
