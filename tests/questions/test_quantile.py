"""Distribution functions: unbiased, with exact errors and honest intervals, in every shape."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.domain import Bins
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.estimate import Interval
from shuffledp.mechanisms.levels import Levels
from shuffledp.questions.quantile.cuts import cut_points
from shuffledp.questions.quantile.quantile_rows import quantile_rows
from shuffledp.randomizers import KRR, OUE
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.workload import below
from tests.mechanisms.simulation import ends

BINS = tuple(float(each) for each in range(17))


@pytest.mark.parametrize("sizes", [(3, 4), (3, 4, 5)])
def test_the_covariance_of_least_squares_is_exact(sizes: tuple[int, ...]) -> None:
    """Every view of three people, each with its probability: mean, variance and third moment."""
    law = OneLevel.of_sizes(sizes=sizes, epsilon0=1.5).realised
    groups = np.tril(np.ones((law.k, law.k)))[:-1]
    squares = Levels(law).sums(below(tuple(range(1, law.k))))
    for people in [(0, 0, 0), (0, 1, law.k - 1), (2, 2, 3)]:
        views = np.array(list(itertools.product(range(law.tally_size), repeat=3)))
        chance = law.rows[np.array(people), views].prod(axis=1)
        values = squares.weights.T[views].sum(axis=1)
        held = np.bincount(people, minlength=law.k)
        mean = chance @ values
        assert mean == pytest.approx(groups @ held, abs=1e-9)
        assert chance @ (values - mean) ** 2 == pytest.approx(squares.variances @ held, rel=1e-9)
        assert chance @ (values - mean) ** 3 == pytest.approx(squares.thirds @ held, rel=1e-8, abs=1e-8)


def test_least_squares_is_the_best_for_people_spread_evenly() -> None:
    """Against the generalized inverse of the whole covariance matrix, and against one level."""
    law = OneLevel.of_sizes(sizes=(4, 16), epsilon0=3.0).realised
    laws, held = law.rows.T, np.full(16, 10.0)
    covariance = np.diag(laws @ held) - laws @ np.diag(held) @ laws.T
    inverse = np.linalg.pinv(covariance + laws @ laws.T)
    best = np.linalg.inv(laws.T @ inverse @ laws)
    whole = np.tril(np.ones((16, 16)))[:-1]
    errors = np.diag(whole @ (best - np.eye(16)) @ whole.T)
    assert Levels(law).predicted(below(tuple(range(15))), held) ** 2 == pytest.approx(errors, rel=1e-6)
    alone = [law.group_law(size, 160).variance(10.0 * size, 160) for size in range(1, 16)]
    assert np.all(errors < np.array(alone))


@pytest.mark.parametrize("crowded", [[0], [32], [0, 63]])
def test_people_who_crowd_in_few_bins_are_not_taken_for_spread_ones(crowded: list[int]) -> None:
    """The variance is estimated without bias, so that each limit is missed as often as it says; with
    bins cut off at 0 it came out half as large, and one interval in six missed.
    """
    law, runs, n = OneLevel.of_sizes(sizes=(4, 16, 64), epsilon0=3.0).realised, 400, 300
    squares, rng = Levels(law).sums(below(tuple(range(1, 64)))), np.random.default_rng(5)
    held = np.zeros(64)
    held[crowded] = n / len(crowded)
    truth, errors, missed = squares.groups @ held, np.zeros(63), np.zeros(63)
    for _ in range(runs):
        tally = np.sum([rng.multinomial(n // len(crowded), law.rows[place]) for place in crowded], axis=0)
        rows = squares.rows(n, tally)
        low, high = ends(rows, 0.025)
        missed += (low > truth) | (high < truth)
        errors += rows.stderr**2
    assert np.all(errors / runs > 0.9 * squares.variances @ held)
    assert missed.max() / runs < 0.05 + 4.0 * (0.05 * 0.95 / runs) ** 0.5


def test_limits_of_all_counts_hold_at_once_where_few_people_are_in_a_bin() -> None:
    """The variance is too small just where an estimate is far off, so that limits with it, as if it
    were known, fail in one run of ten.
    """
    law, runs, n = OneLevel.of_sizes(sizes=(64, 256), epsilon0=2.0).realised, 250, 300
    squares, rng, missed = Levels(law).sums(below(tuple(range(1, 256)))), np.random.default_rng(3), 0
    truth = squares.groups @ np.bincount([1, 254], minlength=256) * n / 2
    for _ in range(runs):
        tally = np.sum([rng.multinomial(n // 2, law.rows[place]) for place in (1, 254)], axis=0)
        rows = squares.rows(n, tally)
        low, high = ends(rows, 0.025 / 255)
        missed += bool(np.any((low > truth) | (high < truth)))
        assert np.all(np.sqrt(rows.base) >= rows.stderr)  # type: ignore[attr-defined]
    assert missed / runs < 0.05


def test_few_votes_are_counted_by_their_exact_law() -> None:
    """Nearly no noise, and everybody at one end: a normal law would miss too often there."""
    ages = Poll("quantile", cuts=BINS, n=500, epsilon0=9.0, levels=())
    rng = np.random.default_rng(3)
    for people, under in ((np.full(500, 0.5), 500), (np.full(500, 15.5), 0)):
        missed = 0
        for _ in range(20):
            low, high = ages.analyse_counts(ages.randomizer.tally(ages.encode(people, rng=rng).rows)).interval()
            missed += np.count_nonzero((low > under) | (under > high))
        assert missed / (20 * 15) < 0.05


def test_quantiles_follow_from_the_limits() -> None:
    cuts, values = (0.0, 1.0, 2.0, 3.0, 4.0), np.array([10.0, 40.0, 80.0])
    limits = Interval(values - 15.0, values + 15.0)
    low, median, high = quantile_rows([0.05, 0.5, 0.97], cuts, values, limits, 100)
    assert (low.lower, low.value, low.upper, low.first) == (0.0, 0.5, 2.0, True)
    assert (median.lower, median.value, median.upper) == (1.0, 2.25, 3.0)
    assert not median.first
    assert not median.last
    assert (high.lower, high.upper, high.last) == (3.0, 4.0, True)
    crossed = np.array([30.0, 20.0, 80.0])
    (quarter,) = quantile_rows([0.25], cuts, crossed, Interval(crossed - 1.0, crossed + 1.0), 100)
    assert quarter.lower == 0.0
    assert quarter.value == 1.0
    assert quarter.upper == 3.0


def levels_of(poll: Poll) -> tuple[int, ...]:
    return tuple(level.k for level in getattr(poll.randomizer, "levels", ()))


def test_the_shape_is_chosen_by_the_error_to_expect() -> None:
    """All bins at once, unless bins are many for so few people."""
    shapes = {
        (n, bins): Poll("quantile", cuts=cut_points(0, bins, bins=bins), n=n, epsilon=1.0, delta=1e-6)
        for n, bins in ((10_000, 64), (100_000, 64), (10_000, 256))
    }
    assert levels_of(shapes[10_000, 64]) == ()
    assert levels_of(shapes[100_000, 64]) == ()
    tree = shapes[10_000, 256]
    assert levels_of(tree) == (16, 64, 256)
    flat = Poll("quantile", cuts=cut_points(0, 256, bins=256), n=10_000, epsilon=1.0, delta=1e-6, levels=())
    assert tree.predicted_stderr() < 0.75 * flat.predicted_stderr()
    assert tree.worst_stderr() > 2.0 * flat.worst_stderr()
    assert tree.guarantee.epsilon(delta=1e-6).upper <= 1.0


@pytest.mark.parametrize("levels", [(), (4, 16)])
def test_a_design_says_it_all(levels: tuple[int, ...]) -> None:
    ages = Poll("quantile", cuts=BINS, ranges=[(2, 8)], n=1000, epsilon=1.0, delta=1e-6, levels=levels)
    design = Design.of(ages)
    assert (design.question.type, design.resolved.ranges) == ("quantile", ((2.0, 8.0),))
    assert levels_of(design.poll) == levels


def test_cut_points() -> None:
    assert len(cut_points(0, 120)) == 121
    assert len(cut_points(0.0, 1.0)) == 65
    assert cut_points(1, 1000, bins=3, spacing="log") == (1.0, 10.0, 100.0, 1000.0)
    assert Bins(cuts=BINS).places([0.0, 1.0, 15.99, 16.0], None).tolist() == [0, 1, 15, 15]
    for wrong, why in [
        ({"lower": 0.0, "upper": 10.0, "spacing": "log"}, "lower must be positive"),
        ({"lower": 0.0, "upper": 10.0, "spacing": "cubic"}, "spacing must be one of linear, log"),
        ({"lower": 0.0, "upper": 10.0, "bins": 1}, "bins must be"),
        ({"lower": 0.0, "upper": 10.0, "bins": 2000}, "at most 1,024"),
        ({"lower": 1.0, "upper": 1.0 + 1e-12, "bins": 100}, "wide enough"),
    ]:
        with pytest.raises(InvalidInput, match=why):
            cut_points(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"cuts": [0.0, 2.0, 1.0]}, "cut points must increase, got 2 before 1"),
        ({"cuts": [0.0, 1.0]}, "from 2 to 1,024 bins"),
        ({"cuts": range(2000)}, "from 2 to 1,024 bins, got 1,999"),
        ({"cuts": ["a", "b", "c"]}, "cuts must be numbers"),
        ({"cuts": [0.0, 1.0, float("inf")]}, "each of cuts must be finite"),
        ({"at": [0.0]}, "between 0 and 1"),
        ({"at": [1.5]}, "between 0 and 1"),
        ({"at": [0.5, 0.5]}, "distinct"),
        ({"ranges": [(3.0, 9.5)]}, "The nearest one is 9"),
        ({"ranges": [(9.0, 3.0)]}, "Give the lower end first"),
        ({"ranges": [(0.0, 16.0)]}, "and not all"),
        ({"ranges": [(1.0,)]}, "two cut points"),
        ({"levels": (4, 8)}, "must be all 16 bins"),
        ({"randomizer": KRR(k=5, epsilon0=1.0), "epsilon0": None}, "k = 16"),
        ({"randomizer": OUE(k=16, epsilon0=1.0), "epsilon0": None}, "count groups of values, got oue"),
    ],
)
def test_what_cannot_be_asked_is_refused(given: dict[str, object], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        Poll("quantile", **{"cuts": BINS, "n": 100, "epsilon0": 1.0} | given)  # type: ignore[arg-type]


def test_numbers_outside_are_refused() -> None:
    ages = Poll("quantile", cuts=BINS, n=100, epsilon0=1.0)
    for wrong in ([-0.1], [16.1], [float("nan")], []):
        with pytest.raises(InvalidInput):
            ages.encode(wrong)


@pytest.mark.parametrize("levels", [(), (4, 8)])
def test_malicious_people_move_quantiles_as_far_as_is_said_and_no_farther(levels: tuple[int, ...]) -> None:
    """Some people's reports are replaced by every other one. What had been estimated without that
    is within what is said; half as many people would not explain it.
    """
    ages = Poll("quantile", cuts=range(9), at=[0.25, 0.5, 0.9], n=400, levels=levels, epsilon0=2.0)
    law, rng, some = ages.randomizer, np.random.default_rng(5), 12
    reports = law.randomize(rng.integers(0, 8, 400), rng=rng)
    honest = [row.value for row in ages.question.quantiles(ages.analyse_counts(law.tally(reports)))]
    reached = 0
    for sent in range(law.form.outputs or 0):
        cheated = reports.copy()
        cheated[:some] = sent
        estimate = ages.analyse_counts(law.tally(cheated))
        said, less = (
            ages.question.moved_quantiles(estimate, people * ages.influence(estimate)) for people in (some, some // 2)
        )
        assert all(low <= value <= high for value, (low, high) in zip(honest, said, strict=True))
        reached += sum(not low <= value <= high for value, (low, high) in zip(honest, less, strict=True))
    assert reached > 0
