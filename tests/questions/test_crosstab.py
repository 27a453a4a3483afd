"""Crosstabs: cells, margins that are their sums, errors that are exact, and shares within groups."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp import KRR, OUE, InvalidInput, Poll
from shuffledp._types import Floats
from shuffledp.audits.subject import Surveyed, subject_of
from shuffledp.design import Design
from shuffledp.mechanisms.shares import ShareTest
from shuffledp.questions.crosstab.question import CrosstabQuestion
from tests.mechanisms.simulation import counts_of, rows_of

REGIONS, SMOKER = ["north", "south", "west"], ["yes", "no"]
TWO = {"columns": ["region", "smoker"], "categories": [REGIONS, SMOKER]}


def crosstab(n: int, epsilon0: float, **other: object) -> Poll:
    return Poll("crosstab", **{**TWO, **other}, n=n, epsilon0=epsilon0)  # type: ignore[arg-type]


def laws(poll: Poll) -> list[list[Fraction]]:
    """The law of one report by the cell that its sender is in."""
    k = poll.question.size
    miss = Fraction(poll.randomizer.miss)
    return [[miss if y != x else 1 - (k - 1) * miss for y in range(k)] for x in range(k)]


@pytest.mark.parametrize(("categories", "held"), [([2, 2], (0, 1, 3)), ([2, 3], (0, 0, 4)), ([2, 2, 2], (7, 2))])
def test_margins_and_their_variances_are_exact_by_enumeration(categories: list[int], held: tuple[int, ...]) -> None:
    names = ["a", "b", "c"][: len(categories)]
    poll = Poll("crosstab", columns=names, categories=categories, n=len(held), epsilon0=1.0)
    rows, k = laws(poll), poll.question.size
    truth = poll.question.workload(0).apply(np.bincount(held, minlength=k))
    mean, square = np.zeros(len(truth)), np.zeros(len(truth))
    for reports in product(range(k), repeat=len(held)):
        chance = float(math.prod(rows[value][report] for value, report in zip(held, reports, strict=True)))
        values = poll.analyse_counts(np.bincount(reports, minlength=k)).values
        mean, square = mean + chance * values, square + chance * (values - truth) ** 2
    np.testing.assert_allclose(mean, truth, atol=1e-9)
    predicted = poll.mechanism.predicted(poll.question.workload(0), np.bincount(held, minlength=k))
    np.testing.assert_allclose(np.sqrt(square), predicted, rtol=1e-9)


def test_margins_are_the_sums_of_the_cells_and_better_than_as_many_independent_estimates() -> None:
    poll = crosstab(5000, 3.0, columns=["a", "b", "c"], categories=[3, 2, 4])
    votes = np.random.default_rng(1).multinomial(5000, np.full(24, 1 / 24))
    found = poll.analyse_counts(votes)
    np.testing.assert_allclose(found.values, poll.question.workload(0).apply(found.values[:24]), atol=1e-8)
    assert found.labels[24:27] == ("0 × 0 × (all)", "0 × 1 × (all)", "1 × 0 × (all)")
    assert len(found.labels) == 4 * 3 * 5 - 1
    assert found.values[found.labels.index("0 × (all) × (all)")] == pytest.approx(found.values[:8].sum())
    whole = found.stderr[found.labels.index("0 × (all) × (all)")]
    assert whole < 0.95 * math.sqrt((found.stderr[:8] ** 2).sum())


def holds(share: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((low <= share + 1e-12) & (share <= high + 1e-12))


@pytest.mark.parametrize(("epsilon0", "held"), [(4.0, [900, 100, 400, 0, 300, 300]), (7.5, [150, 80, 40, 5, 5, 0])])
def test_shares_within_groups_cover_and_small_groups_say_nothing(epsilon0: float, held: list[int]) -> None:
    poll, truth, runs = crosstab(sum(held), epsilon0), np.array(held), 200
    groups = truth.reshape(3, 2).sum(axis=1).repeat(2)
    inside, together, shown = [], [], []
    for votes in counts_of(poll.randomizer, truth, np.random.default_rng(4), runs):  # type: ignore[arg-type]
        found, share = poll.derive(votes, by="region")["shares"](), truth / groups
        assert np.all((found.lower <= found.values) & (found.values <= found.upper))
        inside.append(~found.known | holds(share, found.lower, found.upper))
        together.append(np.all(~found.known | holds(share, found.all_lower, found.all_upper)))
        shown.append(found.known)
    assert np.all(np.mean(inside, axis=0) > 0.95 - 6.0 * math.sqrt(0.95 * 0.05 / runs))
    assert np.mean(together) > 0.95 - 6.0 * math.sqrt(0.95 * 0.05 / runs)
    assert np.all(np.mean(shown, axis=0)[:4] > 0.9)


def test_a_group_that_nobody_is_in_has_no_share() -> None:
    poll = crosstab(2000, 2.0)
    held = np.array([1200, 800, 0, 0, 0, 0])
    votes = np.rint(held @ rows_of(poll.randomizer)).astype(np.int64)  # type: ignore[arg-type]
    found = poll.derive(votes, by="region")["shares"]()
    assert found.known.tolist() == [True, True, False, False, False, False]
    assert np.all(np.isfinite(np.concatenate(found[1:])))
    assert found.values[0] == pytest.approx(0.6, abs=0.01)
    other_way = poll.derive(votes, by="smoker")["shares"]()
    assert other_way.values[0] == pytest.approx(1.0, abs=0.05)


def test_reports_of_rows_are_those_of_cells_and_unlisted_values_count_as_other() -> None:
    poll = crosstab(4, 40.0, other=["west", None])
    bag = poll.shuffle(poll.encode([("north", "no"), ("east", "yes"), ["south", "no"], ("north", "no")]))
    assert np.rint(poll.analyse(bag).values[:6]).tolist() == [0, 2, 0, 1, 1, 0]
    with pytest.raises(InvalidInput, match="values must be among the 2 categories, got 'maybe'"):
        poll.encode([("north", "maybe")])
    with pytest.raises(InvalidInput, match="rows of 2 values, one for each column, got 'north'"):
        poll.encode(["north"])  # type: ignore[list-item]


def test_a_design_is_read_again_word_for_word() -> None:
    poll = Poll("crosstab", **TWO, other=["west", None], n=1000, epsilon=1.0, delta=1e-6)  # type: ignore[arg-type]
    written = Design.of(poll).as_json()
    assert written["question"]["categories"] == [REGIONS, SMOKER]
    assert written["question"]["other"] == ["west", None]
    assert [each["labels"] for each in written["domain"]["columns"]] == [REGIONS, SMOKER]
    assert [each["other"] for each in written["domain"]["columns"]] == [2, None]
    again = Design.from_json(written)
    assert (again, again.as_json()) == (Design.of(poll), written)
    assert again.poll.randomizer == poll.randomizer
    assert again.domain.names[:2] == ("north × yes", "north × no")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"columns": ["region"], "categories": [REGIONS]}, "at least two columns, got 1. Ask about one with a histogr"),
        ({"columns": ["a", "a"]}, "columns must be distinct, got 'a' twice"),
        ({"columns": "ab"}, "columns must be a list, got str"),
        ({"columns": ["a", 7]}, "columns must be printable names, got 7"),
        ({"categories": [REGIONS, ["yes"]]}, "column 'smoker' must have at least two categories, got 1"),
        ({"categories": [REGIONS, 1]}, "column 'smoker' must have at least two categories, got 1"),
        ({"categories": [REGIONS]}, "for each of its 2 columns, got a different number"),
        ({"categories": [REGIONS, "yes,no"]}, "categories must be a list, got str"),
        ({"categories": [REGIONS, ["yes", "yes"]]}, "categories must be distinct, got 'yes' twice"),
        ({"categories": [REGIONS, ["yes", "(all)"]]}, r"must not be '\(all\)' nor hold ' × '"),
        ({"categories": [REGIONS, ["yes", "no × no"]]}, "which its numbers are named by, got 'no × no'"),
        ({"categories": [REGIONS, ["yes", None]]}, "printable strings or whole numbers"),
        ({"categories": [100, 100]}, "at most 10000 cells and sums, got those of 100 x 100 categories. Merge rare"),
        ({"other": ["east", None]}, "other must be one of the categories, got 'east'"),
        ({"other": ["west"]}, "for each of its 2 columns, got a different number"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(given: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        crosstab(1000, 1.0, **given)


def test_a_law_that_tells_nothing_of_a_sum_of_cells_is_refused_before_anyone_reports() -> None:
    with pytest.raises(InvalidInput, match="count groups of values, got oue"):
        Poll("crosstab", **TWO, n=100, randomizer=OUE(k=6, epsilon0=1.0))  # type: ignore[arg-type]


def test_a_tally_or_a_group_that_is_none_is_refused() -> None:
    poll = crosstab(10, 1.0)
    with pytest.raises(InvalidInput, match="counts must be 6 whole numbers"):
        poll.analyse_counts([1, 2, 3])
    with pytest.raises(InvalidInput, match="by must be one of the columns region, smoker, got 'age'"):
        poll.derive([1, 1, 1, 1, 1, 1], by="age")["shares"]()
    with pytest.raises(InvalidInput, match="level must"):
        poll.derive([1, 1, 1, 1, 1, 1], by="region")["shares"](level=2.0)
    assert "hadamard" not in CrosstabQuestion.mechanisms


def test_an_audit_asks_about_cells() -> None:
    poll = crosstab(50, 1.0)
    subject = subject_of(poll)
    assert isinstance(subject, Surveyed)
    assert subject._values(np.array([0, 5])).tolist() == [("north", "yes"), ("west", "no")]
    said, held = subject._decoded(poll.encode([("south", "no")] * 50, rng=np.random.default_rng(1)).rows)
    np.testing.assert_allclose(said, held, atol=1e-9)


def test_rounds_are_averaged_and_some_of_the_numbers_can_be_looked_at() -> None:
    poll = crosstab(200, 7.0, rounds=2)
    votes = np.array([90, 50, 40, 10, 8, 2])
    once = poll.analyse_counts(votes)
    twice = poll.analyse_counts(votes, votes)
    np.testing.assert_allclose(twice.values, once.values)
    assert np.all(np.diff(twice.interval(), axis=0) <= np.diff(once.interval(), axis=0) + 1e-9)
    chosen = np.array([10, 1, 6])
    some = once.at(chosen).limits(0.025)
    np.testing.assert_allclose(some, np.array(once.interval())[:, chosen])


def test_shares_of_two_rounds_are_those_of_one_and_better_known() -> None:
    poll = crosstab(2_000, 3.0, rounds=2)
    votes = np.array([700, 500, 300, 200, 200, 100])
    once, twice = (poll.derive(*rounds, by=poll.question.columns[0])["shares"]() for rounds in ([votes], [votes] * 2))
    np.testing.assert_allclose(twice.values, once.values, atol=1e-12)
    assert np.all(once.known & (once.lower < twice.lower) & (twice.upper < once.upper))


def test_typed_answers_are_a_cell_and_half_an_answer_is_refused() -> None:
    asked = {
        "columns": ("region", "smoker"),
        "categories": (tuple(f"region {at}" for at in range(13)), ("yes", "no")),
        "other": ("region 0", None),
    }
    cells = CrosstabQuestion(**asked).cells  # type: ignore[arg-type]
    assert cells.answer(("region 3", "no")) == 7
    assert cells.answer(["elsewhere", "no"]) == 1
    for wrong in ("region 3", ("region 3",), None):
        with pytest.raises(InvalidInput, match="about each of region, smoker, in this order"):
            cells.answer(wrong)
    with pytest.raises(InvalidInput, match="must be one of the 2 that the collection lists, got 'maybe'"):
        cells.answer(("region 3", "maybe"))


PEOPLE, IN_GROUP, DRAWS, Z = 200, 100, 20_000, 1.959963984540054
LAW = KRR(k=6, epsilon0=4.0)  # three groups of two cells
CELL, PAIR = LAW.group_law(1, PEOPLE), LAW.group_law(2, PEOPLE)


def estimated(held: int) -> tuple[Floats, Floats, Floats]:
    """Counts of a cell that ``held`` are in and of its group, and how often they were drawn."""
    hit, miss = LAW.hit, LAW.miss
    elsewhere, rng = 1.0 - hit - miss, np.random.default_rng(6)
    votes = (
        rng.multinomial(held, [hit, miss, elsewhere], size=DRAWS)
        + rng.multinomial(IN_GROUP - held, [miss, hit, elsewhere], size=DRAWS)
        + rng.multinomial(PEOPLE - IN_GROUP, [miss, miss, 1.0 - 2.0 * miss], size=DRAWS)
    )
    seen, times = np.unique(votes[:, :2], axis=0, return_counts=True)
    return CELL.estimate(seen[:, 0], PEOPLE), PAIR.estimate(seen.sum(axis=1), PEOPLE), times / DRAWS


@pytest.mark.parametrize("held", [50, 90, 8])
def test_a_share_is_missed_no_more_often_than_its_interval_says(held: int) -> None:
    part, whole, often = estimated(held)
    lower, upper = ShareTest(part, whole, CELL, CELL, PEOPLE).limits(np.clip(part / whole, 0.0, 1.0), 0.025)
    share = held / IN_GROUP
    assert often[(share < lower) | (share > upper)].sum() <= 0.05


def test_without_half_a_vote_and_moments_at_the_share_more_are_missed() -> None:
    """The control: Fieller's test of one share in two with variances at the estimates, as earlier
    versions had it.
    """
    part, whole, often = estimated(50)
    own, rest, both = (
        law.variance(np.clip(count, 0.0, PEOPLE), PEOPLE)
        for law, count in ((CELL, part), (CELL, whole - part), (PAIR, whole))
    )
    rejected = (part - 0.5 * whole) ** 2 > Z**2 * (0.5 * own + 0.5 * rest - 0.25 * both)
    assert often[rejected].sum() > 0.055
