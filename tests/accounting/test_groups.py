"""Groups of users with different epsilon0: against enumeration, against equal groups, and far out."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp import KRR, OUE, InvalidInput, shuffle
from shuffledp.accounting import shuffle_groups
from shuffledp.accounting.haystack import Haystack, MixedBlanket, MixedDataset, Needle, powers
from shuffledp.accounting.haystack.mixed import reciprocal
from shuffledp.judge import hockey_stick, krr
from shuffledp.randomizers.messages import UserFakes
from tests.contracts.enclosure import COARSE

Histogram = dict[tuple[int, ...], float]


def law(rows: list[np.ndarray]) -> Histogram:
    """The histogram's law of independent reports, one for each row."""
    counts: Histogram = {(0,) * len(rows[0]): 1.0}
    for row in rows:
        more: Histogram = {}
        for histogram, chance in counts.items():
            for y, probability in enumerate(row):
                after = (*histogram[:y], histogram[y] + 1, *histogram[y + 1 :])
                more[after] = more.get(after, 0.0) + chance * float(probability)
        counts = more
    return counts


def worst(k: int, target: float, others: list[float], epsilon: float) -> float:
    """The largest delta over all values of the others; the target's pair may be (0, 1)."""
    deltas = []
    for held in itertools.product(range(k), repeat=len(others)):
        rest = [krr(k, epsilon0)[x] for epsilon0, x in zip(others, held, strict=True)]
        one, two = (law([krr(k, target)[x], *rest]) for x in (0, 1))
        deltas += [hockey_stick(one, two, epsilon), hockey_stick(two, one, epsilon)]
    return max(deltas)


CASES = [(3, (0.5, 2.0, 2.0)), (3, (1.0, 1.0, 3.0, 3.0)), (2, (0.3, 1.0, 4.0, 4.0)), (4, (1.0, 2.0, 6.0)), (3, (2.0,))]


@pytest.mark.parametrize(("k", "users"), CASES)
def test_every_dataset_lies_between_the_ends(k: int, users: tuple[float, ...]) -> None:
    groups = [(KRR(k=k, epsilon0=epsilon0), users.count(epsilon0)) for epsilon0 in dict.fromkeys(users)]
    survey = shuffle_groups(groups)
    for group, (randomizer, _) in enumerate(groups):
        others = list(users)
        others.remove(randomizer.epsilon0)
        for share in (0.1, 0.7):
            epsilon = share * randomizer.epsilon0
            exact = worst(k, randomizer.epsilon0, others, epsilon)
            own = survey.of(group)
            lower, upper = (float(own.deltas([epsilon], end=end, gap=COARSE)[0]) for end in ("lower", "upper"))
            assert lower <= exact * (1.0 + 1e-12)
            assert exact <= upper * (1.0 + 1e-12)
            assert upper <= 1.3 * exact
            assert exact <= float(survey.deltas([epsilon], end="upper", gap=COARSE)[0]) * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("k", "epsilon0", "n", "epsilon"),
    [(16, 4.0, 10_000, 0.36), (3, 1.0, 6, 0.5), (100, 1.0, 900, 0.02), (16, 4.0, 10**9, 6e-4)],
)
def test_equal_groups_are_the_haystack(k: int, epsilon0: float, n: int, epsilon: float) -> None:
    randomizer = KRR(k=k, epsilon0=epsilon0)
    blanket = MixedBlanket(Needle(k, epsilon0, ((epsilon0, n - 1),)))
    at = np.array([epsilon])
    (lower,), (upper,) = blanket.bounds(at)
    (low,), (high,) = Haystack.of(randomizer.blankets("upper")[0], n).bounds(at)
    assert low <= upper
    assert lower <= high
    assert upper - lower < 1e-5 * upper
    for holder, atoms in enumerate(randomizer.datasets()):
        (gain,), _ = MixedDataset(blanket, holder).bounds(at)
        (low,), (high,) = Haystack.of(atoms, n).bounds(at)
        assert 0.999 * low <= gain <= high


def test_of_equal_parameters_shuffle_knows_more() -> None:
    voters = KRR(k=2, epsilon0=1.0)
    groups, together = shuffle_groups([(voters, 400), (voters, 600)]), shuffle(voters, n=1000)
    assert tuple(groups.delta(epsilon=0.1)) == tuple(together.delta(epsilon=0.1))


def test_rounds_add_up() -> None:
    survey = shuffle_groups([(KRR(k=4, epsilon0=0.5), 300), (KRR(k=4, epsilon0=1.0), 200)]).of(1)
    one, two = survey.epsilon(delta=1e-5), survey.compose(2).epsilon(delta=1e-5)
    assert one.upper < two.lower <= two.upper < 2.0 * one.upper
    assert two.upper < 1.02 * two.lower


@pytest.mark.parametrize(
    ("groups", "epsilon"),
    [
        (((50.0, 1), (1.0, 1)), 3.0),
        (((50.0, 10**12), (1e-6, 10**12)), 1e-4),
        (((0.5, 10**12), (1.0, 1)), 1e-6),
        (((8.0, 10), (2.0, 10**6)), 0.01),
    ],
)
def test_far_out_the_ends_stay_in_order(groups: tuple[tuple[float, int], ...], epsilon: float) -> None:
    survey = shuffle_groups([(KRR(k=16, epsilon0=epsilon0), number) for epsilon0, number in groups])
    for group, (epsilon0, _) in enumerate(groups):
        at = min(epsilon, 0.5 * epsilon0)
        bound = survey.delta(epsilon=at, group=group)
        assert 0.0 <= bound.lower <= bound.upper <= shuffle(KRR(k=16, epsilon0=epsilon0), n=1).delta(epsilon=at).upper


@given(items=st.floats(0.0, 1e12), unlikely=st.floats(25.0, 300.0))
@settings(max_examples=60, deadline=None)
def test_the_rules_for_one_over_m_err_to_their_sides(items: float, unlikely: float) -> None:
    t, low, high, least = reciprocal(items, 2.0 * items + 5.0, unlikely)
    for m in {1.0, 2.0, 7.0, least, math.ceil(items + 1.0), math.ceil(1.3 * items + 1.0), math.ceil(2.0 * items + 5.0)}:
        powers = np.exp(-t * (m - 1.0))
        assert low @ powers <= 1.0 / m
        if m >= least:
            assert high @ powers >= 1.0 / m
    m = items + 1.0
    assert 0.99 / m < low @ np.exp(-t * items)
    assert high @ np.exp(-t * items) < 1.01 / m


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([], "must be 1 to 64"),
        (7, "must be pairs"),
        ([(OUE(k=4, epsilon0=1.0), 5)], "must use k-ary randomized response"),
        ([(KRR(k=4, epsilon0=1.0), 5), (KRR(k=5, epsilon0=1.0), 5)], "must have the same k"),
        ([(KRR(k=4, epsilon0=1.0), 0)], "people of a group"),
        ([(KRR(k=4, epsilon0=1.0), 10**15), (KRR(k=4, epsilon0=2.0), 1)], "at most"),
    ],
)
def test_what_has_no_theorem_is_refused(groups: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        shuffle_groups(groups)  # type: ignore[arg-type]


def test_a_group_that_is_not_there_is_refused() -> None:
    survey = shuffle_groups([(KRR(k=4, epsilon0=1.0), 5)])
    with pytest.raises(InvalidInput, match="group must be at most 0"):
        survey.epsilon(delta=1e-6, group=1)


def test_reports_that_hide_nothing_are_no_trouble() -> None:
    """The chance to lie, 2e-22, is lost beside 1."""
    survey = shuffle_groups([(KRR(k=2, epsilon0=1e-9), 1), (KRR(k=2, epsilon0=50.0), 1)])
    assert 0.0 < survey.delta_at_least(epsilon=1.0) < 1.0


def test_where_no_line_is_sharp_enough_an_upper_end_is_chernoffs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was that of one report by itself: at 1e-3 larger than at 1e-9."""
    fakes = shuffle(UserFakes(k=100, slots=3, chance=1.0, epsilon0=0.0025), n=10**6)
    assert fakes.delta_at_most(epsilon=1e-3) <= fakes.delta_at_least(epsilon=1e-9)
    needles = [Needle(3, 1.0, ((1.0, 50), (2.0, 50))), Needle(2, 0.5, ((0.5, 300),)), Needle(4, 2.0, ((2.0, 5),))]
    usual = [MixedBlanket(each).bounds(np.array([0.0, 0.2, 0.45])) for each in needles]
    monkeypatch.setattr(powers, "BLUNT", 0.0)
    for each, (lower, upper) in zip(needles, usual, strict=True):
        blunt = MixedBlanket(each).bounds(np.array([0.0, 0.2, 0.45]))
        assert np.all(blunt[0] == 0.0)
        assert np.all(lower <= blunt[1])
        assert np.all(blunt[1] <= 100.0 * upper)
