"""Tallies that reports can add up to, and no others: by every combination of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import shuffledp as sdp
from shuffledp.randomizers import CheckIn
from shuffledp.randomizers.wrappers import VotingCheckIn

REPORTS = 3


def check_in(randomizer: Any) -> Any:
    return VotingCheckIn.of(CheckIn(randomizer, probability=0.5))


LAWS: dict[str, Callable[[], Any]] = {
    "krr": lambda: sdp.KRR(k=3, epsilon0=1.0),
    "subset": lambda: sdp.SubsetSelection(k=4, epsilon0=1.0, size=2),
    "unary": lambda: sdp.OUE(k=3, epsilon0=1.0),
    "hadamard of one block": lambda: sdp.Hadamard(k=3, epsilon0=0.5),
    "hadamard of two blocks": lambda: sdp.Hadamard(k=2, epsilon0=1.0),
    "check-in": lambda: check_in(sdp.KRR(k=3, epsilon0=1.0)),
    "check-in of subsets": lambda: check_in(sdp.SubsetSelection(k=4, epsilon0=1.0, size=2)),
    "check-in of bits": lambda: check_in(sdp.OUE(k=2, epsilon0=1.0)),
    "check-in of a check-in": lambda: check_in(CheckIn(sdp.KRR(k=3, epsilon0=1.0), probability=0.5)),
}


def outputs(law: Any) -> NDArray[Any]:
    """Everything that it may send."""
    form = law.form
    if form.width is None:
        return np.arange(form.outputs, dtype=form.dtype)
    found = []
    most = 256 if form.width == 1 else 5
    for row in product(range(most), repeat=form.width):
        try:
            found.append(law.check_reports(np.array([row], dtype=form.dtype))[0])
        except sdp.InvalidInput:
            continue
    return np.array(found)


@pytest.mark.parametrize("name", LAWS)
def test_what_adds_up_is_what_reports_add_up_to(name: str) -> None:
    law = LAWS[name]()
    if name == "check-in of bits":
        packed = [[0, 0], *([1, bits << 6] for bits in range(4))]
        sent = law.check_reports(np.array(packed, dtype=law.form.dtype))
    else:
        sent = outputs(law)
    sums = {
        tuple(law.tally(sent[list(chosen)]).tolist())
        for chosen in combinations_with_replacement(range(len(sent)), REPORTS)
    }
    lowest = -REPORTS if law.blocks else 0
    accepted = {
        sums_
        for sums_ in product(range(lowest, REPORTS + 1), repeat=law.tally_size)
        if law.adds_up(np.array(sums_, dtype=np.int64), REPORTS)
    }
    assert accepted == sums


def test_sums_beyond_64_bits_are_not_mistaken() -> None:
    """2^64 votes too many are none for a machine that counts in 64 bits."""
    people, k = 10**15, 20_000
    whole, left = divmod(people + (1 << 64), people)
    votes = np.zeros(k, dtype=np.int64)
    votes[:whole], votes[whole] = people, left
    assert int(votes.sum()) == people  # the control
    assert not sdp.KRR(k=k, epsilon0=1.0).adds_up(votes, people)
    assert not sdp.SubsetSelection(k=k, epsilon0=1.0, size=1).adds_up(np.append(people, votes), people)


def test_a_sign_pattern_that_no_column_has_does_not_add_up() -> None:
    law = sdp.Hadamard(k=7, epsilon0=1.4465)
    assert (law.block_count, law.block_size) == (4, 4)
    people = 9000
    tally = [people, people, 0, 0, 0, people, people, -people, 0, 0, 0, 0]
    assert not law.adds_up(np.array(tally), people)
    assert law.adds_up(np.array([people, people, 0, 0, 0, people, -people, -people, 0, 0, 0, 0]), people)
    # Very many are not transformed.
    assert law.adds_up(np.array(tally) // people * (1 << 61), 1 << 61)
