"""A tally is added up, mixed once, and then estimated, in this order and no other; and in however
many parts it is made, it is the same.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms import mechanism_of
from shuffledp.mechanisms.results import Tally
from shuffledp.randomizers import ShufflerDummies, SignedUnits, SplitShares, TreeDummies, UserFakes
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.sampling import SeededSource
from shuffledp.workload import Each, Ranges, Weights, Workload, below

PEOPLE = 84
VALUES = np.arange(PEOPLE) % 3
NUMBERS = {"kind": "geometric", "center": 5, "left": 0.5, "right": 0.5}
LAWS: dict[str, Any] = {
    "krr": sdp.KRR(k=4, epsilon0=2.0),
    "hadamard": sdp.Hadamard(k=4, epsilon0=2.0),
    "oue": sdp.OUE(k=4, epsilon0=2.0),
    "fakes": UserFakes(k=4, slots=2, chance=0.3),
    "dummies": ShufflerDummies(k=4, **NUMBERS),
    "dummies, thinned": ShufflerDummies(k=4, keep=0.5, **NUMBERS),
    "tree": TreeDummies(k=8, levels=2, branches=4, **NUMBERS),
    "levels": OneLevel.of_sizes(sizes=(3, 4), epsilon0=3.0),
    "signed": SignedUnits(honest=PEOPLE, decay=0.5, pairs=80, messages=24),
    "split": SplitShares(k=4, honest=PEOPLE, decay=0.1, share_bits=20, messages=7, reach=200),
}
FOUR: Workload = Each(tuple("abcd"))
WORKLOADS: dict[str, Workload] = {
    "tree": below((1, 2)),
    "levels": below((1, 2)),
    "signed": Ranges(("yes",), ((1, 2),)),
    "split": Weights.grid("sum", 3),
}
MIXED_ALREADY = "the parts of a tally must be added before they are mixed"


def parts_of(reports: Any, count: int, law: Any) -> list[Tally]:
    return [Tally.of(law, part) for part in np.split(reports, count)]


@pytest.mark.parametrize("name", LAWS)
def test_parts_add_up_to_equal_numbers(name: str) -> None:
    """1, 2 and 7 parts, mixed together or each by itself: dummies come once, all messages are kept or
    dropped, and fakes come with their people.
    """
    law = LAWS[name].realised
    reports = law.randomize(VALUES % law.k, rng=np.random.default_rng(3))
    whole, seen = Tally.of(law, reports), []
    for count in (1, 2, 7):
        first, *rest = parts_of(reports, count, law)
        assert sum(rest, first).numbers.tolist() == whole.numbers.tolist()
        source = SeededSource(np.random.default_rng(7))
        mixed = sum((part.mixed(first=False, rng=source) for part in rest), first.mixed(rng=source))
        together = sum(rest, first).mixed(rng=SeededSource(np.random.default_rng(7)))
        assert mixed.people == together.people == whole.people == PEOPLE
        assert mixed.secure == (not law.mixes)
        seen.append((mixed.votes.tolist(), together.votes.tolist()))
    assert len({str(together) for _, together in seen}) == 1
    if getattr(law, "kept", 1.0) == 1.0:  # what is thinned part by part takes other words of the source
        assert len({str(each) for pair in seen for each in pair}) == 1


@pytest.mark.parametrize("name", LAWS)
def test_what_is_mixed_is_not_mixed_again_nor_added_to(name: str) -> None:
    law = LAWS[name].realised
    tally, later = parts_of(law.randomize(VALUES % law.k), 2, law)
    mixed, part = tally.mixed(), later.mixed(first=False)
    for each in (mixed, part):
        for first in (True, False):
            with pytest.raises(InvalidInput, match="must be mixed once, got one that was mixed"):
                each.mixed(first=first)
        for one, other in ((each, later), (later, each)):
            with pytest.raises(InvalidInput, match=MIXED_ALREADY):
                one + other
    with pytest.raises(InvalidInput, match=MIXED_ALREADY):  # dummies twice
        mixed + later.mixed()


@pytest.mark.parametrize("mixed", [False, True], ids=["not mixed", "mixed without dummies"])
@pytest.mark.parametrize("name", LAWS)
def test_nothing_is_estimated_before_the_shuffler_did_its_part(name: str, mixed: bool) -> None:
    law = LAWS[name].realised
    mechanism, tally = mechanism_of(law), Tally.of(law, law.randomize(VALUES % law.k))
    early = tally.mixed(first=False) if mixed else tally
    for ask in (
        lambda: early.votes,
        lambda: early.blocks,
        lambda: mechanism.received(early, PEOPLE, PEOPLE),
        lambda: mechanism.estimate(early, WORKLOADS.get(name, FOUR)),
    ):
        with pytest.raises(InvalidInput, match="must be mixed before anything is estimated"):
            ask()


@pytest.mark.parametrize("other", [LAWS["oue"], sdp.KRR(k=4, epsilon0=1.0)], ids=["other numbers", "other noise"])
def test_tallies_of_two_designs_are_neither_added_nor_pooled_nor_estimated(other: Any) -> None:
    mine, theirs = (Tally.of(law, law.randomize(VALUES)) for law in (LAWS["krr"], other))
    for ask in (
        lambda: mine + theirs,
        lambda: mine.mixed().again(theirs.mixed()),
        lambda: mechanism_of(other).received(mine.mixed(), PEOPLE, PEOPLE),
    ):
        with pytest.raises(InvalidInput, match="must all be of one design"):
            ask()


def test_rounds_are_of_as_many_people_mixed_and_neither_added_nor_mixed() -> None:
    law = LAWS["krr"]
    early = Tally.of(law, law.randomize(VALUES))
    tally, fewer = early.mixed(), Tally.of(law, law.randomize(VALUES[1:])).mixed()
    for one, other in ((tally, early), (early, tally)):
        with pytest.raises(InvalidInput, match="must be mixed before anything is estimated"):
            one.again(other)
    with pytest.raises(InvalidInput, match="the same number of reports, got 84, 83"):
        tally.again(fewer)
    both = tally.again(tally)
    for ask in (lambda: both.numbers, lambda: mechanism_of(law).received(both, PEOPLE, PEOPLE)):
        with pytest.raises(InvalidInput, match="must be of one round, got 2"):
            ask()


def test_it_loads_no_numpy() -> None:
    code = "import sys, shuffledp.mechanisms.results; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
