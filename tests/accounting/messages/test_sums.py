"""+1 and -1 messages, mixed shares, noise in parts: against all that a few may send."""

import math
from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from shuffledp import InvalidInput
from shuffledp.accounting.messages.reductions import Inexact
from shuffledp.accounting.messages.sums import (
    CompleteNoise,
    Pairs,
    _log_excess,
    _small,
    least_messages,
    mixing_distance,
    partial_noise,
    signed_pair,
)
from shuffledp.judge import hockey_stick
from tests.accounting.messages.enclosed import above_exact, below_exact, both_orders
from tests.oracle.views import shares_view, signed_share, signed_view, vectors_with_sum

ONE = np.array([1.0])


def cut(chances: np.ndarray) -> tuple[list[float], float]:
    """A law that is never beyond the last entry, which is nothing instead; and what that changes."""
    beyond = 1.0 - float(chances.sum())
    return [float(chances[0]) + beyond, *chances[1:].tolist()], beyond


def test_people_by_all_that_they_may_send() -> None:
    rng = np.random.default_rng(8)
    for _ in range(25):
        honest, t = int(rng.integers(1, 3)), float(rng.choice([1.0, 0.4, 1.7]))
        ratio, mean, epsilon = float(rng.uniform(0.05, 0.3)), float(rng.uniform(0.1, 1.0)), float(rng.uniform(0.0, 3.0))
        noise, missing = cut(nbinom.pmf(np.arange(7), t / honest, 1.0 - ratio))
        flood, more = cut(poisson.pmf(np.arange(6), mean / honest))
        share = signed_share(noise, flood)
        others = [1] * int(rng.integers(0, 2)) + [0] * (honest - 1)
        one, two = (signed_view([target, *others], share, honest) for target in (1, 0))
        curve = Inexact.of(signed_pair(t, ratio, Pairs(mean)), honest * (2.0 * missing + more))
        for exact, pair in zip(both_orders(one, two, epsilon), (curve, curve.swapped()), strict=True):
            below_exact([pair], exact, epsilon)
            above_exact([pair], exact, epsilon)


def test_the_closed_form_is_the_sum_along_diagonals() -> None:
    epsilons = np.array([0.0, 0.3, 0.9, 1.0, 1.5])
    for pairs in (Pairs(20.0), Pairs(20.0, 0.8)):
        closed, summed = (signed_pair(t, 0.5, pairs) for t in (1.0, 1.0 + 1e-13))
        for one, two in ((closed, summed), (closed.swapped(), summed.swapped())):
            for (low, high), (least, most) in zip(
                np.transpose(one.bounds(epsilons)), np.transpose(two.bounds(epsilons)), strict=True
            ):
                assert low <= most * (1.0 + 1e-9)
                assert least <= high * (1.0 + 1e-9)
                assert most - least <= 1e-8 * most + 1e-27


@pytest.mark.parametrize(
    ("ratio", "pairs"), [(0.4, Pairs(0.0)), (0.4, Pairs(1.0)), (0.999, Pairs(1000.0)), (0.9, Pairs(3.0, 0.5))]
)
def test_nothing_is_left_out_however_slowly_the_noise_falls(ratio: float, pairs: Pairs) -> None:
    curve = signed_pair(1.0, ratio, pairs)
    assert curve.first.sum() == pytest.approx(1.0, abs=1e-10)
    assert curve.second.sum() == pytest.approx(1.0, abs=1e-10)


def test_without_pairs_a_count_is_known_from_one_sign() -> None:
    """One sign's number is a geometric one, moved by 1; the other says nothing."""
    curve, epsilon = signed_pair(1.0, 0.4, Pairs(0.0)), 0.3
    chances = 0.6 * 0.4 ** np.arange(200.0)
    more = {(j + 1,): chance for j, chance in enumerate(chances.tolist())}
    for exact, pair in zip(
        both_orders(more, {(j,): chance for j, chance in enumerate(chances.tolist())}, epsilon),
        (curve, curve.swapped()),
        strict=True,
    ):
        below_exact([pair], exact, epsilon)
        above_exact([pair], exact, epsilon)


def test_pairs_enough() -> None:
    """(1, 1e-6) with a deviation of 1.520, where a curator's is 1.357."""
    ratio = math.exp(-0.9)
    assert math.sqrt(2.0 * ratio) / (1.0 - ratio) == pytest.approx(1.520, abs=1e-3)
    assert math.sqrt(2.0 * math.exp(-1.0)) / (1.0 - math.exp(-1.0)) == pytest.approx(1.357, abs=1e-3)
    for kind, enough in ((math.exp(-0.05), 300.0), (0.0, 1348.0)):
        curve, fewer = (signed_pair(1.0, ratio, Pairs(mean, kind)) for mean in (enough, 0.99 * enough))
        assert max(pair.bounds(ONE)[1][0] for pair in (curve, curve.swapped())) < 1e-6
        assert fewer.swapped().bounds(ONE)[0][0] > 1e-6


def test_more_people_hide_more_and_fewer_less() -> None:
    deltas = [signed_pair(t, math.exp(-0.9), Pairs(300.0 * t)).swapped().bounds(ONE)[1][0] for t in (0.8, 1.0, 1.3)]
    assert deltas[0] > deltas[1] > deltas[2]


@pytest.mark.parametrize(
    ("people", "modulus", "messages"),
    [(2, 2, 3), (2, 3, 3), (2, 5, 3), (2, 5, 4), (3, 2, 3), (3, 3, 3), (3, 2, 4), (3, 3, 4), (3, 4, 3), (3, 5, 3)],
)
def test_values_with_one_sum_look_alike(people: int, modulus: int, messages: int) -> None:
    """Two of them are each within tau of one law, so within 2 tau of each other."""
    apart = 0.0
    for total in range(modulus):
        views = [shares_view(values, modulus, messages) for values in vectors_with_sum(people, modulus, total)]
        apart = max([apart, *(hockey_stick(views[0], view, 0.0) for view in views)])
    assert 0.0 < apart <= 2.0 * mixing_distance(people, messages, modulus)


def components(people: int, chosen: tuple[tuple[int, ...], ...]) -> int:
    """Of the graph that some permutations draw."""
    root = list(range(people))
    for permutation in chosen:
        for start, end in enumerate(permutation):
            old, new = root[start], root[end]
            root = [new if each == old else each for each in root]
    return len(set(root))


@pytest.mark.parametrize(("people", "number"), [(2, 2), (2, 4), (3, 2), (3, 3), (4, 2), (5, 2)])
def test_the_recursion_covers_all_permutations(people: int, number: int) -> None:
    chosen = list(product(permutations(range(people)), repeat=number))
    counts = [components(people, each) for each in chosen]
    for modulus in (2, 5, 1000):
        exact = sum(modulus ** (count - 1) for count in counts) / len(chosen) - 1.0
        assert exact <= np.exp(_log_excess(people, number, modulus)) <= 6.0 * exact


def test_many_people_are_a_few_points_more() -> None:
    """Where the recursion ends and the constant takes over, nothing jumps up."""
    excess = [_log_excess(people, 4, 1 << 16) for people in (500, 510, 512, 513, 514, 520, 5000, 10**12)]
    assert np.all(np.diff(excess) < 0.0)
    assert excess[-1] == pytest.approx(16 * np.log(2.0) - 3 * np.log(1e12), abs=1e-3)
    assert _small(4, 16 * np.log(2.0)).shape == (512,)


def test_how_many_messages() -> None:
    """The published formula asks for 12."""
    assert least_messages(10_000, 1 << 32, 2.0**-40) == 11
    assert mixing_distance(10_000, 12, 1 << 32) < 2.0**-51


@pytest.mark.parametrize(("people", "messages"), [(1, 9), (100, 2)])
def test_too_few_hide_nothing(people: int, messages: int) -> None:
    assert mixing_distance(people, messages, 1 << 16) == 1.0


def shifted(chances: np.ndarray, shift: int, epsilon: float) -> float:
    """delta of a law against itself, moved."""
    nothing = np.zeros(shift)
    return hockey_stick(np.append(chances, nothing), np.append(nothing, chances), epsilon)


def test_the_closed_form_adds_up_the_law() -> None:
    rng = np.random.default_rng(6)
    for _ in range(60):
        step, shift = float(rng.uniform(0.1, 2.0)), int(rng.integers(1, 9))
        j = np.abs(np.arange(-400, 401))
        law, epsilon = np.exp(-step * j) * math.tanh(step / 2.0), float(rng.uniform(0.0, 1.1)) * step * shift
        exact = shifted(law, shift, epsilon)
        curve = CompleteNoise(step, shift)
        below_exact([curve], exact, epsilon)
        above_exact([curve], exact, epsilon)
        assert curve.bounds(np.array([epsilon]))[1][0] <= exact + 1e-12


def test_any_part_of_the_noise() -> None:
    rng = np.random.default_rng(7)
    for _ in range(30):
        t, ratio, shift = float(rng.uniform(0.2, 3.0)), float(rng.uniform(0.1, 0.6)), int(rng.integers(1, 6))
        chances = nbinom.pmf(np.arange(150), t, 1.0 - ratio)
        law, epsilon = np.correlate(chances, chances, "full"), float(rng.uniform(0.0, 3.0))
        curve, exact = partial_noise(t, ratio, shift), shifted(law, shift, epsilon)
        below_exact([curve], exact, epsilon)
        above_exact([curve], exact, epsilon)
        assert exact <= shifted(law, shift + 1, epsilon) + 1e-15


def test_what_is_paid_for_a_distance_stays_small() -> None:
    ideal = CompleteNoise(1.0, 1)
    curve = Inexact.of(ideal, 1e-9)
    deltas = curve.bounds(np.linspace(0.0, 40.0, 81))[1]
    assert np.all(np.diff(deltas) <= 0.1 * deltas[-1])
    assert deltas[-1] == pytest.approx((1.0 + math.e) * 1e-9, rel=0.2)
    assert Inexact.of(ideal, 0.0) is ideal
    assert Inexact.of(ideal, 1e6).bounds(np.array([0.0, 700.0]))[1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "make, rule",
    [
        (lambda: signed_pair(0.5, math.exp(-1e-3), Pairs(1e6)), "must be complete"),
        (lambda: partial_noise(0.5, math.exp(-1e-3), 5), "must be complete"),
        (lambda: least_messages(2, 1 << 32, 2.0**-40), "people must be enough"),
    ],
)
def test_what_takes_too_long_or_hides_nothing_is_refused(make: Callable[[], object], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        make()
