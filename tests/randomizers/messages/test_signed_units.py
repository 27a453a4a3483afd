"""+1 and -1 messages: what is sent, how it adds up, and the law of what the analyst sees."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np

from shuffledp.randomizers.messages import SignedUnits
from shuffledp.sampling.tables import FINE

LAW = SignedUnits(honest=1_000, decay=0.9, pairs=500, messages=24)


def test_everybody_sends_as_many_messages() -> None:
    reports = LAW.randomize([0, 1] * 500, rng=np.random.default_rng(3))
    assert reports.shape == (1000, 24)
    assert reports.max() == 2
    tally = LAW.tally(reports)
    assert LAW.adds_up(tally, 1000)
    assert not LAW.adds_up(tally, 999)
    assert np.array_equal(tally, LAW.tally(reports.ravel()))
    plus, minus = LAW.opened(tally)[2].tolist()
    assert abs(plus - minus - 500) < 6 * LAW.expected_stderr(1000)
    assert abs(minus - 500) < 6 * math.sqrt(500) + 6 * LAW.expected_stderr(1000)


def test_a_holder_sends_one_message_more() -> None:
    alike = [LAW.randomize([value] * 400, rng=np.random.default_rng(9)) for value in (0, 1)]
    extra = (alike[1] == 1).sum(axis=1) - (alike[0] == 1).sum(axis=1)
    assert np.all(extra == 1)
    assert np.array_equal((alike[0] == 2).sum(axis=1), (alike[1] == 2).sum(axis=1))


def test_what_is_drawn_follows_the_table() -> None:
    """200,000 people without the value: each cell within six standard deviations."""
    law = SignedUnits(honest=4, decay=0.5, pairs=3, messages=8)
    many = 200_000
    rows = law.randomize(np.zeros(many, dtype=np.int64), rng=np.random.default_rng(11))
    drawn = np.zeros((8, 8))
    np.add.at(drawn, ((rows == 1).sum(axis=1), (rows == 2).sum(axis=1)), 1)
    assert law.cells.sum(axis=1).max() == 7
    for (plus, minus), weight in zip(law.cells.tolist(), law.weights, strict=True):
        chance = weight / FINE
        assert abs(drawn[plus, minus] - many * chance) <= 6 * math.sqrt(many * chance) + 1


def test_the_view_has_the_law_that_is_accounted() -> None:
    """With q = e^-decay and ``honest`` people, (A + C, B + C) has the law (1 - q)^2 q^|a - b|
    U(min(a, b)), U(m) = q^2 U(m - 1) + P(F = m): enumerated for two people, and as far off as
    ``cut`` says at most.
    """
    law = SignedUnits(honest=2, decay=1.2, pairs=2, messages=16)
    one = {tuple(cell): Fraction(weight, FINE) for cell, weight in zip(law.cells.tolist(), law.weights, strict=True)}
    both: dict[tuple[int, int], float] = defaultdict(float)
    for (a, b), first in one.items():
        for (c, d), second in one.items():
            both[a + c, b + d] += float(first) * float(second)
    q = float(law.ratio)
    poisson = [math.exp(-2.0) * 2.0**m / math.factorial(m) for m in range(60)]
    hidden = [0.0]
    for chance in poisson:
        hidden.append(q * q * hidden[-1] + chance)
    distance = 0.0
    for (a, b), chance in both.items():
        distance += max(chance - (1 - q) ** 2 * q ** abs(a - b) * hidden[min(a, b) + 1], 0.0)
    assert 1e-8 < distance <= 2 * law.cut + 1e-15
