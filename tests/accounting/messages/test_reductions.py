"""Laws of several messages through ``shuffle``, against all that a few people may send."""

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest

from shuffledp import Accountant, InvalidInput, shuffle
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.randomizers.messages import MessageLaw, ShufflerDummies, SignedUnits, SplitShares, UserFakes
from shuffledp.sampling import WORD
from tests.accounting.messages.enclosed import both_orders
from tests.contracts.enclosure import COARSE
from tests.oracle.views import View, added, dummies_view, fakes_view, rounds_of, shares_view, signed_view


def enclosed(survey: Guarantee, exact: float, epsilon: float) -> None:
    """lower <= exact <= upper, up to rounding."""
    (lower,), (upper,) = (survey.deltas([epsilon], end=end, gap=COARSE) for end in ("lower", "upper"))
    assert lower <= exact * (1.0 + 1e-9) + 1e-14
    assert exact <= upper * (1.0 + 1e-9) + 1e-14


def worst(views: Sequence[tuple[View, View]], rounds: int, epsilon: float) -> float:
    """The largest delta of some pairs, in both orders."""
    return max(max(both_orders(rounds_of(one, rounds), rounds_of(two, rounds), epsilon)) for one, two in views)


def truth_of(k: int, epsilon0: float) -> float:
    """The probability of the truth in k-RR."""
    return 1.0 if epsilon0 == math.inf else 1.0 / (1.0 + (k - 1) * math.exp(-epsilon0))


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_fakes_of_users_by_all_that_they_may_send(rounds: int) -> None:
    rng = np.random.default_rng(rounds)
    for _ in range({1: 12, 2: 5, 3: 2}[rounds]):
        k, n = int(rng.integers(2, 4)), int(rng.integers(1, 3 if rounds == 1 else 2))
        epsilon0 = float(rng.uniform(0.5, 3.0)) if rounds == 1 and rng.random() < 0.5 else math.inf
        law = UserFakes(k=k, slots=1, chance=float(rng.uniform(0.1, 1.0)), epsilon0=epsilon0)
        chance, epsilon = law.threshold / WORD, float(rng.uniform(0.0, 0.5))
        views = []
        for others in range(k):
            values = [others] * (n - 1)
            one, two = (fakes_view([x, *values], k, [1 - chance, chance], truth_of(k, law.epsilon0)) for x in (0, 1))
            views.append((one, two))
        enclosed(shuffle(law, n=n).compose(rounds), worst(views, rounds, epsilon), epsilon)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_dummies_of_the_shuffler_by_all_that_may_be_seen(rounds: int) -> None:
    rng = np.random.default_rng(10 + rounds)
    for _ in range({1: 12, 2: 4, 3: 1}[rounds]):
        k, n = int(rng.integers(2, 4 if rounds == 1 else 3)), int(rng.integers(1, 4 if rounds == 1 else 3))
        epsilon0 = math.inf if rng.random() < 0.5 else float(rng.uniform(0.5, 3.0))
        left, right = rng.uniform(0.0, 1e-3, size=2).tolist()
        keep = float(rng.choice([1.0, 0.7]))
        law = ShufflerDummies(k=k, keep=keep, center=int(rng.integers(1, 3)), left=left, right=right, epsilon0=epsilon0)
        dummies = [0.0] * law.numbers.first + law.numbers.chances.tolist()
        if rounds > 1:
            dummies = dummies[:4]  # the rest has a chance of 1e-6
        epsilon, views = float(rng.uniform(0.0, 1.0)), []
        for others in range(k):
            values = [others] * (n - 1)
            one, two = (dummies_view([x, *values], k, dummies, law.kept, truth_of(k, epsilon0)) for x in (0, 1))
            views.append((one, two))
        exact, survey = worst(views, rounds, epsilon), shuffle(law, n=n).compose(rounds)
        slack = 1e-12 if rounds == 1 else 1e-3
        assert survey.delta_at_least(epsilon=epsilon) <= exact + slack
        assert exact <= survey.delta_at_most(epsilon=epsilon) + slack


@pytest.mark.parametrize("rounds", [1, 2])
def test_counts_by_signed_units_by_all_that_people_may_send(rounds: int) -> None:
    """What they send is drawn from the table that runs."""
    rng = np.random.default_rng(20 + rounds)
    for _ in range({1: 10, 2: 2}[rounds]):
        honest, least = int(rng.integers(1, 3 if rounds == 1 else 2)), int(rng.integers(1, 3))
        decay, pairs = float(rng.uniform(1.0, 3.0)), int(rng.integers(0, 2))
        law = SignedUnits(honest=least, decay=decay, pairs=pairs, messages=9 if rounds == 1 else 6)
        share = {(a, b): weight / 2**128 for (a, b), weight in zip(law.cells.tolist(), law.weights, strict=True)}
        one, two = (signed_view([x] + [0] * (honest - 1), share) for x in (1, 0))
        epsilon = float(rng.uniform(0.0, 2.0))
        enclosed(
            shuffle(law, n=honest + 3, honest=honest).compose(rounds), worst([(one, two)], rounds, epsilon), epsilon
        )


def test_sums_by_shares_by_all_that_people_may_send() -> None:
    """The noise is drawn from the table that runs, then split."""
    rng = np.random.default_rng(30)
    for _ in range(6):
        honest, k, modulus = int(rng.integers(2, 4)), 2, 8
        decay, reach, messages = float(rng.uniform(3.0, 6.0)), 1, 3
        law = SplitShares(
            k=k, honest=int(rng.integers(1, 3)), decay=decay, share_bits=3, messages=messages, reach=reach
        )
        chances = [weight / 2**128 for weight in law.weights]
        split = [shares_view([value], modulus, messages) for value in range(modulus)]
        sent = []
        for value in range(k):
            law_of_value: dict[tuple[int, ...], float] = {}
            for (up, p), (down, q) in itertools.product(enumerate(chances), enumerate(chances)):
                for where, chance in split[(value + up - down) % modulus].items():
                    law_of_value[where] = law_of_value.get(where, 0.0) + p * q * chance
            sent.append(law_of_value)
        others = [sent[0]] * (honest - 1)
        epsilon = float(rng.uniform(0.0, 2.0))
        views = [(added([sent[0], *others]), added([sent[1], *others]))]
        survey = shuffle(law, n=honest)
        enclosed(survey, worst(views, 1, epsilon), epsilon)
        assert (survey.delta_at_least(epsilon=0.0) > 0.0) == (honest <= law.most_people)


def test_counts_and_sums_have_the_accuracy_of_a_curator() -> None:
    count = SignedUnits(honest=10_000, decay=0.9, pairs=1_360, messages=20)
    assert shuffle(count, n=10_000).delta(epsilon=1.0).upper < 1e-6
    total = SplitShares(k=1001, honest=10_000, decay=1e-3 * (1.0 - 1e-9), share_bits=40, messages=12, reach=30_000)
    one, ten = shuffle(total, n=10_000), shuffle(total, n=10_000).compose(10)
    bound = one.epsilon(delta=1e-6)
    assert 0.9999 < bound.lower <= bound.upper <= 1.0
    assert 9.8 < ten.epsilon_at_least(delta=1e-6) <= ten.epsilon_at_most(delta=1e-6) < 10.1


def test_more_people_than_were_counted_on_do_no_harm_and_fewer_do() -> None:
    count = SignedUnits(honest=10_000, decay=0.9, pairs=1_360, messages=20)
    total = SplitShares(k=11, honest=10_000, decay=0.1, share_bits=40, messages=12, reach=300)
    for law in (count, total):
        fewer, meant, more = (shuffle(law, n=20_000, honest=honest) for honest in (9_000, 10_000, 11_000))
        assert more.delta(epsilon=0.9).upper <= meant.delta(epsilon=0.9).upper * (1.0 + 1e-6)
        assert meant.delta(epsilon=0.9).upper < fewer.delta(epsilon=0.9).lower


def test_colluding_people_hide_nobody() -> None:
    law = UserFakes(k=4, slots=1, chance=0.3)
    assert tuple(shuffle(law, n=1000, honest=100).epsilon(delta=1e-6)) == tuple(shuffle(law, n=100).epsilon(delta=1e-6))
    dummies = ShufflerDummies(k=4, center=25, left=0.6, right=0.6)
    assert tuple(shuffle(dummies, n=1000, honest=1).epsilon(delta=1e-6)) == tuple(
        shuffle(dummies, n=10).epsilon(delta=1e-6)
    )


def test_a_poisson_number_of_fakes_is_paid_for_where_it_is_cut() -> None:
    coins, numbers = UserFakes(k=4, slots=8, chance=0.03), UserFakes(k=4, slots=8, chance=0.03, kind="poisson")
    one, two = (shuffle(law, n=1000).epsilon(delta=1e-4) for law in (coins, numbers))
    assert 0.99 * one.lower < two.lower <= two.upper < 1.01 * one.upper
    short = UserFakes(k=4, slots=1, chance=0.24, kind="poisson")
    assert shuffle(short, n=1000).epsilon(delta=1e-4).upper == math.inf


def test_how_far_a_poisson_table_is_off_does_not_hang_on_the_callers_decimals() -> None:
    law = UserFakes(k=4, slots=8, chance=0.03, kind="poisson")
    known = shuffle(law, n=10**6).delta_at_most(epsilon=1.0)
    with localcontext(prec=3):
        assert shuffle(law, n=10**6).delta_at_most(epsilon=1.0) == known


@pytest.mark.parametrize(
    ("build", "n"),
    [
        (lambda: UserFakes(k=2, slots=1, chance=1.0), 1),
        (lambda: UserFakes(k=100, slots=16, chance=2.0**-64), 2),
        (lambda: UserFakes(k=16, slots=4, chance=1e-9), 10**12),
        (lambda: UserFakes(k=16, slots=1, chance=1e-9, epsilon0=4.0), 10**12),
        (lambda: UserFakes(k=2, slots=1, chance=1.0, epsilon0=0.1), 1),
        (lambda: ShufflerDummies(k=2, center=5, left=0.0, right=0.0), 1),
        (lambda: ShufflerDummies(k=10**6, keep=1e-9, center=0, left=0.0, right=0.9), 10**12),
        (lambda: ShufflerDummies(k=16, kind="poisson", rate=1e4, epsilon0=12.0), 10**9),
    ],
)
def test_far_out_the_ends_stay_in_order(build: Callable[[], MessageLaw], n: int) -> None:
    law = build()
    survey, epsilons = shuffle(law, n=n), np.array([0.0, 1e-6, 1.0, 50.0])
    lower, upper = (survey.deltas(epsilons, end=end, gap=COARSE) for end in ("lower", "upper"))
    assert np.all((lower >= 0.0) & (lower <= upper * (1.0 + 1e-12)) & (upper <= 1.0))
    if law.epsilon0 == math.inf:
        bound = survey.epsilon(delta=1e-250)
        assert 0.0 <= bound.lower <= bound.upper


@pytest.mark.parametrize("rounds", [1, 3])
def test_no_epsilon_is_too_large_for_a_curve(rounds: int) -> None:
    """Where one number is refused, a curve goes on as it was."""
    for law in (
        UserFakes(k=4, slots=1, chance=0.3),
        UserFakes(k=4, slots=8, chance=0.03, kind="poisson", epsilon0=3.0),
        ShufflerDummies(k=4, center=5, left=0.5, right=0.5, keep=0.5),
        SplitShares(k=11, honest=100, decay=0.1, share_bits=40, messages=12, reach=300),
    ):
        survey = shuffle(law, n=100).compose(rounds)
        lower, upper = (survey.deltas([700.0, 705.0, 710.0, 1e6], end=end, gap=COARSE) for end in ("lower", "upper"))
        assert upper.tolist() == [survey.delta_at_most(epsilon=700.0, gap=COARSE)] * 4
        assert lower.tolist() == [survey.delta_at_least(epsilon=700.0, gap=COARSE), 0.0, 0.0, 0.0]
        with pytest.raises(InvalidInput, match=r"epsilon must lie in \[0, 700\]"):
            survey.delta(epsilon=705.0)


def test_it_is_a_round_like_any_other() -> None:
    law = UserFakes(k=16, slots=1, chance=float(Fraction(7, 100)))
    survey = shuffle(law, n=10_000)
    assert "fakes, k = 16" in survey.describe()
    assert any("a message alone is not protected" in each for each in survey.assumptions)
    one, ten = survey.epsilon(delta=1e-6), Accountant().add(survey, rounds=10).epsilon(delta=1e-6)
    assert 0.98 < one.lower <= one.upper < 1.0 < ten.lower <= ten.upper < 1.01 * ten.lower
    assert survey.explain(delta=1e-6).bound.upper == one.upper


def test_what_says_nothing_of_messages_is_refused() -> None:
    law = UserFakes(k=4, slots=1, chance=0.3)
    for ask in (
        lambda: shuffle(law, n=10, adversary="weak"),
        lambda: shuffle(law, n=10, view="sums"),
        lambda: shuffle(law, n=10).between(0, 1),
        lambda: shuffle(law, n=10).sampled(users=100),
    ):
        with pytest.raises(InvalidInput):
            ask()


def test_more_people_than_make_the_noise_complete_never_show_more() -> None:
    for law in (
        SignedUnits(honest=10_000, decay=0.9, pairs=2_000, messages=24),
        SplitShares(k=101, honest=10_000, decay=0.01, share_bits=50, messages=12, reach=3_000),
    ):
        deltas = [shuffle(law, n=n).delta_at_most(epsilon=1.0) for n in (10_000, 20_000, 10**9, 10**15)]
        assert all(more <= fewer for fewer, more in itertools.pairwise(deltas))
