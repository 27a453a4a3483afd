"""Users' fakes: rows are drawn by the law that is written down, and counted without bias."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.messages import UserFakes
from shuffledp.sampling import WORD

LAWS = {
    "plain": lambda: UserFakes(k=3, slots=2, chance=0.3),
    "one slot": lambda: UserFakes(k=2, slots=1, chance=0.7),
    "always": lambda: UserFakes(k=3, slots=1, chance=1.0),
    "lightly randomized": lambda: UserFakes(k=3, slots=1, chance=0.4, epsilon0=2.0).realised,
    "poisson": lambda: UserFakes(k=2, slots=3, chance=0.4, kind="poisson"),
    "poisson, lightly": lambda: UserFakes(k=2, slots=2, chance=0.3, kind="poisson", epsilon0=1.0).realised,
}


def row_law(law: UserFakes, value: int) -> dict[tuple[int, ...], float]:
    """The probability of every row, from the integers that are written down, by hand."""
    light, *fakes = law.integers
    found = {}
    for row in product(range(law.k + 1), repeat=law.messages):
        true, sent = row[0], [each for each in row[1:] if each < law.k]
        if true == law.k:
            continue
        chance = (light / WORD) / law.k + (1.0 - light / WORD) * (true == value)
        if law.kind == "bernoulli":
            used = fakes[0] / WORD
            chance *= math.prod(used / law.k if each < law.k else 1.0 - used for each in row[1:])
        else:
            number = len(sent)
            in_front = all(each < law.k for each in row[1 : 1 + number])
            weight = fakes[1 + number - fakes[0]] / WORD if fakes[0] <= number <= law.slots else 0.0
            chance *= in_front * weight / law.k**number
        found[row] = chance
    assert sum(found.values()) == pytest.approx(1.0)
    return found


@pytest.mark.parametrize("name", LAWS)
def test_rows_are_drawn_by_the_integers(name: str) -> None:
    law = LAWS[name]()
    value, draws = law.k - 1, 40_000
    rows = law.randomize(np.full(draws, value), rng=np.random.default_rng(11))
    seen, counts = np.unique(rows, axis=0, return_counts=True)
    drawn = dict(zip(map(tuple, seen.tolist()), counts.tolist(), strict=True))
    expected = {row: draws * chance for row, chance in row_law(law, value).items()}
    assert all(expected[row] > 0.0 for row in drawn)
    often = [row for row in expected if expected[row] >= 5.0]
    distance = sum((drawn.get(row, 0) - expected[row]) ** 2 / expected[row] for row in often)
    assert stats.chi2.sf(distance, max(len(often) - 1, 1)) > 1e-6


@pytest.mark.parametrize("name", LAWS)
def test_the_law_of_a_group_is_exact(name: str) -> None:
    """Mean and variance of one person's votes for a group, by enumeration."""
    law = LAWS[name]()
    for size in range(1, law.k + 1):
        group = range(size)
        mine = law.group_law(size, 1)
        for value in range(law.k):
            votes = {row: sum(each in group for each in row) for row in row_law(law, value)}
            mean = sum(votes[row] * chance for row, chance in row_law(law, value).items())
            variance = sum((votes[row] - mean) ** 2 * chance for row, chance in row_law(law, value).items())
            held = int(value in group)
            assert mine.estimate(mean, 1) == pytest.approx(held, abs=1e-12)
            assert mine.variance(held, 1) == pytest.approx(variance / mine.contrast**2, abs=1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_the_tally_takes_rows_and_messages_and_adds_up(name: str) -> None:
    law = LAWS[name]()
    rows = law.randomize(np.arange(60) % law.k, rng=np.random.default_rng(1))
    tally = law.tally(rows)
    assert law.tally(rows.ravel()).tolist() == tally.tolist()
    assert (law.tally(rows[:20]) + law.tally(rows[20:])).tolist() == tally.tolist()
    people, _, votes = law.opened(tally)
    assert (people, len(votes), len(tally)) == (60, law.k, law.tally_size)
    assert law.adds_up(tally, 60)
    assert law.mixed(tally).tolist() == tally.tolist()
    assert not law.adds_up(tally, 59)
    assert not law.adds_up(np.concatenate([tally[:1], tally[:1] // law.k + np.ones(law.k, dtype=np.int64)]), 60)
    with pytest.raises(InvalidInput, match="Count whole reports"):
        law.opened(tally - 1)


def test_reports_that_nobody_sends_are_refused() -> None:
    law = UserFakes(k=3, slots=1, chance=0.5)
    for wrong in ([[0, 4]], [[0, 1, 2]], [[0.0, 1.0]], []):
        with pytest.raises(InvalidInput):
            law.tally(wrong)
