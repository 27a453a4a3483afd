"""From epsilon0 to integers and back: never less noise than asked for, and the logarithm never too
small.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.sampling import WORD
from shuffledp.sampling.draws import exp_at_most, flip_threshold, implied_ratio, log_at_least, mixing_threshold
from shuffledp.sampling.tables import discrete_gaussian, discrete_laplace

EPSILONS = st.floats(1e-6, 50.0)


def _log(ratio: Fraction) -> mpmath.mpf:
    with mpmath.workdps(120):
        return mpmath.log(mpmath.mpf(ratio.numerator) / mpmath.mpf(ratio.denominator))


@given(st.integers(1, WORD), st.integers(0, WORD))
def test_a_logarithm_is_rounded_up_by_less_than_one_step(denominator: int, excess: int) -> None:
    ratio = 1 + Fraction(excess, denominator)
    above = log_at_least(ratio)
    exact = _log(ratio)
    assert mpmath.mpf(above) >= exact
    assert excess == 0 or mpmath.mpf(math.nextafter(above, 0.0)) < exact


@given(st.floats(-60.0, 60.0))
def test_an_exponential_is_just_below(exponent: float) -> None:
    with mpmath.workdps(120):
        below, exact = exp_at_most(Fraction(exponent)), mpmath.exp(mpmath.mpf(exponent))
        relative = 1 - mpmath.mpf(below.numerator) / mpmath.mpf(below.denominator) / exact
        assert 0 < relative < mpmath.mpf(10) ** -55


@given(EPSILONS, st.integers(2, 10**6))
def test_one_coin_gives_at_most_the_epsilon0_asked_for_and_one_word_less_gives_more(epsilon0: float, k: int) -> None:
    share = Fraction(1, k)
    threshold, implied = mixing_threshold(epsilon0, share)
    assert 1 <= threshold <= WORD
    assert implied <= epsilon0
    assert implied == log_at_least(implied_ratio(threshold, share))
    assert threshold == 1 or threshold == WORD or _log(implied_ratio(threshold - 1, share)) > implied
    assert mixing_threshold(implied, share) == (threshold, implied) or implied == 0.0


@given(EPSILONS, st.sampled_from([1, 2]))
def test_flipped_bits_give_at_most_the_epsilon0_asked_for(epsilon0: float, bits: int) -> None:
    threshold, implied = flip_threshold(epsilon0, bits)
    assert implied <= epsilon0
    assert implied == log_at_least(Fraction(WORD - threshold, threshold) ** bits)
    assert flip_threshold(implied, bits) == (threshold, implied)


def test_more_than_64_bits_of_epsilon0_become_one_word() -> None:
    threshold, implied = mixing_threshold(50.0, Fraction(1, 2))
    assert threshold == 1
    assert implied == pytest.approx(math.log(2.0**65), rel=1e-12)


@pytest.mark.parametrize("reach", [40, 400])
def test_a_laplace_table_is_symmetric_complete_and_geometric(reach: int) -> None:
    exponent = Fraction(1, 10)
    weights = discrete_laplace(exponent, reach)
    total = sum(weights)
    assert weights == weights[::-1]
    assert total & (total - 1) == 0
    assert total.bit_length() % 64 == 1
    assert min(weights) >= WORD
    middle, factor = reach, exp_at_most(exponent, 100)
    for j in range(middle + 1, 2 * reach - 1):
        assert abs(Fraction(weights[j], weights[j + 1]) / factor - 1) < Fraction(1, 1 << 60)
    with mpmath.workdps(60):
        ideal = mpmath.tanh(mpmath.mpf(1) / 20)
        assert abs(mpmath.mpf(weights[middle]) / total / ideal - 1) < 1e-18
        assert (
            abs(
                mpmath.mpf(weights[0])
                / total
                * (1 + mpmath.exp(mpmath.mpf(-1) / 10))
                * mpmath.exp(mpmath.mpf(reach) / 10)
                - 1
            )
            < 1e-17
        )


def test_a_gaussian_table_is_the_discrete_gaussian_weight_by_weight() -> None:
    variance, reach = Fraction(100), 120
    weights = discrete_gaussian(variance, reach)
    total = sum(weights)
    assert weights == weights[::-1]
    with mpmath.workdps(80):
        whole = mpmath.nsum(lambda j: mpmath.exp(-(j**2) / mpmath.mpf(200)), [-mpmath.inf, mpmath.inf])
        for j in range(reach):
            ideal = mpmath.exp(-(mpmath.mpf(j) ** 2) / 200) / whole
            assert abs(mpmath.mpf(weights[reach + j]) / total / ideal - 1) < 1e-17
