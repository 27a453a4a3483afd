"""Where random words come from: a cipher with the system's key, or a NumPy generator."""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shuffledp.errors import InvalidInput

KEY_BYTES, BLOCK_BYTES = 32, 16
BYTES_PER_KEY = 1 << 36
PLAIN = memoryview(bytes(1 << 18))


class Source(ABC):
    """Independent, uniform words."""

    secure: bool

    @abstractmethod
    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """A new array of ``count`` words, uniform on all of the unsigned ``dtype``."""


class SecureSource(Source):
    """The key stream of AES-256 in counter mode, keyed from ``os.urandom``; safe between threads.

    A forked child draws a new key, and so does a copy or a pickle, so no two processes ever hold
    one stream. A key serves 2^36 bytes: what distinguishes 2^32 blocks of a cipher from random
    words is below 2^-64.

    >>> SecureSource().words(3, np.uint16).dtype
    dtype('uint16')
    """

    secure = True

    def __init__(self) -> None:
        self.rekey()
        _ALIVE.add(self)

    def rekey(self) -> None:
        """Begin another stream, with a new lock: a fork may have copied a held one."""
        self._lock = threading.Lock()
        self._new_key()

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        words = np.empty(count, dtype=dtype)
        if count:
            stream = words.view(np.uint8).data
            with self._lock:
                for start in range(0, len(stream), len(PLAIN)):
                    self._encrypt(stream[start : start + len(PLAIN)])
        return words

    def _new_key(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # loaded by whoever draws

        self._cipher = Cipher(algorithms.AES(os.urandom(KEY_BYTES)), modes.CTR(bytes(BLOCK_BYTES))).encryptor()
        self._left = BYTES_PER_KEY

    def _encrypt(self, into: memoryview) -> None:
        if len(into) > self._left:
            self._new_key()
        self._left -= len(into)
        self._cipher.update_into(PLAIN[: len(into)], into)

    def __reduce__(self) -> tuple[type[SecureSource], tuple[()]]:
        return SecureSource, ()


_ALIVE: weakref.WeakSet[SecureSource] = weakref.WeakSet()


def _rekey_all() -> None:
    for source in list(_ALIVE):
        source.rekey()


if hasattr(os, "register_at_fork"):  # systems without it do not fork
    os.register_at_fork(after_in_child=_rekey_all)


class SeededSource(Source):
    """A NumPy generator's words: for experiments and tests; the seed tells the noise.

    >>> SeededSource(np.random.default_rng(7)).words(2, np.uint8).tolist() == SeededSource(
    ...     np.random.default_rng(7)
    ... ).words(2, np.uint8).tolist()
    True
    """

    secure = False

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        kind = np.dtype(dtype)
        return self._generator.integers(0, (1 << 8 * kind.itemsize) - 1, count, dtype=kind.type, endpoint=True)


Rng: TypeAlias = "np.random.Generator | Source | None"  # a string, as numpy.random is loaded by whoever uses it


@cache
def _default() -> SecureSource:
    return SecureSource()


def source_of(rng: Rng) -> Source:
    """The source that an ``rng`` argument stands for; None is the secure one.

    >>> source_of(None).secure, source_of(np.random.default_rng(1)).secure
    (True, False)
    """
    if rng is None:
        return _default()
    if isinstance(rng, np.random.Generator):
        return SeededSource(rng)
    if isinstance(rng, Source):
        return rng
    raise InvalidInput(
        f"rng must be None, a numpy.random.Generator or a Source, got {rng!r}. Leave it out for secure randomness."
    )
