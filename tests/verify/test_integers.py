"""What a record says of its noise and of its votes, to the last word: forgeries that earlier
versions overlooked or left to the code that they judged, and an honest page that they blamed.
"""

from __future__ import annotations

import json
import math

import pytest

from shuffledp import Poll
from shuffledp.errors import InvalidInput
from shuffledp.judge.effort import TooLarge
from shuffledp.judge.fakes import CountedFakes
from shuffledp.randomizers.messages.dummies import ShufflerDummies
from shuffledp.randomizers.messages.fakes import UserFakes
from shuffledp.verify import verify
from tests.verify.releases import facts, made_by, rehashed


@pytest.fixture(autouse=True)
def _no_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.verify.verification.check_certificate", lambda *_: [])
    monkeypatch.setattr("shuffledp.verify.verification.check_comparison", lambda *_: [])


@pytest.mark.parametrize("name", ["poll", "mean", "hadamard", "hash", "subset", "oue"])
@pytest.mark.parametrize("step", [-1, 1])
def test_one_word_of_noise_more_or_less_is_found(name: str, step: int) -> None:
    made = facts(name)
    assert not verify(json.dumps(made)).failed, "the control"
    integers = made["design"]["mechanism"]["integers"]
    integers[-1] = str(int(integers[-1]) + step)
    wrong = {check.what for check in verify(json.dumps(rehashed(made))).failed}
    assert "integers of the randomizer" in wrong


def test_a_bit_of_unary_encoding_that_is_kept_too_often_is_found() -> None:
    made = facts("oue")
    made["design"]["mechanism"]["integers"][0] = str(2**63 + 1)
    wrong = {check.what for check in verify(json.dumps(rehashed(made))).failed}
    assert "integers of the randomizer" in wrong


@pytest.mark.parametrize("name", ["poll", "subset"])
def test_blocks_of_a_randomizer_that_has_none_are_found(name: str) -> None:
    made = facts(name)
    made["tally"]["blocks"] = [made["tally"]["reports"]]
    assert [check.what for check in verify(json.dumps(rehashed(made))).failed] == ["reports in all blocks"]


def test_a_histogram_of_which_a_page_lists_the_largest_is_not_blamed_for_the_votes_of_the_others() -> None:
    made = made_by(Poll("histogram", categories=10_050, n=150_000, epsilon0=8.0, delta=1e-6))
    assert sum(made["tally"]["votes"]) < made["tally"]["reports"], "some were cast for values that are not listed"
    found = verify(json.dumps(made))
    assert not found.failed
    assert found.verdict == "incomplete"


@pytest.mark.parametrize("slots, chance", [(1, 0.5), (3, 1e-9), (755, 0.7473601429103445), (755, 1.0), (4096, 0.9)])
def test_poisson_fakes_that_are_cut_at_both_ends_are_not_blamed(slots: int, chance: float) -> None:
    """What lies below the first count is not part of what counts as the last."""
    law = UserFakes(k=2, slots=slots, chance=chance, kind="poisson")
    own = {"slots": slots, "chance": chance, "kind": "poisson"}
    weights = list(law.integers)
    assert CountedFakes("fakes", 2, tuple(weights), 0, math.inf, own).least_integers == law.integers
    weights[2], weights[-1] = weights[2] + 4, weights[-1] - 4
    forged = tuple(weights)
    assert CountedFakes("fakes", 2, forged, 0, math.inf, own).least_integers != forged


def test_poisson_dummies_are_compared_as_fast_where_they_are_many() -> None:
    """Once a factorial of 200,000 was computed for every count."""
    law = ShufflerDummies(k=2, kind="poisson", rate=2e5)
    own = {"keep": 1.0, "kind": "poisson", "center": 0, "left": 0.0, "right": 0.0, "rate": 2e5}
    assert CountedFakes("dummies", 2, law.integers, 0, math.inf, own).least_integers == law.integers
    far = (*law.integers[:2], 1 << 26, *law.integers[3:])
    with pytest.raises(TooLarge, match="too many"):
        _ = CountedFakes("dummies", 2, far, 0, math.inf, own).least_integers


def test_fakes_beyond_the_slots_of_a_person_are_refused() -> None:
    made = made_by(
        Poll("histogram", mechanism="fakes", categories=["x", "y"], n=50, epsilon=1.0, delta=1e-3, kind="poisson")
    )
    assert not verify(json.dumps(made)).failed, "the control"
    made["design"]["mechanism"]["integers"][1] = str(1 << 26)
    with pytest.raises(InvalidInput, match="must be one that shuffledp runs"):
        verify(json.dumps(rehashed(made)))
