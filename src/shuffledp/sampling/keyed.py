"""Noise that is a function: of a secret, a design, a round, a person's id and their value.

Whoever draws it again, in another batch, order or process, draws the same. That is for engines that
run a function more than once and cannot commit in between: a second draw would be a second report
of the same person, and this one is the first again.

The secret gives two keys for each design and round (HKDF with SHA-256). A row's tag is the CBC-MAC
of its id and value under the first; its words are AES-256 of its tag under the second, with the
number of the call in one half and the place in the call in the other, so no two words of a row are
the same bytes. Privacy is computational, and no longer that of fresh randomness. Beyond what breaks
AES or SHA-256, all words are told from random ones with an advantage of at most that of the tags
(``tags``) and N^2 / 2^128, where N counts the blocks: the rows' sequences meet, or AES is noticed
never to repeat itself. For a billion rows, at most 16 requests of a word each, that is below 2^-59
with ids of at most 256 bytes, and below 2^-56 with any that are admitted. Whoever has the secret
can read a report's value off it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shuffledp.errors import InvalidInput, check_count
from shuffledp.sampling.source import KEY_BYTES, Replayable, Source
from shuffledp.sampling.tags import BLOCK, HALF, Blocks, Strings, cbc_mac, encrypted

__all__ = ["KeyedNoise", "KeyedSource", "check_round", "check_secret"]

LABEL = b"shuffledp keyed noise 1"  # another number, should any bit of what is below ever change
DIGEST_BYTES = 32
MOST_ROUNDS = 1 << 63


class KeyedNoise(Replayable):
    """The noise of some rows: the ``rng`` of whoever encodes the ``values``, row by row, of the
    people with these ``ids``.

    The value is part of the key. Without it, a person whose answer changed would get the same noise
    on both, and the difference of the two reports would show the difference of the answers.

    ``values`` are places among the categories, as whole numbers, or numbers, as floats. ``digest``
    names the design (its ``digest``, in bytes).
    """

    def __init__(self, secret: bytes, *, digest: bytes, round: int = 1, ids: Strings, values: NDArray[Any]) -> None:
        if len(digest) != DIGEST_BYTES:
            raise InvalidInput(
                f"digest must be the {DIGEST_BYTES} bytes of a SHA-256, got {len(digest)}. Take that of the design."
            )
        lengths = np.diff(ids.ends)
        if len(lengths) != len(values):
            raise InvalidInput(
                f"ids must be as many as the values, got {len(lengths):,} for {len(values):,}. Give the id of each row."
            )
        if nameless := int(np.count_nonzero(lengths == 0)):
            raise InvalidInput(
                f"ids must name everybody, got {nameless:,} empty ones. Fill them in, or remove those rows: their "
                f"noise would depend on nobody."
            )
        naming, self._key = _keys(check_secret(secret), digest, check_round(round))
        self._tags = cbc_mac(naming, ids, _bits(values))

    def source(self) -> KeyedSource:
        return KeyedSource(self._key, self._tags, np.zeros(len(self._tags), dtype=HALF))


class KeyedSource(Source):
    """Words of rows with these ``tags``, ``width`` in a row for each; ``calls`` counts, for each
    row, the requests that were answered, and is shared with the sources of parts of the rows.
    """

    secure = True

    def __init__(self, key: bytes, tags: Blocks, calls: NDArray[np.uint64], width: int = 1) -> None:
        self._key, self._tags, self._calls, self._width = key, tags, calls, width

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        kind = np.dtype(dtype)
        _check_asked(count, len(self._tags) * self._width)
        each = -(-self._width * kind.itemsize // BLOCK)
        blocks = np.empty((len(self._tags), each, 2), dtype=HALF)
        blocks[:, :, 0] = (self._tags[:, 0] ^ self._calls)[:, None]
        blocks[:, :, 1] = self._tags[:, 1, None] ^ np.arange(each, dtype=HALF)
        self._calls += HALF.type(1)
        return _words(encrypted(self._key, blocks).reshape(len(self._tags), -1), kind)[:, : self._width].flatten()

    def at(self, places: slice | NDArray[np.intp], of: int) -> Source:
        _check_asked(of, len(self._tags) * self._width)
        if isinstance(places, slice) and self._width == 1:
            return KeyedSource(self._key, self._tags[places], self._calls[places])
        rows, cells = np.divmod(_ascending(places, of), self._width)
        return _Cells(self._key, self._tags, self._calls, rows, cells)

    def spread(self, k: int) -> Source:
        return KeyedSource(self._key, self._tags, self._calls, self._width * k)


class _Cells(Source):
    """One word for each of some places in some rows: a block of its own for each."""

    secure = True

    def __init__(
        self, key: bytes, tags: Blocks, calls: NDArray[np.uint64], rows: NDArray[np.intp], cells: NDArray[np.intp]
    ) -> None:
        self._key, self._tags, self._calls, self._rows, self._cells = key, tags, calls, rows, cells

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        _check_asked(count, len(self._rows))
        blocks, calls = self._tags[self._rows], self._calls[self._rows]
        blocks[:, 0] ^= calls
        blocks[:, 1] ^= self._cells.astype(HALF)
        self._calls[self._rows] = calls + HALF.type(1)  # a row with several cells is counted once: it was one call
        return _words(encrypted(self._key, blocks), np.dtype(dtype))[:, 0].copy()

    def at(self, places: slice | NDArray[np.intp], of: int) -> Source:
        _check_asked(of, len(self._rows))
        chosen = _ascending(places, of)
        return _Cells(self._key, self._tags, self._calls, self._rows[chosen], self._cells[chosen])

    def spread(self, k: int) -> Source:
        cells = (self._cells[:, None] * k + np.arange(k)).ravel()
        return _Cells(self._key, self._tags, self._calls, np.repeat(self._rows, k), cells)


def check_secret(secret: object) -> bytes:
    """Return ``secret``, if it is long enough to be one; a message never repeats it."""
    remedy = "Make one with os.urandom(32), keep it apart from the reports, and delete it after the round."
    if not isinstance(secret, bytes):
        raise InvalidInput(f"secret must be bytes, got {type(secret).__name__}: a text can be guessed. {remedy}")
    if len(secret) < KEY_BYTES:
        raise InvalidInput(f"secret must have at least {KEY_BYTES} bytes, got {len(secret)}. {remedy}")
    return secret


def check_round(round: object) -> int:
    """Return ``round``, which counts from 1."""
    remedy = "Count the rounds from 1: another round is other noise."
    number = check_count("round", round, least=1, remedy=remedy)
    if number >= MOST_ROUNDS:
        raise InvalidInput(f"round must be below 2**63, got {number}. {remedy}")
    return number


def _keys(secret: bytes, digest: bytes, round: int) -> tuple[bytes, bytes]:
    """A key for tags and a key for words, of this design and round."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = LABEL + digest + round.to_bytes(8, "big")
    both = HKDF(SHA256(), 2 * KEY_BYTES, salt=None, info=info).derive(secret)
    return both[:KEY_BYTES], both[KEY_BYTES:]


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Numbers as the bits of float64, where -0.0 is 0.0; places as whole numbers."""
    if np.issubdtype(values.dtype, np.integer):
        return values.astype(HALF)
    return (values + 0.0).astype("<f8").view(HALF)


def _words(blocks: Blocks, kind: np.dtype[Any]) -> NDArray[Any]:
    """The bytes of each row of blocks as words of this kind, the same on every machine."""
    return blocks.view(kind.newbyteorder("<")).astype(kind, copy=False)


def _check_asked(count: int, there: int) -> None:
    if count != there:
        raise InvalidInput(
            f"keyed noise must be drawn for all of its {there:,} rows, got {count:,}. Build it from the ids and values "
            f"of the very rows that are encoded; a randomizer of your own says whose words it draws by source.at(...)."
        )


def _ascending(places: slice | NDArray[np.intp], of: int) -> NDArray[np.intp]:
    """The numbers of these places, of so many, each of which must come once."""
    listed = np.arange(of)[places]
    if np.any(listed[1:] <= listed[:-1]):
        raise InvalidInput(
            "places of keyed noise must be in ascending order, got others. A word is drawn once: sort them, and list "
            "none twice."
        )
    return listed
