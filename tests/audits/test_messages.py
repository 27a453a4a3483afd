"""Laws of several messages under attack, and the questions that are asked by levels and tables:
right code is not accused, and the attack comes near to what is certified.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.audits import audit, subject_of
from shuffledp.audits.messages import dummies_law, view_of
from shuffledp.audits.subject import Polled
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.messages import (
    MessageLaw,
    ShufflerDummies,
    SignedUnits,
    SplitShares,
    TreeDummies,
    UserFakes,
)

pytestmark = pytest.mark.long

DELTA = 1e-3
# The law, people, and what an attack of few runs proves at least.
LAWS: dict[str, Callable[[], tuple[MessageLaw, int, float]]] = {
    "fakes": lambda: (UserFakes(k=4, slots=2, chance=0.5), 50, 0.2),
    "fakes of two values": lambda: (UserFakes(k=2, slots=1, chance=0.5), 40, 0.1),
    "poisson fakes": lambda: (UserFakes(k=4, slots=8, chance=0.125, kind="poisson"), 40, 0.2),
    "light fakes": lambda: (UserFakes(k=4, slots=1, chance=0.5, epsilon0=3.0), 40, 0.2),
    "dummies": lambda: (ShufflerDummies(k=4, center=10, left=0.5, right=0.5), 20, 1.0),
    "dummies of two values": lambda: (ShufflerDummies(k=2, center=10, left=0.5, right=0.5), 20, 0.9),
    "poisson dummies": lambda: (ShufflerDummies(k=4, kind="poisson", rate=10.0), 20, 0.2),
    "kept at times": lambda: (ShufflerDummies(k=4, keep=0.5, center=10, left=0.5, right=0.5), 20, 0.2),
    "light dummies": lambda: (ShufflerDummies(k=4, keep=0.5, center=10, left=0.5, right=0.5, epsilon0=2.0), 20, 0.0),
    "tree": lambda: (TreeDummies(k=9, levels=2, branches=3, center=20, left=0.7, right=0.7), 20, 0.5),
    "signed": lambda: (SignedUnits(honest=50, decay=0.8, pairs=40, messages=24), 50, 0.5),
    "split": lambda: (SplitShares(k=4, honest=20, decay=0.4, share_bits=16, messages=12, reach=60), 20, 0.9),
}


@pytest.mark.parametrize("name", LAWS)
def test_messages_that_are_right_are_not_accused_and_tell_as_much_as_they_must(name: str) -> None:
    law, people, least = LAWS[name]()
    found = audit(law, n=people, delta=DELTA, runs=1500, rng=np.random.default_rng(5))
    assert found.verdict == "consistent", found.reasons()
    assert least <= found.epsilon_lower <= found.certified


PROTOCOLS = {
    "crosstab": lambda: Poll(
        "crosstab", columns=["region", "smoker"], categories=[["n", "s", "w"], ["yes", "no"]], n=40, epsilon0=1.5
    ),
    "bins": lambda: Poll("quantile", cuts=range(9), n=40, epsilon0=1.5),
    "levels": lambda: Poll("quantile", cuts=range(17), levels=(4, 16), n=40, epsilon0=1.5),
    "words": lambda: Poll("top", tokens=("a", "b"), longest=3, span=2, room=8, n=40, epsilon0=1.5),
    "fakes": lambda: Poll(
        "histogram", categories=["x", "y", "z"], n=40, randomizer=UserFakes(k=3, slots=2, chance=0.5)
    ),
    "dummies": lambda: Poll(
        "histogram", categories=3, n=20, randomizer=ShufflerDummies(k=3, center=10, left=0.5, right=0.5, keep=0.75)
    ),
    "tree": lambda: Poll(
        "quantile",
        cuts=range(10),
        n=20,
        randomizer=TreeDummies(k=9, levels=2, branches=3, center=20, left=0.7, right=0.7),
    ),
    "count": lambda: Poll(
        "count", value="yes", n=50, randomizer=SignedUnits(honest=50, decay=0.8, pairs=60, messages=24)
    ),
    "split mean": lambda: Poll(
        "mean",
        lower=-3.0,
        upper=5.0,
        n=20,
        randomizer=SplitShares(k=5, honest=20, decay=0.4, share_bits=20, messages=12, reach=80),
    ),
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_protocols_that_are_right_are_not_accused(name: str) -> None:
    found = audit(PROTOCOLS[name](), delta=DELTA, runs=400, rng=np.random.default_rng(5))
    assert found.verdict == "consistent", found.reasons()
    assert 0.0 < found.certified < np.inf
    assert ("estimate" in [check.name for check in found.checks]) == (name != "levels")


def test_an_analyst_who_forgets_the_fakes_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = UserFakes._fakes
    subject = subject_of(PROTOCOLS["fakes"]())
    monkeypatch.setattr(UserFakes, "_fakes", lambda self, size, people: (0.0, right(self, size, people)[1]))
    assert audit(subject, delta=DELTA, runs=400, rng=np.random.default_rng(5)).failed == ("estimate",)


@pytest.mark.parametrize("name", LAWS)
def test_the_documented_law_of_one_person_adds_up(name: str) -> None:
    law, people, _ = LAWS[name]()
    assert view_of(law, people).person.sum() == pytest.approx(1.0, abs=1e-12)


def test_a_law_says_itself_by_what_it_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    law, people, _ = LAWS["fakes"]()
    assert view_of(law, people).among == law.hidden_by == "people's fakes"
    monkeypatch.setattr(UserFakes, "hidden_by", "")
    with pytest.raises(InvalidInput, match="how to read messages"):
        view_of(law, people)


def test_the_documented_dummies_are_those_of_the_table_that_runs() -> None:
    for law in (each for each, _, _ in (made() for made in LAWS.values()) if isinstance(each, ShufflerDummies)):
        first, chances = dummies_law(view_of(law, 20).judged)
        table = law.numbers
        for count, chance in enumerate(chances, first):
            there = table.first <= count <= table.last
            assert chance == pytest.approx(table.chances[count - table.first] if there else 0.0, abs=1e-15)


def test_several_rounds_and_one_person_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 2 to be audited"):
        audit(LAWS["fakes"]()[0], n=1)
    poll = Poll("count", value="yes", n=50, rounds=2, randomizer=LAWS["signed"]()[0])
    with pytest.raises(InvalidInput, match="rounds must be 1"):
        audit(poll, delta=DELTA)


@pytest.mark.parametrize("mechanism", ["fakes", "dummies"])
@pytest.mark.parametrize("question", ["crosstab", "quantile"])
def test_tables_and_bins_among_fakes_are_decoded_as_their_messages_say(question: str, mechanism: str) -> None:
    crossed = question == "crosstab"
    k = 6 if crossed else 5
    asked: Any = {"columns": ["a", "b"], "categories": [3, 2]} if crossed else {"cuts": range(6)}
    dummies = ShufflerDummies(k=k, keep=0.9, center=20, left=0.6, right=0.6)
    law = UserFakes(k=k, slots=2, chance=0.4) if mechanism == "fakes" else dummies
    protocol = Poll(question, n=200, randomizer=law, delta=1e-6, **asked)
    rows = law.randomize(np.arange(200) % k, rng=np.random.default_rng(3)).reshape(200, -1)
    said, right = Polled(protocol).decode(rows)
    assert len(said) == (6 if crossed else 4)
    assert np.allclose(said, right)
