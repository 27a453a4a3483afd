"""Keyed words: one stream for each row, whoever asks in which order, and never a word twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from shuffledp.errors import InvalidInput
from shuffledp.sampling import Table, bernoulli, keyed, source_of, uniform
from shuffledp.sampling.tags import encrypted
from tests.sampling.keyed_rows import DIGEST, SECRET, noise, source, strings, told


def by_the_book(who: str, value: int, call: int, part: int = 0) -> bytes:
    """A block of a row, computed by itself."""
    label = b"shuffledp keyed noise 1" + DIGEST + (1).to_bytes(8, "big")
    both = HKDF(SHA256(), 64, salt=None, info=label).derive(SECRET)
    name = who.encode()
    message = len(name).to_bytes(8, "little") + value.to_bytes(8, "little") + name + bytes(-len(name) % 16)
    tag = Cipher(algorithms.AES(both[:32]), modes.CBC(bytes(16))).encryptor().update(message)[-16:]
    place = int.from_bytes(tag, "little") ^ (call | part << 64)
    return Cipher(algorithms.AES(both[32:]), modes.ECB()).encryptor().update(place.to_bytes(16, "little"))


def test_words_are_those_of_the_definition_written_down_apart() -> None:
    """Whatever else changes, these must not: a secret's reports are computed again by a later
    version, too.
    """
    people, values = ["ada", "bob", "a name of more than sixteen bytes"], [3, 0, 2]
    drawn = noise(values, people).source()
    first, second = drawn.words(3, np.uint16), drawn.words(3, np.uint64)
    for i, (who, value) in enumerate(zip(people, values, strict=True)):
        assert first[i] == int.from_bytes(by_the_book(who, value, 0)[:2], "little")
        assert second[i] == int.from_bytes(by_the_book(who, value, 1)[:8], "little")
    wide = drawn.spread(9).words(27, np.uint16).reshape(3, 9)
    for i, (who, value) in enumerate(zip(people, values, strict=True)):
        blocks = by_the_book(who, value, 2) + by_the_book(who, value, 2, part=1)
        assert wide[i].tobytes() == blocks[:18]
    assert first.tolist() == [52704, 3700, 53394]


@given(
    order=st.permutations(range(12)),
    cut=st.integers(0, 12),
    asked=st.lists(st.sets(st.integers(0, 11)), min_size=1, max_size=6),
)
def test_a_rows_words_depend_on_its_own_calls_only(order: list[int], cut: int, asked: list[set[int]]) -> None:
    """However rows are ordered and cut into batches, and whatever the neighbours are asked for."""
    people, values = [f"p{i}" for i in range(12)], np.arange(12) % 5

    def streams(rows: list[int]) -> dict[int, list[int]]:
        held: dict[int, list[int]] = {row: [] for row in rows}
        if not rows:
            return held
        drawn = noise(values[rows], [people[row] for row in rows]).source()
        for wanted in asked:
            places = np.array([i for i, row in enumerate(rows) if row in wanted], dtype=np.intp)
            for i, word in zip(
                places.tolist(), drawn.at(places, len(rows)).words(len(places), np.uint64).tolist(), strict=True
            ):
                held[rows[i]].append(word)
        return held

    assert streams(order[:cut]) | streams(order[cut:]) == streams(list(range(12)))


def test_no_two_words_share_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked: whole rows, parts of them, wide ones, parts of wide ones; in all, 40
    requests of 50 rows.
    """
    seen: list[bytes] = []
    real = keyed.encrypted

    def watched(key: bytes, blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
        seen.extend(each.tobytes() for each in blocks.reshape(-1, 2))
        return real(key, blocks)

    rng, drawn = np.random.default_rng(4), source(50)
    monkeypatch.setattr(keyed, "encrypted", watched)
    for width in (1, 3, 8, 9, 20) * 8:
        wide = drawn.spread(width)
        wide.words(50 * width, np.uint16)
        some = np.flatnonzero(rng.random(50 * width) < 0.3)
        open_ = wide.at(some, 50 * width)
        open_.words(len(some), np.uint64)
        few = np.arange(0, len(some), 2)
        open_.at(few, len(some)).spread(2).words(2 * len(few), np.uint64)
        drawn.at(slice(10, 20), 50).words(10, np.uint8)
    assert len(seen) == len(set(seen))


def test_a_second_beginning_gives_the_same_words_and_a_source_goes_on() -> None:
    again = noise([1, 2, 3])
    one, other = source_of(again), source_of(again)
    first = one.words(3, np.uint64)
    assert np.array_equal(first, other.words(3, np.uint64))
    assert not np.any(first == one.words(3, np.uint64))
    assert source_of(one) is one
    assert one.secure


def test_everything_that_is_in_the_key_changes_every_word() -> None:
    values = np.arange(1000) % 7
    drawn = [
        noise(values),
        noise(values + 1),
        noise(values, round=2),
        noise(values, digest=bytes(32)),
        noise(values, secret=bytes(32)),
        noise(values, secret=SECRET + b"\0"),
        noise(values.astype(np.float64)),  # the bits of a number are not those of a place
    ]
    words = np.concatenate([each.source().words(1000, np.uint64) for each in drawn])
    equal_places = 143  # 0 as a number and as a place
    assert len(np.unique(words)) == len(words) - equal_places


def test_equal_numbers_have_equal_noise() -> None:
    stored = [np.array([0.0, 0.5, 7.0]), np.array([-0.0, 0.5, 7.0]), np.array([0.0, 0.5, 7.0], dtype=np.float32)]
    words = {noise(each).source().words(3, np.uint64).tobytes() for each in stored}
    assert len(words) == 1


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_words_are_uniform_new_and_writeable(dtype: type) -> None:
    drawn = source(100_000)
    for words in (drawn.words(100_000, dtype), drawn.at(np.arange(0, 100_000, 2), 100_000).words(50_000, dtype)):
        assert words.dtype == dtype
        assert words.flags.writeable
        assert stats.chisquare(np.bincount(words.view(np.uint8), minlength=256)).pvalue > 1e-6


def test_words_of_neighbouring_rows_and_calls_are_independent() -> None:
    """Ids, and calls, that differ in one bit."""
    drawn = source(1 << 17)
    first, second = (drawn.words(1 << 17, np.uint8) >> 4 for _ in range(2))
    for one, other in ((first, second), (first[:-1], first[1:])):
        table = np.bincount(one.astype(np.intp) * 16 + other, minlength=256)
        assert stats.chisquare(table).pvalue > 1e-6


@pytest.mark.parametrize("threshold", [0, 1, (1 << 48) - 1, 1 << 48, 12345 << 48, (12345 << 48) + 777, (1 << 64) - 1])
def test_a_coins_law_is_exact_on_the_integers(monkeypatch: pytest.MonkeyPatch, threshold: int) -> None:
    """All 2^16 first looks, each row its own; where one leaves the coin open, the second look is at
    the border, one below it, or one above.
    """
    high, low = divmod(threshold, 1 << 48)
    firsts = np.arange(1 << 16)
    for later, expected in ((low - 1, 1), (low, 0), (low + 1, 0)):
        if 0 <= later < 1 << 48:
            drawn = bernoulli(told(monkeypatch, firsts, np.full(1 << 16, later << 16)), threshold, 1 << 16)
            assert np.count_nonzero(drawn) == high + (expected if low else 0)


@pytest.mark.parametrize("k", [3, 5, 100, 255])
def test_a_uniform_draws_law_is_exact_on_the_integers(monkeypatch: pytest.MonkeyPatch, k: int) -> None:
    """All 2^16 words: each value is the first draw of equally many rows, and the 2^16 mod k rows
    that draw again get the values of their own second words.
    """
    firsts = np.arange(1 << 16)
    again = np.full(1 << 16, (5 << 15) // k)  # every second word is in the middle of those for the value 2
    counts = np.bincount(uniform(told(monkeypatch, firsts, again), k, 1 << 16), minlength=k)
    each, left = divmod(1 << 16, k)
    assert counts.tolist() == [each + (left if value == 2 else 0) for value in range(k)]


def test_a_tables_law_is_exact_on_the_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Borders inside the words that begin with 16 bits, and weights of 128 bits with a border inside
    the second word.
    """
    border = (40_000 << 48) + 5
    firsts = np.arange(1 << 16)
    for later, expected in ((4, 40_001), (5, 40_000)):
        drawn = Table([border, (1 << 64) - border]).draw(
            told(monkeypatch, firsts, np.full(1 << 16, later << 16)), 1 << 16
        )
        assert np.count_nonzero(drawn == 0) == expected
    deep = (border << 64) + 9
    for last, expected in ((8, 40_001), (9, 40_000)):
        words = (firsts, np.full(1 << 16, 5 << 16), np.full(1 << 16, last))
        drawn = Table([deep, (1 << 128) - deep]).draw(told(monkeypatch, *words), 1 << 16)
        assert np.count_nonzero(drawn == 0) == expected


def test_whoever_asks_for_words_that_are_nobodys_is_refused() -> None:
    drawn = source(5)
    for wrong in (0, 4, 6, 10):
        with pytest.raises(InvalidInput, match=rf"keyed noise must be drawn for all of its 5 rows, got {wrong}"):
            drawn.words(wrong, np.uint64)
        with pytest.raises(InvalidInput, match="all of its 5 rows"):
            drawn.at(np.array([0]), wrong)
        with pytest.raises(InvalidInput, match="all of its 5 rows"):
            drawn.at(np.arange(5), 5).at(np.array([0]), wrong)
    with pytest.raises(InvalidInput, match="all of its 10 rows, got 5"):
        drawn.spread(2).words(5, np.uint64)
    with pytest.raises(InvalidInput, match="all of its 2 rows, got 3"):
        drawn.at(np.array([1, 2]), 5).words(3, np.uint64)
    for wrong_places in ([1, 1], [2, 1], [-1, 4]):
        with pytest.raises(InvalidInput, match="ascending order"):
            drawn.at(np.array(wrong_places), 5)
        with pytest.raises(InvalidInput, match="ascending order"):
            drawn.at(np.arange(5), 5).at(np.array(wrong_places), 5)
    with pytest.raises(IndexError):
        drawn.at(np.array([5]), 5)
    assert len(drawn.at(np.array([], dtype=np.intp), 5).words(0, np.uint64)) == 0


@pytest.mark.parametrize(
    "change, message",
    [
        ({"secret": "a long secret of more than 32 letters"}, r"secret must be bytes, got str: a text can be guessed"),
        ({"secret": bytearray(32)}, r"secret must be bytes, got bytearray"),
        ({"secret": None}, r"secret must be bytes, got NoneType.*os\.urandom\(32\)"),
        ({"secret": b"hush-hush"}, r"secret must have at least 32 bytes, got 9\. Make one with os\.urandom\(32\)"),
        ({"round": 0}, r"round must be .*at least 1, got 0"),
        ({"round": 1.5}, r"round must be a whole number"),
        ({"round": 1 << 63}, r"round must be below 2\*\*63"),
        ({"digest": b"short"}, r"digest must be the 32 bytes of a SHA-256, got 5"),
        ({"ids": strings(["a"])}, r"ids must be as many as the values, got 1 for 2"),
        ({"ids": strings(["a", ""])}, r"ids must name everybody, got 1 empty ones"),
    ],
)
def test_bad_input_is_one_sentence_that_never_repeats_the_secret(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        noise([0, 1], **({"ids": strings(["a", "b"])} | change))
    assert "hush" not in str(refused.value)
    assert "letters" not in str(refused.value)
    assert SECRET.hex() not in repr(noise([0])) + repr(vars(noise([0])))


def test_what_was_computed_in_another_byte_order_is_encrypted_alike() -> None:
    """A machine of another byte order computes halves of blocks in its own."""
    key, blocks = bytes(32), np.arange(6, dtype="<u8").reshape(3, 2)
    assert encrypted(key, blocks.astype(">u8")).tobytes() == encrypted(key, blocks).tobytes()
