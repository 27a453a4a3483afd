"""Rows of one person in a table on many machines."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from shuffledp.engines import beam_commit
from shuffledp.engines.beam_commit import IdShares, check_single, repeated
from shuffledp.errors import InvalidInput

KEY = bytes(32)


def repeats(shares: IdShares, *parts: pa.Array) -> int:
    """How many rows are repeated, as an engine finds it."""
    groups: dict[int, list[bytes]] = {}
    for part in parts:
        for share, prints in shares.of(pa.record_batch({"id": part})):
            groups.setdefault(share, []).append(prints)
    return sum(repeated(each) for each in groups.values())


@pytest.mark.parametrize("share", [1 << 24, 100])
def test_every_repetition_is_found(monkeypatch: pytest.MonkeyPatch, share: int) -> None:
    monkeypatch.setattr(beam_commit, "SHARE", share)
    shares, rng = IdShares("id", 3000, KEY), np.random.default_rng(5)
    once = rng.permutation(3000)
    assert repeats(shares, pa.array(once[:1000]), pa.array(once[1000:])) == 0
    drawn = rng.integers(0, 1000, 3000)
    parts = [pa.array(each) for each in np.split(drawn, [10, 700])]
    assert repeats(shares, *parts) == 3000 - len(np.unique(drawn))


def test_an_id_is_its_text() -> None:
    assert repeats(IdShares("id", 10, KEY), pa.array([7, 8]), pa.array(["7", "9"])) == 1


def test_half_a_fingerprint_is_not_the_person() -> None:
    one, other = bytes(16), bytes(8) + b"\x01" * 8
    assert repeated([one, other]) == 0
    assert repeated([one, other, one + other]) == 2


def test_people_without_a_name_are_refused() -> None:
    with pytest.raises(InvalidInput, match="ids in column 'id' must name everybody, got 1 rows without one"):
        list(IdShares("id", 10, KEY).of(pa.record_batch({"id": ["a", None]})))
    with pytest.raises(InvalidInput, match="ids must name a column of the table, got 'id'"):
        list(IdShares("id", 10, KEY).of(pa.record_batch({"name": ["a"]})))
    with pytest.raises(InvalidInput, match="must name everybody once, got 2 rows of people who have another"):
        check_single(2, "id")
