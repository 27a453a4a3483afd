"""How far one malicious person can move an estimate: every report that passes is tried beside those
of honest people, and what the protocol says is what the worst of them does.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.audits import poison
from shuffledp.errors import InvalidInput
from shuffledp.randomizers import ShufflerDummies, SignedUnits, SplitShares
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.messages.fakes import UserFakes

PEOPLE = 60


def reports_of(protocol: Poll) -> np.ndarray:
    """Everything that passes for a report."""
    law = protocol.randomizer
    dtype, width, outputs = law.form
    if outputs is not None:
        return np.arange(outputs, dtype=dtype)
    if isinstance(law, MessageLaw):
        return np.array(list(product(range(law.message.outputs or 0), repeat=law.messages)), dtype=dtype)
    if isinstance(law, sdp.SubsetSelection):
        return np.array(list(combinations(range(law.k), width or 1)), dtype=dtype)
    if isinstance(law, (sdp.OUE, sdp.Unary)):
        bits = np.array(list(product((0, 1), repeat=law.k)), dtype=np.uint8)
        return np.packbits(bits, axis=1)
    seeds = np.random.default_rng(3).integers(0, 1 << 63, 400, dtype=np.uint64)
    return np.array([(seed, place) for seed in seeds for place in range(law.g)], dtype=dtype)  # type: ignore[attr-defined]


PROTOCOLS: dict[str, Callable[[], Poll]] = {
    "histogram": lambda: Poll("histogram", categories=4, n=PEOPLE, epsilon0=1.5),
    "hadamard": lambda: Poll("histogram", categories=9, mechanism="hadamard", n=PEOPLE, epsilon0=1.5),
    "hash": lambda: Poll("histogram", categories=5, mechanism="hash", n=PEOPLE, epsilon0=1.5),
    "subset": lambda: Poll("histogram", categories=6, mechanism="subset", n=PEOPLE, epsilon0=1.0),
    "oue": lambda: Poll("histogram", categories=5, mechanism="oue", n=PEOPLE, epsilon0=1.5),
    "matrix": lambda: Poll(
        "histogram", categories=2, n=PEOPLE, randomizer=sdp.FromMatrix([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    ),
    "mean": lambda: Poll("mean", lower=-3.0, upper=5.0, k=4, n=PEOPLE, epsilon0=1.5),
    "sum": lambda: Poll("sum", lower=-3.0, upper=5.0, k=4, n=PEOPLE, epsilon0=1.5),
    "crosstab": lambda: Poll(
        "crosstab", columns=["region", "smoker"], categories=[["n", "s", "w"], ["yes", "no"]], n=PEOPLE, epsilon0=1.5
    ),
    "bins": lambda: Poll("quantile", cuts=range(9), n=PEOPLE, epsilon0=1.5),
    "fakes": lambda: Poll("histogram", categories=3, n=PEOPLE, randomizer=UserFakes(k=3, slots=2, chance=0.5)),
    "light fakes": lambda: Poll(
        "histogram", categories=3, n=PEOPLE, randomizer=UserFakes(k=3, slots=1, chance=0.5, epsilon0=2.0)
    ),
    "levels": lambda: Poll("quantile", cuts=range(17), levels=(4, 16), n=PEOPLE, epsilon0=1.5),
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_worst_of_all_reports_moves_an_estimate_as_far_as_is_said(name: str) -> None:
    protocol = PROTOCOLS[name]()
    law, rng = protocol.randomizer, np.random.default_rng(5)
    honest = law.tally(law.randomize(rng.integers(0, law.k, PEOPLE - 1), rng=rng))
    moved = np.array(
        [protocol.analyse_counts(honest + law.tally(each[None])).unbiased for each in reports_of(protocol)]
    )
    said = protocol.influence(protocol.analyse_counts(honest + law.tally(reports_of(protocol)[:1])))
    np.testing.assert_allclose(np.ptp(moved, axis=0), said, rtol=1e-9)


MORE: dict[str, Callable[[], Poll]] = {
    "dummies": lambda: Poll(
        "histogram",
        categories=3,
        n=PEOPLE,
        randomizer=ShufflerDummies(k=3, center=10, left=0.5, right=0.5, keep=0.75),
    ),
    "light dummies": lambda: Poll(
        "histogram",
        categories=3,
        n=PEOPLE,
        randomizer=ShufflerDummies(k=3, center=10, left=0.5, right=0.5, epsilon0=2.0),
    ),
    "words": lambda: Poll("top", tokens=("a", "b"), longest=3, span=2, room=8, n=PEOPLE, epsilon0=1.5),
    "count": lambda: Poll(
        "count",
        value="yes",
        n=PEOPLE,
        randomizer=SignedUnits(honest=PEOPLE, decay=0.8, pairs=60, messages=24),
    ),
}


@pytest.mark.parametrize("name", [*PROTOCOLS, *MORE])
@pytest.mark.parametrize("people", [1, 3])
def test_the_attack_moves_every_estimate_as_far_as_is_said(name: str, people: int) -> None:
    found = poison((PROTOCOLS | MORE)[name](), people=people, rng=np.random.default_rng(5))
    assert all(each.holds for each in found)
    np.testing.assert_allclose([each.moved for each in found], [each.most for each in found], rtol=1e-9)


def test_one_person_moves_a_sum_of_shares_across_half_of_its_range_and_it_says_so() -> None:
    law = SplitShares(k=5, honest=PEOPLE, decay=0.4, share_bits=20, messages=12, reach=80)
    (mean,) = poison(Poll("mean", lower=-3.0, upper=5.0, n=PEOPLE, randomizer=law), rng=np.random.default_rng(5))
    assert mean.moved == pytest.approx(4.0)
    assert mean.most == np.inf


@pytest.mark.parametrize(
    ("people", "refused"), [(PEOPLE, "must be fewer than the 60 who report"), (0, "people must be at least 1")]
)
def test_somebody_cheats_and_somebody_is_honest(people: int, refused: str) -> None:
    with pytest.raises(InvalidInput, match=refused):
        poison(PROTOCOLS["histogram"](), people=people)


def test_more_people_than_can_report_at_once_are_refused() -> None:
    with pytest.raises(InvalidInput, match="n must be at most 100,000,000"):
        poison(Poll("histogram", categories=3, n=10**15, epsilon0=2.0), people=1)


def test_a_protocol_that_says_too_little_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    poll = PROTOCOLS["histogram"]()
    right = type(poll).influence
    monkeypatch.setattr(type(poll), "influence", lambda self, estimate: 0.99 * right(self, estimate))
    assert not any(each.holds for each in poison(poll, rng=np.random.default_rng(5)))


def test_many_malicious_people_move_it_as_many_times_as_far() -> None:
    """One in a hundred who all name one category, where nobody holds it."""
    poll = Poll("histogram", categories=3, n=1000, epsilon0=2.0)
    honest = poll.randomizer.tally(poll.encode([0, 1] * 495, rng=np.random.default_rng(7)).rows)
    worst = poll.analyse_counts(honest + poll.randomizer.tally(np.full(10, 2, dtype=np.uint8)))
    least = poll.analyse_counts(honest + poll.randomizer.tally(np.full(10, 0, dtype=np.uint8)))
    assert worst.values[2] - least.values[2] == pytest.approx(10 * poll.influence(worst)[2])
