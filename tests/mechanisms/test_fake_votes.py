"""Intervals of counts among fakes cover as often as they say, by adding up every number of votes;
and fakes that are missing are noticed.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from shuffledp.errors import InvalidInput
from shuffledp.mechanisms import mechanism_of
from shuffledp.mechanisms.exact_limits import FakeVotes, Votes
from shuffledp.mechanisms.rows import TwoCoins
from shuffledp.randomizers import ShufflerDummies, UserFakes
from shuffledp.randomizers.messages.message import FakedValues
from tests.mechanisms.simulation import ends, rows_of_votes

HALF = 0.6065306597126334  # e^-1/2
LAWS = {
    "dummies": lambda: ShufflerDummies(k=4, center=28, left=HALF, right=HALF),
    "dummies, some kept": lambda: ShufflerDummies(k=4, center=9, left=0.5, right=0.6, keep=0.6),
    "dummies, poisson": lambda: ShufflerDummies(k=4, kind="poisson", rate=12.0),
    "dummies, lightly": lambda: ShufflerDummies(k=4, center=10, left=0.5, right=0.5, epsilon0=2.0).realised,
    "fakes": lambda: UserFakes(k=4, slots=1, chance=0.3),
    "fakes, poisson": lambda: UserFakes(k=4, slots=4, chance=0.1, kind="poisson"),
    "fakes, lightly": lambda: UserFakes(k=4, slots=1, chance=0.3, epsilon0=3.0).realised,
}


def fake_votes(law: FakedValues, size: int, people: int) -> FakeVotes:
    return mechanism_of(law)._fakes(size, people)  # type: ignore[attr-defined,no-any-return]


def from_votes(votes: NDArray[np.int64], people: int, law: FakedValues, size: int = 1) -> TwoCoins:
    return TwoCoins(votes, people, law.group_law(size, people), fake_votes(law, size, people))


def check_fakes(law: FakedValues, people: int, votes: NDArray[np.int64], honest: int) -> None:
    mechanism_of(law).check(np.concatenate([[people * law.messages], votes]), honest)


def votes_law(law: FakedValues, size: int, people: int, held: int) -> NDArray[np.float64]:
    """The probability of every number of votes for a group of ``size`` values."""
    group, fakes = law.group_law(size, people), fake_votes(law, size, people)
    own = stats.binom.pmf(np.arange(held + 1), held, min(group.hit, 1.0))
    strays = stats.binom.pmf(np.arange(people - held + 1), people - held, group.miss)
    return np.concatenate([np.zeros(fakes.first), np.convolve(np.convolve(own, strays), fakes.chances)])


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("size", [1, 2])
def test_the_law_of_fakes_has_the_moments_of_the_group(name: str, size: int) -> None:
    law = LAWS[name]()
    group, fakes = law.group_law(size, 40), fake_votes(law, size, 40)
    counts = fakes.first + np.arange(len(fakes.chances))
    mean = float(fakes.chances @ counts)
    assert float(fakes.chances.sum()) == pytest.approx(1.0, abs=1e-12)
    assert mean == pytest.approx(group.fakes, rel=1e-12)
    assert float(fakes.chances @ (counts - mean) ** 2) == pytest.approx(group.spread, rel=1e-9)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("size", "people", "step"), [(1, 12, 1), (1, 150, 10), (2, 30, 3)])
def test_intervals_cover_as_often_as_they_say(name: str, size: int, people: int, step: int) -> None:
    law = LAWS[name]()
    votes = np.arange(len(votes_law(law, size, people, people)))
    rows = from_votes(votes, people, law, size)
    values = rows.values
    for tail in (0.025, 0.0005):
        low, high = ends(rows, tail)
        assert np.all(low <= values)
        assert np.all(high >= values)
        for held in range(0, people + 1, step):
            chances = votes_law(law, size, people, held)
            inside = (low <= held) & (held <= high)
            assert float(chances[: len(votes)] @ inside[: len(chances)]) >= 1.0 - 2.0 * tail - 1e-12
            above = float(chances[: len(votes)] @ (low > held)[: len(chances)])
            assert above <= tail + 1e-12


@pytest.mark.parametrize("name", LAWS)
def test_two_rounds_are_averaged_by_their_exact_law(name: str) -> None:
    law, people = LAWS[name](), 10
    once = [votes_law(law, 1, people, held) for held in range(people + 1)]
    most = max(map(len, once))
    low, high = ends(rows_of_votes(law, np.arange(2 * most), people, rounds=2), 0.025)
    for held, chances in enumerate(once):
        total = np.convolve(chances, chances)
        inside = ((low <= held) & (held <= high))[: len(total)]
        assert float(total[: len(inside)] @ inside) >= 0.95 - 1e-12


@pytest.mark.parametrize(("hit", "miss"), [(0.4, 0.11), (0.9995, 0.9)])
def test_tails_of_many_strays_are_those_that_adding_up_gives(hit: float, miss: float) -> None:
    """By every number of strays; an Edgeworth series was near them only."""
    n = 4000
    fakes = FakeVotes(5, np.array([0.2, 0.5, 0.3]))
    law = Votes(n, hit, miss, fakes)
    for held in (0, 300, 4000):
        mean = held * hit + (n - held) * miss + 6.1
        for least in (0, round(mean) - 70, round(mean) - 20, round(mean), round(mean) + 40, round(mean) + 80):
            strays = np.arange(n - held + 1)
            exact = sum(
                chance
                * float(stats.binom.pmf(strays, n - held, miss) @ stats.binom.sf(least - 5 - i - strays - 1, held, hit))
                for i, chance in enumerate(fakes.chances)
            )
            found, missing = law.above(np.array([held]), np.array([least]))
            assert float(found[0]) == pytest.approx(exact, rel=0.0, abs=1e-11)
            assert float(missing[0]) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("people", [50, 3000])
def test_fakes_that_are_there_pass_and_missing_ones_are_noticed(name: str, people: int) -> None:
    law, rng = LAWS[name](), np.random.default_rng(5)
    values = rng.integers(0, 4, people)
    for _ in range(20):
        sent = law.mixed(law.tally(law.randomize(values, rng=rng)), rng=rng)
        check_fakes(law, people, law.opened(sent)[2], people)
    bare = np.bincount(values, minlength=4)
    if people == 50 and (name.startswith("fakes") or name == "dummies, some kept"):
        return  # fifteen fakes are few, or as many dummies are added as messages are dropped: nobody can tell
    with pytest.raises(InvalidInput, match=r"must hold the (fakes|dummies) that hide people's values, got too"):
        check_fakes(law, people, bare, people)
    with pytest.raises(InvalidInput, match="got too many"):
        check_fakes(law, people, bare + 10 * people, people)


@pytest.mark.parametrize("name", LAWS)
def test_honest_collections_fail_as_rarely_as_it_says(name: str) -> None:
    """The votes that are refused have a probability of at most 1e-9 on either side."""
    law, people = LAWS[name](), 25
    total = votes_law(law, law.k, people, people)
    refused = np.zeros(len(total), dtype=bool)  # of every other number
    for votes in range(0, len(total), 2):
        try:
            check_fakes(law, people, np.array([votes, 0, 0, 0]), people)
        except InvalidInput:
            refused[votes : votes + 1] = True
    middle = int(np.argmax(total))
    low, high = refused[:middle].nonzero()[0], middle + refused[middle:].nonzero()[0]
    assert float(total[: low.max(initial=-1) + 1].sum()) <= 1e-9
    assert float(total[high.min(initial=len(total)) :].sum()) <= 1e-9
    assert refused[0] or name == "fakes" or "poisson" in name


def test_those_who_are_not_honest_may_send_none_or_many() -> None:
    law = UserFakes(k=4, slots=1, chance=0.3)
    people, honest = 1000, 800
    votes = np.array([people - 200 + 240, 0, 0, 0])  # of 800 only
    check_fakes(law, people, votes, honest)
    check_fakes(law, people, votes + np.array([400, 0, 0, 0]), honest)
    with pytest.raises(InvalidInput, match="too few"):
        check_fakes(law, people, votes, people)
    with pytest.raises(InvalidInput, match="too many"):
        check_fakes(law, people, votes + np.array([700, 0, 0, 0]), honest)
