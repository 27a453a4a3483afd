"""Split and mix: shares add up to the number and its noise, and say nothing one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.messages import SplitShares
from shuffledp.randomizers.messages.split_shares import LIMB, bits_to_hold
from shuffledp.sampling.tables import FINE

LAW = SplitShares(k=101, honest=1_000, decay=0.01, share_bits=23, messages=8, reach=3_000)


def test_the_total_is_that_of_the_values_and_the_noise() -> None:
    values = np.random.default_rng(1).integers(0, 101, 1000)
    reports = LAW.randomize(values, rng=np.random.default_rng(2))
    assert reports.shape == (1000, 8)
    assert reports.dtype == np.uint32
    tally = LAW.tally(reports)
    assert LAW.adds_up(tally, 1000)
    assert not LAW.adds_up(tally, 1001)
    halves = LAW.tally(reports[:300]) + LAW.tally(reports[300:].ravel())
    assert np.array_equal(tally, halves)
    assert abs(LAW.total(tally) - values.sum()) < 6 * math.sqrt(LAW.noise_variance(1000))


def test_one_persons_shares_add_up_to_the_value_and_the_drawn_noise() -> None:
    law = SplitShares(k=5, honest=3, decay=0.7, share_bits=9, messages=3, reach=40)
    many = 100_000
    rows = law.randomize(np.full(many, 4), rng=np.random.default_rng(5)).astype(np.int64)
    noise = (rows.sum(axis=1) - 4 + 256) % 512 - 256
    one_sign = np.array(law.weights, dtype=object) / FINE
    exact = np.convolve(one_sign.astype(float), one_sign.astype(float)[::-1])
    for value, chance in enumerate(exact, start=-40):
        assert abs(np.count_nonzero(noise == value) - many * chance) <= 6 * math.sqrt(many * chance) + 1
    for column in rows.T:  # every share by itself is uniform
        seen = np.bincount(column, minlength=512)
        assert abs(seen - many / 512).max() < 6 * math.sqrt(many / 512)


def test_negative_totals_and_wide_shares_are_read() -> None:
    wide = SplitShares(k=2, honest=2, decay=0.5, share_bits=40, messages=4, reach=10)
    assert wide.message.dtype == np.uint64
    shares = np.array([[5, 7, 2**40 - 12, 2**40 - 3], [1, 2, 3, 2**40 - 7]], dtype=np.uint64)
    tally = wide.tally(shares)
    assert wide.adds_up(tally, 2)
    assert wide.total(tally) == -4
    assert tally[1] < 2 ** (LIMB + 3)


def test_a_sum_that_nobody_honest_makes_is_refused() -> None:
    reports = LAW.randomize(np.zeros(10, dtype=np.int64), rng=np.random.default_rng(3))
    reports[0, 0] = (int(reports[0, 0]) + 2**22) % 2**23  # one person, one share
    with pytest.raises(InvalidInput, match="Collect again"):
        LAW.total(LAW.tally(reports))


def test_a_sum_cannot_wrap_around() -> None:
    assert LAW.most_people * (LAW.k - 1 + 2 * LAW.reach) < LAW.modulus
    assert bits_to_hold(1000, 101, 3000) == 23
    with pytest.raises(InvalidInput, match="share_bits must hold"):
        SplitShares(k=101, honest=1_000, decay=0.01, share_bits=22, messages=8, reach=3_000)
    with pytest.raises(InvalidInput, match="for these share_bits"):
        LAW.total(np.array([8 * (LAW.most_people + 1), 0, 0]))


def test_the_cut_is_small_where_the_reach_is_wide() -> None:
    assert 0 < LAW.cut * LAW.honest < 1e-12
    assert SplitShares(k=101, honest=1_000, decay=0.01, share_bits=23, messages=8, reach=300).cut > LAW.cut
