"""Fingerprints find every envelope that was added, and hardly ever another."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from shuffledp.collection.network.stores.fingerprints import Fingerprints


@given(
    st.integers(1, 70).flatmap(
        lambda length: st.lists(
            st.lists(st.binary(min_size=length, max_size=length), min_size=1, max_size=20), min_size=1, max_size=8
        )
    )
)
def test_every_envelope_is_found_at_all_its_places(batches: list[list[bytes]]) -> None:
    known, kept = Fingerprints(len(batches[0][0])), list[bytes]()
    for batch in batches:
        known.add(b"".join(batch))
        kept += batch
    asked = sorted(set(kept))
    found = {(number, place) for number, place in known.places(asked) if kept[place] == asked[number]}
    assert found == {(asked.index(envelope), place) for place, envelope in enumerate(kept)}
    assert known.count == len(kept)


def test_others_are_not_found() -> None:
    """Neither random ones nor those that differ in one bit: of 200,000 comparisons with 64 bits, none meets."""
    known, kept = Fingerprints(49), [os.urandom(49) for _ in range(500)]
    known.add(b"".join(kept))
    near = [bytes(49 * [0])] + [
        bytes([*envelope[:at], envelope[at] ^ 0x80, *envelope[at + 1 :]]) for envelope in kept[:8] for at in range(49)
    ]
    assert known.places(near) == []
    assert known.places([]) == Fingerprints(49).places(near) == []


def test_runs_stay_few() -> None:
    known = Fingerprints(3)
    for number in range(1000):
        known.add(number.to_bytes(3))
    assert len(known._runs) <= 10
