"""No published bound is on the wrong side of an exact answer, unless it is labelled invalid; and
every invalid one is caught.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import pytest

from shuffledp.judge import krr, worst_delta
from shuffledp.literature.bound import require
from shuffledp.literature.bounds import Published, Setting
from tests.literature.cases import Case, binary, quick
from tests.literature.grid import MEASURED, PROBES, QUICK, Effort, Tally, bounds, compare, refute, sample
from tests.literature.report import Row

BOUNDS = bounds()
FEWEST, FEW = 4, 24  # comparisons that could fail: of every bound, and of those that take less than a second


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    return tuple(quick())


@pytest.mark.parametrize("bound", BOUNDS, ids=[bound.name for bound in BOUNDS])
def test_a_bound_is_on_its_side_of_every_exact_answer(
    bound: Published, record_property: Callable[[str, object], None]
) -> None:
    tally = sum((compare(bound, case, QUICK) for case in cases()), Tally())
    tally += refute(bound)
    wanted = FEW if bound.name in MEASURED else FEWEST
    if tally.comparisons < wanted:
        tally += sample(bound, cases(), wanted)
    record_property("literature", list(Row.of(bound, tally)))
    assert tally.comparisons >= FEWEST, "hardly a case of the grid satisfies its conditions and can refute it"
    if bound.status == "invalid":
        assert tally.violations, f"labelled invalid, but nothing refutes it; nearest: {tally.where}"
    else:
        assert not tally.violations, (
            f"{tally.violations} violations; this {bound.status} bound is wrong, or the exact answer is. Worst: "
            f"{tally.where}"
        )


def test_names_tell_bounds_apart() -> None:
    assert len({bound.name for bound in BOUNDS}) == len(BOUNDS)


def described(
    side: Literal["upper", "lower"],
    delta_at: Callable[[Setting, float], float] | None = None,
    epsilon_at: Callable[[Setting, float], float] | None = None,
) -> Published:
    return Published(
        name="made up",
        paper="nobody",
        where="nowhere",
        covers="2-RR",
        status="unproven",
        side=side,
        delta_at=delta_at,
        epsilon_at=epsilon_at,
    )


@pytest.mark.parametrize(
    ("side", "share"),
    [("upper", 0.999), ("lower", 1.001), ("upper", math.nan), ("lower", math.nan), ("upper", -1.0), ("lower", -1.0)],
)
def test_the_grid_notices_a_bound_that_is_slightly_wrong_or_no_number(
    side: Literal["upper", "lower"], share: float
) -> None:
    case = binary(6, 1.0)
    tally = compare(
        described(side, lambda _, epsilon: share * float(worst_delta(krr(2, 1.0), 6, epsilon)[0])), case, QUICK
    )
    assert tally.comparisons
    assert tally.violations >= tally.comparisons // 2


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_the_grid_accepts_the_truth_itself(side: Literal["upper", "lower"]) -> None:
    tally = compare(
        described(side, lambda _, epsilon: float(worst_delta(krr(2, 1.0), 6, epsilon)[0])), binary(6, 1.0), QUICK
    )
    assert tally.comparisons
    assert not tally.violations


@pytest.mark.parametrize(("side", "stated"), [("upper", 1.0), ("upper", 7.0), ("lower", 0.0)])
def test_claims_that_are_true_of_every_mechanism_are_no_comparisons(
    side: Literal["upper", "lower"], stated: float
) -> None:
    tally = compare(described(side, lambda *_: stated), binary(6, 1.0), QUICK)
    assert (tally.comparisons, tally.violations, tally.where) == (0, 0, "")
    assert tally.trivial >= PROBES


@pytest.mark.parametrize(("epsilon", "informative"), [(0.999, True), (1.0, False), (5.0, False), (math.inf, False)])
def test_an_epsilon_is_compared_only_if_losses_exceed_it(epsilon: float, informative: bool) -> None:
    tally = compare(described("upper", epsilon_at=lambda *_: epsilon), binary(6, 1.0), QUICK)
    assert (tally.comparisons > 0, tally.trivial > 0) == (informative, not informative)


@pytest.mark.parametrize(("side", "epsilon"), [("upper", 0.0), ("lower", 0.9)])
def test_the_grid_notices_an_epsilon_that_is_wrong(side: Literal["upper", "lower"], epsilon: float) -> None:
    tally = compare(described(side, epsilon_at=lambda *_: epsilon), binary(6, 1.0), QUICK)
    assert tally.violations


def test_points_go_where_a_comparison_can_fail() -> None:
    def delta_at(_: Setting, epsilon: float) -> float:
        return 0.999 if 0.2 < epsilon < 0.3 else 1.0

    for points in (PROBES, 5 * PROBES):
        tally = compare(described("upper", delta_at), binary(6, 1.0), Effort(points=points, seconds=1.0))
        assert tally.comparisons + tally.trivial == 2 * points  # asked of 2-RR, and of any randomizer
    assert tally.comparisons > 3 * PROBES


def test_refusals_are_counted_apart() -> None:
    def delta_at(_: Setting, epsilon: float) -> float:
        require(epsilon < 0.5, "epsilon must be below 1/2", epsilon)
        return 0.999

    tally = compare(described("upper", delta_at), binary(6, 1.0), QUICK)
    assert tally.comparisons > 0
    assert tally.refused > 0
    assert tally.comparisons + tally.refused == 2 * QUICK.points  # asked of 2-RR, and of any randomizer
