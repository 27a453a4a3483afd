"""The votes for a word, by enumeration, and the thresholds that follow."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from shuffledp.search.votes import SplitVotes


def exactly(people: int, held: int, share: Fraction, hit: Fraction, miss: Fraction) -> list[Fraction]:
    """The law of the votes: who is asked, and what they answer, person by person."""
    law = [Fraction(1)]
    for person in range(people):
        vote = share * (hit if person < held else miss)
        law = [
            (law[votes] if votes < len(law) else 0) * (1 - vote) + (law[votes - 1] if votes else 0) * vote
            for votes in range(len(law) + 1)
        ]
    return law


@pytest.mark.parametrize("people", [1, 7, 40])
@pytest.mark.parametrize("share", [Fraction(1, 4), Fraction(1)])
def test_tails_against_enumeration(people: int, share: Fraction) -> None:
    hit, miss = Fraction(3, 5), Fraction(1, 20)
    law = SplitVotes(people, float(share * hit), float(share * miss))
    for held in {0, people // 3, people}:
        chances = exactly(people, held, share, hit, miss)
        for votes in range(people + 2):
            above = float(sum(chances[votes:]))
            assert law.above(held, votes) == pytest.approx(above, rel=1e-9, abs=2e-18)
            assert law.below(held, votes) == pytest.approx(1.0 - above, rel=1e-9, abs=1e-15)
        for tail in (0.3, 1e-3, 1e-9):
            least = law.threshold(held, tail)
            assert sum(chances[least:]) <= tail < sum(chances[least - 1 :])


def test_fixed_sizes_are_another_law() -> None:
    """Were the group's size fixed, holders in it would be hypergeometric: the law here is that of
    people who draw their level each by themselves.
    """
    people, held, group = 6, 3, 3
    fixed = [Fraction(comb(held, c) * comb(people - held, group - c), comb(people, group)) for c in range(4)]
    drawn = exactly(people, held, Fraction(1, 2), Fraction(1), Fraction(0))
    assert fixed != drawn[:4]
    assert sum(c * chance for c, chance in enumerate(fixed)) == sum(c * chance for c, chance in enumerate(drawn))


def test_how_many_holders_are_enough() -> None:
    law = SplitVotes(1000, 0.3, 0.004)
    votes = law.threshold(9, 1e-6)
    enough = law.found_from(votes, 0.05)
    assert enough is not None
    assert law.below(enough, votes) <= 0.05 < law.below(enough - 1, votes)
    assert SplitVotes(10, 0.1, 0.01).found_from(9, 0.05) is None


def test_many_strays_do_not_underflow() -> None:
    law = SplitVotes(10_000_000, 0.01, 2e-4)  # 2000 of them
    assert 2000 < law.threshold(0, 1e-9) < 2400
