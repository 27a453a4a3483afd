"""The figures of Feldman et al. 2020: order of the curves, monotonicity, and what the verdicts rest
on.
"""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from shuffledp.papers import feldman
from shuffledp.papers.experiment import Experiment, Line, find

pytestmark = pytest.mark.long

BY_NAME = {experiment.name: experiment for experiment in feldman.EXPERIMENTS}


@pytest.fixture(scope="module", autouse=True)
def fewer_points() -> Iterator[None]:
    """Than are drawn: half of the values of epsilon0, and a quarter of the orders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feldman, "LOCALS_2", feldman.LOCALS_2[::2])
        patch.setattr(feldman, "ORDERS_3", np.array([2.0, 4.0, 8.0, 32.0, 128.0, 1024.0]))
        yield


@cache
def computed(name: str) -> tuple[Line, ...]:
    return tuple(BY_NAME[name].compute())


def curves(name: str, panel: str = "") -> dict[str, np.ndarray]:
    return {line.label: line.y for line in computed(name) if line.panel == panel and line.kind != "outside"}


def at_most(small: np.ndarray, large: np.ndarray) -> bool:
    """Wherever both exist, to rounding."""
    known = np.isfinite(small) & np.isfinite(large)
    return bool(known.any() and (small[known] <= large[known] * (1.0 + 1e-9)).all())


@pytest.mark.parametrize("experiment", feldman.EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_every_figure_has_its_lines_and_a_verdict_without_nan(experiment: Experiment) -> None:
    lines = computed(experiment.name)
    assert len(lines) == experiment.count
    assert len({(line.label, line.kind, line.panel) for line in lines}) == experiment.count
    assert experiment.parameters.startswith("parameters: ours")
    assert all(line.x.shape == line.y.shape and not (line.y < 0.0).any() for line in lines)
    verdict = experiment.verdict(lines)
    assert "nan" not in verdict
    assert "inf" not in verdict


@pytest.mark.parametrize("n", feldman.USERS_2)
def test_figure_2_is_ordered_as_the_theorems_demand(n: int) -> None:
    found = curves("feldman-fig2", f"n = {n:,}")
    for small, large in (
        (feldman.LEAST, feldman.OURS),
        (feldman.OURS, feldman.CLONES),
        (feldman.CLONES, feldman.ALGORITHM),
        (feldman.CLONES, feldman.CLOSED),
    ):
        assert at_most(found[small], found[large])
    for older in (feldman.BBGN, feldman.BKMTT):
        assert at_most(found[feldman.CLONES], found[older])
    assert at_most(found[feldman.LOWER], found[feldman.LEAST])
    assert (np.diff(found[feldman.OURS]) > 0.0).all()
    beyond = find(computed("feldman-fig2"), feldman.CLOSED, "outside", f"n = {n:,}").y
    both = np.isfinite(beyond) & np.isfinite(found[feldman.CLOSED])
    assert both.sum() == np.isfinite(beyond).any()  # the curve goes on from its last point inside
    assert (beyond[both] == found[feldman.CLOSED][both]).all()


def test_reconstructed_bounds_are_drawn_as_unproven() -> None:
    drawn = {line.label for name in BY_NAME for line in computed(name) if line.kind == "unproven"}
    assert drawn == {feldman.BKMTT, feldman.GDDSK}
    assert all(label.endswith(", reconstructed") for label in drawn)


def test_figure_3_is_ordered_and_grows_with_the_order_and_the_rounds() -> None:
    by_order, by_rounds = curves("feldman-fig3a"), curves("feldman-fig3b")
    for found, clones in ((by_order, feldman.CLONES), (by_rounds, feldman.BY_RDP)):
        assert at_most(found[feldman.LEAST], found[feldman.OURS])
        assert at_most(found[feldman.OURS], found[clones])
        assert at_most(found[clones], found[feldman.GDDSK])
        assert all((np.diff(found[label]) > 0.0).all() for label in (feldman.OURS, clones))
    assert at_most(by_order[feldman.LOWER], by_order[feldman.OURS])
    assert by_order[feldman.CLONES].max() <= feldman.LOCAL_3
    assert by_rounds[feldman.BY_RDP][-1] < by_rounds[feldman.BY_DP][-1]


@pytest.mark.parametrize("n", feldman.USERS_4)
def test_figure_4_puts_2rr_below_every_general_bound(n: int) -> None:
    found = curves("feldman-fig4", f"n = {n:,}")
    assert at_most(found["2RR"], found[feldman.OURS])
    assert at_most(found[feldman.LEAST], found[feldman.OURS])
    assert at_most(found[feldman.OURS], found[feldman.CLONES])
    assert all((np.diff(found[label]) < 0.0).all() for label in ("2RR", feldman.CLONES, feldman.OURS))
    assert found[feldman.NO_CLONES][0] == pytest.approx((1.0 - math.exp(-feldman.LOCAL_4)) ** (n - 1))
