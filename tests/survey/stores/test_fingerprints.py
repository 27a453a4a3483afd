"""Fingerprints find every envelope that was added, and hardly ever another."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.survey.stores import fingerprints
from shuffledp.survey.stores.fingerprints import Fingerprints

BATCHES = st.integers(1, 70).flatmap(
    lambda length: st.lists(
        st.lists(st.binary(min_size=length, max_size=length), min_size=1, max_size=20), min_size=1, max_size=8
    )
)


@pytest.mark.parametrize("few", [1, 5, 4096])
@given(batches=BATCHES)
def test_every_envelope_is_found_at_all_its_places(few: int, batches: list[list[bytes]]) -> None:
    known, kept = Fingerprints(len(batches[0][0])), list[bytes]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprints, "FEW", few)
        for batch in batches:
            marks = known.marks(b"".join(batch))
            assert known.familiar(marks) == (len({*batch, *kept}) < len(batch) + len(set(kept)))
            known.add(marks)
            kept += batch
    asked = sorted(set(kept))
    found = {
        (number, place) for number, place in known.places(known.marks(b"".join(asked))) if kept[place] == asked[number]
    }
    assert found == {(asked.index(envelope), place) for place, envelope in enumerate(kept)}
    assert known.count == len(kept)


def test_others_are_not_found() -> None:
    """Neither random ones nor those that differ in one bit: of 200,000 comparisons with 64 bits, none meets."""
    known, kept = Fingerprints(49), [os.urandom(49) for _ in range(500)]
    known.add(known.marks(b"".join(kept)))
    near = [bytes(49 * [0])] + [
        bytes([*envelope[:at], envelope[at] ^ 0x80, *envelope[at + 1 :]]) for envelope in kept[:8] for at in range(49)
    ]
    marks = known.marks(b"".join(near))
    assert not known.familiar(marks)
    assert known.places(marks) == known.places(known.marks(b"")) == []


def test_runs_stay_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "FEW", 1)
    known = Fingerprints(3)
    for number in range(1000):
        known.add(known.marks(number.to_bytes(3)))
    assert len(known._runs) <= 10
