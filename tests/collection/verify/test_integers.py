"""What a record says of its noise and of its votes, to the last word: forgeries that earlier
versions overlooked or left to the code that they judged, and an honest page that they blamed.
"""

from __future__ import annotations

import json

import pytest

import shuffledp as sdp
from shuffledp.collection.verify import verify
from tests.collection.verify.releases import facts, made_by, rehashed


@pytest.fixture(autouse=True)
def _no_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.collection.verify.verification.check_certificate", lambda *_: [])
    monkeypatch.setattr("shuffledp.collection.verify.verification.check_comparison", lambda *_: [])


@pytest.mark.parametrize("name", ["poll", "mean", "hadamard", "hashing", "subset", "unary"])
@pytest.mark.parametrize("step", [-1, 1])
def test_one_word_of_noise_more_or_less_is_found(name: str, step: int) -> None:
    made = facts(name)
    assert not verify(json.dumps(made)).failed, "the control"
    integers = made["design"]["law"]["integers"]
    integers[-1] = str(int(integers[-1]) + step)
    wrong = {check.what for check in verify(json.dumps(rehashed(made))).failed}
    assert "integers of the randomizer" in wrong


def test_a_bit_of_unary_encoding_that_is_kept_too_often_is_found() -> None:
    made = facts("unary")
    made["design"]["law"]["integers"][0] = str(2**63 + 1)
    wrong = {check.what for check in verify(json.dumps(rehashed(made))).failed}
    assert "integers of the randomizer" in wrong


@pytest.mark.parametrize("name", ["poll", "subset"])
def test_blocks_of_a_randomizer_that_has_none_are_found(name: str) -> None:
    made = facts(name)
    made["tally"]["blocks"] = [made["tally"]["reports"]]
    assert [check.what for check in verify(json.dumps(rehashed(made))).failed] == ["reports in all blocks"]


def test_a_histogram_of_which_a_page_lists_the_largest_is_not_blamed_for_the_votes_of_the_others() -> None:
    made = made_by(sdp.Histogram(categories=10_050, n=150_000, epsilon0=8.0, delta=1e-6))
    assert sum(made["tally"]["votes"]) < made["tally"]["reports"], "some were cast for values that are not listed"
    found = verify(json.dumps(made))
    assert not found.failed
    assert found.verdict == "incomplete"
