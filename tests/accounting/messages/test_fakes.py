"""Fakes of users and dummies per bucket, true and lightly randomized: against all that may be seen."""

import itertools
import math
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, poisson

from shuffledp import InvalidInput, shuffle
from shuffledp.accounting.messages.fakes import BucketDummies, uniform_fakes, uniform_fakes_and_reports
from shuffledp.accounting.messages.light_laws import LightReport
from shuffledp.errors import LARGEST_EPSILON
from shuffledp.judge import hockey_stick
from shuffledp.randomizers.messages import ShufflerDummies, UserFakes
from shuffledp.randomizers.messages.message import FakedValues
from shuffledp.sampling import WORD
from shuffledp.sampling.tables import geometric_table
from tests.accounting.messages.enclosed import above_exact, below_exact, both_orders
from tests.contracts.enclosure import COARSE
from tests.oracle.views import View, dummies_view, fakes_view, rounds_of

ONE = np.array([1.0])


def product(chances: np.ndarray, keep: float, epsilon: float) -> float:
    """delta of two buckets, by all pairs of counts."""
    without = np.append(chances, 0.0)
    held = keep * np.append(0.0, chances) + (1.0 - keep) * without
    return hockey_stick(np.outer(held, without).ravel(), np.outer(without, held).ravel(), epsilon)


@pytest.mark.parametrize("keep", [1.0, 0.6])
def test_two_buckets_are_added_up(keep: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        chances, epsilon = rng.dirichlet(np.ones(int(rng.integers(1, 8)))), float(rng.uniform(0.0, 2.0))
        (lower,), (upper,) = BucketDummies("any", chances, keep).bounds(np.array([epsilon]))
        exact = product(chances, keep, epsilon)
        assert lower <= exact * (1.0 + 1e-12)
        assert exact <= upper * (1.0 + 1e-12)
        assert upper - lower < 1e-11


def exact_rounds(weights: list[int], keep: Fraction, rounds: int, x: Fraction) -> Fraction:
    """delta of two buckets over so many rounds, in fractions: by every view."""
    without = [Fraction(each, sum(weights)) for each in (*weights, 0)]
    held = [keep * one + (1 - keep) * two for one, two in zip([Fraction(0), *without], without, strict=False)]
    views = [(a * d, c * b) for (a, c), (b, d) in itertools.product(zip(held, without, strict=True), repeat=2)]
    whole = {Fraction(1): Fraction(1)}  # how likely a ratio is under the first law; those that are infinite come last
    for _ in range(rounds):
        more: dict[Fraction, Fraction] = {}
        for (ratio, likely), (one, two) in itertools.product(whole.items(), views):
            if one and two:
                more[ratio * one / two] = more.get(ratio * one / two, Fraction(0)) + likely * one
        whole = more
    finite = sum((likely * max(1 - x / ratio, Fraction(0)) for ratio, likely in whole.items()), Fraction(0))
    return finite + 1 - sum(whole.values(), Fraction(0))


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_losses_of_rounds_are_rounded_down(rounds: int) -> None:
    rng = np.random.default_rng(rounds)
    for trial in range(12):
        weights = [1, 3, 9, 3, 1][trial % 3 :] if trial % 2 else [*rng.integers(0, 9, 4).tolist(), 1]
        keep = Fraction(1) if trial % 4 else Fraction(3, 5)
        pair = BucketDummies("any", np.array(weights) / sum(weights), float(keep))
        for spacing in (math.log(3.0) / 4.0, 0.013):
            composed = pair.repeated(rounds, spacing)
            assert composed is not None
            for epsilon in (0.0, 0.3, math.log(3.0), 2.0):
                exact = float(exact_rounds(weights, keep, rounds, Fraction(math.exp(epsilon))))
                lower = float(composed.deltas(np.array([epsilon]), "lower")[0])
                assert lower <= exact * (1.0 + 1e-12)
                if trial % 2 and keep == 1 and spacing > 0.1:  # all losses lie on the grid
                    assert lower == pytest.approx(exact, rel=1e-6)


def test_the_lower_end_of_rounds_of_dummies_is_next_to_the_upper_one() -> None:
    law = ShufflerDummies(k=6, center=51, left=0.8, right=0.8)
    for rounds in (2, 3, 13):  # over two rounds it was 0: only what is seen for certain is left
        lower, upper = shuffle(law, n=3000).compose(rounds).delta(epsilon=1.0)
        assert upper * (1.0 - 1e-5) < lower <= upper
    shown = shuffle(ShufflerDummies(k=6, center=20, left=0.8, right=0.8), n=3000)
    assert shown.compose(3).epsilon_at_least(delta=1e-4) == shown.epsilon_at_least(delta=1e-4) == LARGEST_EPSILON


def tossed(trials: int, p: float) -> BucketDummies:
    """A binomial number of fakes."""
    return BucketDummies("coins", binom.pmf(np.arange(trials + 1), trials, p), doubt=1e-12)


def test_laws_are_those_of_scipy() -> None:
    counts = np.arange(60)
    for dummies, chances in (
        (replace(BucketDummies.poisson(5.0), keep=0.7), poisson.pmf(counts, 5.0)),
        (replace(tossed(40, 0.3), keep=0.7), binom.pmf(counts, 40, 0.3)),
    ):
        assert dummies.bounds(ONE)[1][0] == pytest.approx(product(chances, 0.7, 1.0), rel=1e-9)


@pytest.mark.parametrize(("rate", "delta"), [(42.7, 1e-6), (82.2, 1e-10)])
def test_the_least_rate(rate: float, delta: float) -> None:
    assert BucketDummies.poisson(rate).bounds(ONE)[1][0] < delta < BucketDummies.poisson(rate - 0.1).bounds(ONE)[0][0]


def test_a_coin_for_every_dummy_needs_148_of_them() -> None:
    assert tossed(148, 0.5).bounds(ONE)[1][0] < 1e-6 < tossed(146, 0.5).bounds(ONE)[0][0]


@pytest.mark.parametrize("others", [0, 1])
def test_randomized_reports_by_all_that_may_be_seen(others: int) -> None:
    rng = np.random.default_rng(5)
    for _ in range(15):
        k, epsilon0 = int(rng.integers(2, 4)), float(rng.uniform(0.3, 4.0))
        chances, keep = rng.dirichlet(np.ones(int(rng.integers(2, 5)))), float(rng.choice([1.0, 0.6]))
        truth, epsilon = 1.0 / (1.0 + (k - 1) * math.exp(-epsilon0)), float(rng.uniform(0.0, 0.9)) * epsilon0
        views = [dummies_view([target] + [k - 1] * others, k, chances, keep, truth) for target in (0, 1)]
        curve = BucketDummies("any", chances, keep, k=k, epsilon0=epsilon0)
        for exact in both_orders(*views, epsilon):
            above_exact([curve], exact, epsilon)
            if not others:
                below_exact([curve], exact, epsilon)


def test_two_sided_geometric_noise_is_as_good_as_a_curators() -> None:
    table = geometric_table(25, math.exp(-0.5), math.exp(-0.5))
    assert BucketDummies("geometric", table.chances).bounds(ONE)[1][0] < 1e-6
    assert math.sqrt(table.variance) == pytest.approx(2.80, abs=0.01)


def test_rare_dummies_at_the_largest_epsilon() -> None:
    lower, upper = BucketDummies("rare", np.array([1.0 - 1e-10, 1e-10])).bounds(np.array([700.0]))
    assert 0.99 < lower[0] <= upper[0] <= 1.0


def test_bad_input_is_refused() -> None:
    for rate in (-1.0, 1e14):
        with pytest.raises(InvalidInput):
            BucketDummies.poisson(rate)


def test_too_many_counts_are_refused_before_they_are_listed() -> None:
    tracemalloc.start()
    with pytest.raises(InvalidInput, match="at most 2,000,000 counts"):
        BucketDummies.poisson(1e14)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


def coins(slots: int, chance: float) -> list[float]:
    """The law of the number of a person's fakes."""
    return [math.comb(slots, j) * chance**j * (1.0 - chance) ** (slots - j) for j in range(slots + 1)]


def test_true_reports_among_fakes_by_all_that_people_may_send() -> None:
    rng = np.random.default_rng(15)
    for _ in range(30):
        k, slots, honest = int(rng.integers(2, 4)), int(rng.integers(1, 3)), int(rng.integers(1, 4))
        chance, epsilon = float(rng.uniform(0.05, 1.0)), float(rng.uniform(0.0, 2.0))
        others = rng.integers(0, k, size=int(rng.integers(0, 2)) + honest - 1).tolist()
        views = [fakes_view([target, *others], k, coins(slots, chance), honest=honest) for target in (0, 1)]
        curve = uniform_fakes(k, slots * honest, chance)
        for exact in both_orders(*views, epsilon):
            below_exact([curve], exact, epsilon)
            above_exact([curve], exact, epsilon)


def test_randomized_reports_among_fakes_by_all_that_people_may_send() -> None:
    rng = np.random.default_rng(16)
    for _ in range(12):
        k, honest = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        chance, epsilon0 = float(rng.uniform(0.05, 1.0)), float(rng.uniform(0.3, 4.0))
        truth, epsilon = 1.0 / (1.0 + (k - 1) * math.exp(-epsilon0)), float(rng.uniform(0.0, 0.9)) * epsilon0
        upper, lowers = uniform_fakes_and_reports(k, epsilon0, honest - 1, honest, chance)
        worst = 0.0
        for held in range(k):
            values = [held] * (honest - 1)
            views = [fakes_view([target, *values], k, coins(1, chance), truth) for target in (0, 1)]
            worst = max(worst, *both_orders(*views, epsilon))
        above_exact([upper], worst, epsilon)
        below_exact(lowers, worst, epsilon)


def test_more_fakes_than_reports_leave_both_ends_close() -> None:
    upper, lowers = uniform_fakes_and_reports(16, 6.0, 9_999, 10_000, 0.05)
    (low,) = np.max([lower.bounds(np.array([0.35]))[0] for lower in lowers], axis=0)
    (high,) = upper.bounds(np.array([0.35]))[1]
    assert 0.0 < low <= high < 1.001 * low
    assert high < uniform_fakes(16, 10_000, 0.05).bounds(np.array([0.35]))[0][0]


@pytest.mark.parametrize(
    ("buckets", "fakes", "chance"), [(2, 1, 1.0), (2, 3, 1.0), (16, 10**4, 0.0685), (16, 4 * 10**12, 1.7e-10)]
)
def test_counting_and_integrating_agree(
    buckets: int, fakes: int, chance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    epsilons = np.array([0.0, 0.3, 1.0, 2.0])
    counted = uniform_fakes(buckets, fakes, chance)
    monkeypatch.setattr("shuffledp.accounting.messages.fakes.FEW", -1.0)
    integrated = uniform_fakes(buckets, fakes, chance)
    assert type(counted) is not type(integrated)
    for one, two in ((counted, integrated), (integrated, counted)):
        assert np.all(one.bounds(epsilons, COARSE)[0] <= two.bounds(epsilons, COARSE)[1])


def test_uniform_fakes_by_all_counts() -> None:
    buckets, fakes, chance, epsilon = 4, 6, 0.5, 0.4
    share = chance / buckets
    laws: list[dict[tuple[int, int], float]] = [{}, {}]
    for a in range(fakes + 1):
        for b in range(fakes + 1 - a):
            ways = math.factorial(fakes) / (math.factorial(a) * math.factorial(b) * math.factorial(fakes - a - b))
            mass = ways * share ** (a + b) * (1.0 - 2.0 * share) ** (fakes - a - b)
            laws[0][a + 1, b] = laws[1][a, b + 1] = mass
    exact = hockey_stick(laws[0], laws[1], epsilon)
    below_exact([uniform_fakes(buckets, fakes, chance)], exact, epsilon)
    above_exact([uniform_fakes(buckets, fakes, chance)], exact, epsilon)


def views(law: FakedValues, people: int) -> Iterator[tuple[View, View]]:
    """The target's two views for everything that the others may hold."""
    assert law.light is not None
    truth = 1.0 - law.light_integer / WORD * (law.k - 1) / law.k
    for others in itertools.combinations_with_replacement(range(law.k), people - 1):
        if isinstance(law, UserFakes):
            yield tuple(fakes_view([x, *others], law.k, numbers(law), truth) for x in (0, 1))  # type: ignore[misc]
        else:
            assert isinstance(law, ShufflerDummies)
            table = law.numbers
            dummies = [0.0] * table.first + [weight / WORD for weight in table.weights]
            yield tuple(dummies_view([x, *others], law.k, dummies, law.kept, truth) for x in (0, 1))  # type: ignore[misc]


def numbers(law: UserFakes) -> list[float]:
    """How many fakes one person sends."""
    if (table := law.numbers) is not None:
        return [0.0] * table.first + [weight / WORD for weight in table.weights]
    chance = law.threshold / WORD
    return [math.comb(law.slots, j) * chance**j * (1 - chance) ** (law.slots - j) for j in range(law.slots + 1)]


def drawn(rng: np.random.Generator, rounds: int) -> tuple[FakedValues, int]:
    """A random law and number of people, small enough to list all that may be seen."""
    k, people = (int(rng.integers(2, 5)), int(rng.integers(1, 3))) if rounds == 1 else (5 - rounds, 1)
    epsilon0, chance = float(rng.uniform(0.3, 6.0)), float(rng.uniform(0.01, 0.9))
    match int(rng.integers(0, 4)):
        case 0:
            return UserFakes(k=k, slots=1, chance=chance, epsilon0=epsilon0).realised, people
        case 1:
            return UserFakes(k=k, slots=2, chance=chance / 4, epsilon0=epsilon0, kind="poisson").realised, people
        case 2:
            keep = float(rng.choice([1.0, 0.6]))
            return ShufflerDummies(k=k, keep=keep, center=1, left=chance, epsilon0=epsilon0).realised, people
    return ShufflerDummies(k=min(k, 3), kind="poisson", rate=1e-9, epsilon0=epsilon0).realised, people


@pytest.mark.parametrize(("rounds", "cases"), [(1, 24), (2, 4), (3, 4)])
def test_all_that_may_be_seen_lies_between_the_ends(rounds: int, cases: int) -> None:
    rng = np.random.default_rng(40 + rounds)
    for _ in range(cases):
        law, people = drawn(rng, rounds)
        epsilons = [0.0, float(rng.uniform(0.0, 1.0)) * law.epsilon0]
        survey = shuffle(law, n=people).compose(rounds)
        both = [(rounds_of(one, rounds), rounds_of(two, rounds)) for one, two in views(law, people)]
        for at, epsilon in enumerate(epsilons):
            exact = max(max(both_orders(*pair, epsilon)) for pair in both)
            lower, upper = (survey.deltas(epsilons, end=end, gap=COARSE)[at] for end in ("lower", "upper"))
            assert lower <= exact * (1.0 + 1e-9) + 1e-15
            assert exact <= upper * (1.0 + 1e-9) + 1e-15


def test_counting_agrees_with_integrating() -> None:
    """The grid of the rest adds little, and leaves out nothing."""
    epsilons = np.array([0.0, 0.4, 0.8])
    upper, (lower,) = LightReport(16, 6.0, 9_999).among_fakes(10_000, 0.06)
    blanket, datasets = uniform_fakes_and_reports(16, 6.0, 9_999, 10_000, 0.06)
    high, known = upper.bounds(epsilons)[1], blanket.bounds(epsilons)
    assert np.all(high >= known[0])
    assert np.all(high <= 1.003 * known[1])
    assert np.all(lower.bounds(epsilons)[0] >= 0.998 * datasets[2].bounds(epsilons)[0])
    poisson, _ = LightReport(16, 6.0, 9_999).among_poisson_fakes(37.5)
    assert np.allclose(poisson.bounds(epsilons)[1], high, rtol=0.05)


def test_where_the_report_landed_is_not_shown() -> None:
    """What shows it, two counts apart, gives away more."""
    plain = BucketDummies("geometric", geometric_table(25, 0.6, 0.6).chances)
    epsilons = np.array([0.3, 0.7])
    shown = replace(plain, k=64, epsilon0=4.0).bounds(epsilons)[1]
    hidden = LightReport(64, 4.0, 0).among_dummies(plain.chances, 1.0).bounds(epsilons)[1]
    seen = LightReport(64, 4.0, 0).seen_with_dummies(plain.chances, 1.0).bounds(epsilons)[0]
    assert np.all(seen <= hidden)
    assert np.all(hidden < 0.9 * shown)
