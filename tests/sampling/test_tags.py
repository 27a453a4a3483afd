"""Tags are CBC-MAC, block by block, and no string is taken for another."""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.sampling.tags import Strings, cbc_mac

KEY = bytes(range(32))


def strings(*given: bytes) -> Strings:
    ends = np.cumsum([0, *map(len, given)])
    return Strings(ends, np.frombuffer(b"".join(given), dtype=np.uint8))


def by_the_book(string: bytes) -> bytes:
    """The last block of AES in CBC mode from zeros, as the library of ciphers has it."""
    message = len(string).to_bytes(16, "little") + string + bytes(-len(string) % 16)
    return Cipher(algorithms.AES(KEY), modes.CBC(bytes(16))).encryptor().update(message)[-16:]


@given(rows=st.lists(st.binary(max_size=50), min_size=1, max_size=20))
def test_a_tag_is_the_last_block_of_the_cipher_in_cbc_mode(rows: list[bytes]) -> None:
    found = cbc_mac(KEY, strings(*rows))
    assert [each.tobytes() for each in found] == [by_the_book(row) for row in rows]


@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 31, 32, 33, 1024])
def test_the_borders_of_blocks(length: int) -> None:
    text = bytes(range(1, 256)) * 5
    neighbours = (text[:length], b"beside", text[: length + 1])
    found = cbc_mac(KEY, strings(*neighbours))
    assert [each.tobytes() for each in found] == [by_the_book(each) for each in neighbours]


def test_padding_and_beginnings_are_told_apart() -> None:
    texts = [b"a" * i + bytes(j) for i in range(20) for j in range(20)]
    assert len(np.unique(cbc_mac(KEY, strings(*texts)), axis=0)) == len(texts)


def test_strings_may_lie_anywhere_in_their_content() -> None:
    """As a slice of an Arrow array does."""
    whole = strings(b"first", b"second", b"third")
    part = Strings(whole.ends[1:], whole.content)
    assert np.array_equal(cbc_mac(KEY, part), cbc_mac(KEY, whole)[1:])
    assert cbc_mac(KEY, strings()).shape == (0, 2)
