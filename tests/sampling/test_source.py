"""Where words come from: uniform, never shared, and marked when they are not for release."""

from __future__ import annotations

import copy
import os
import pickle
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shuffledp.errors import InvalidInput
from shuffledp.sampling import SecureSource, SeededSource, source, source_of
from shuffledp.sampling.tags import Strings, cbc_mac


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_words_have_the_length_and_width_asked_for_and_uniform_bytes(dtype: type) -> None:
    for origin in (SecureSource(), SeededSource(np.random.default_rng(5))):
        words = origin.words(200_001, dtype)
        assert words.dtype == dtype
        assert len(words) == 200_001
        counts = np.bincount(words.view(np.uint8), minlength=256)
        assert stats.chisquare(counts).pvalue > 1e-9
        assert words.flags.writeable
        assert len(origin.words(0, dtype)) == 0


def test_the_stream_never_repeats_within_a_source_or_between_sources() -> None:
    one, other = SecureSource(), SecureSource()
    words = np.concatenate([one.words(50_000, np.uint64), one.words(50_000, np.uint64), other.words(50_000, np.uint64)])
    assert len(np.unique(words)) == len(words)  # a collision of 150,000 random 64-bit words has probability 6e-10


def test_long_requests_are_one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source.os, "urandom", bytes)
    whole, parts = SecureSource(), SecureSource()
    assert np.array_equal(
        whole.words(1_000_000, np.uint8), np.concatenate([parts.words(1_000, np.uint8), parts.words(999_000, np.uint8)])
    )


def test_a_key_is_replaced_after_its_share_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = iter(bytes([i]) * 32 for i in range(9))
    monkeypatch.setattr(source.os, "urandom", lambda _: next(keys))
    monkeypatch.setattr(source, "BYTES_PER_KEY", 1 << 10)
    fresh = SecureSource()
    first, second = fresh.words(1 << 10, np.uint8), fresh.words(1 << 10, np.uint8)
    assert next(keys) == bytes([2]) * 32
    assert not np.array_equal(first, second)


def test_the_cipher_is_aes_256_in_counter_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """FIPS 197, C.3: key 00 01 ... 1f, block 00 11 22 ... ff (the counter) -> 8e a2 b7 ca ..."""
    monkeypatch.setattr(source.os, "urandom", lambda size: bytes(range(size)))
    block = Cipher(algorithms.AES(bytes(range(32))), modes.ECB()).encryptor()
    assert block.update(bytes.fromhex("00112233445566778899aabbccddeeff")).hex() == "8ea2b7ca516745bfeafc49904b496089"
    expected = b"".join(block.update(i.to_bytes(16, "big")) for i in range(4))
    assert SecureSource().words(64, np.uint8).tobytes() == expected


def _child_words(origin: SecureSource) -> bytes:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, origin.words(4, np.uint64).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    answer = os.read(read, 32)
    os.close(read)
    os.close(write)
    return answer


def test_forked_children_never_share_a_stream() -> None:
    origin = SecureSource()
    answers = [_child_words(origin), _child_words(origin), origin.words(4, np.uint64).tobytes()]
    default = source_of(None)
    assert isinstance(default, SecureSource)
    answers += [_child_words(default), _child_words(default), default.words(4, np.uint64).tobytes()]
    assert len(set(answers)) == 6


def test_a_fork_while_the_lock_is_held_does_not_block_the_child() -> None:
    origin = SecureSource()
    with origin._lock:
        answer = _child_words(origin)
    assert len(answer) == 32


def test_copies_and_pickles_begin_their_own_streams() -> None:
    origin = SecureSource()
    others = [copy.copy(origin), copy.deepcopy(origin), pickle.loads(pickle.dumps(origin))]
    streams = {each.words(4, np.uint64).tobytes() for each in (origin, *others)}
    assert len(streams) == 4


def test_threads_share_a_source_without_sharing_words() -> None:
    origin, drawn = SecureSource(), []

    def draw() -> None:
        drawn.extend(origin.words(64, np.uint64) for _ in range(200))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate(drawn)
    assert len(np.unique(words)) == len(words) == 8 * 200 * 64


def test_an_rng_argument_is_none_a_generator_or_a_source() -> None:
    assert source_of(None).secure
    assert source_of(None) is source_of(None)
    assert not source_of(np.random.default_rng(1)).secure
    mine = SecureSource()
    assert source_of(mine) is mine
    for wrong in (7, np.random.RandomState(1), "seed"):
        with pytest.raises(InvalidInput, match="Leave it out for secure randomness"):
            source_of(wrong)  # type: ignore[arg-type]


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
