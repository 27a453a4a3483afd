"""Invitations: whoever has one may send one report.

A code is 16 random bytes. The organizer hands the codes out; the shuffler has only their hashes,
and marks those that were used. It keeps no note of which report came with which code; but both are
written at once, so that a store's log of writes shows it until the close, when codes are forgotten.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from shuffledp.errors import InvalidInput

__all__ = ["CODE_BYTES", "HASH_BYTES", "code_text", "hash_of_code", "new_codes", "read_code", "read_hashes"]

LABEL = b"shuffledp code 1"
CODE_BYTES, HASH_BYTES = 16, 32
GROUP = 4  # signs between two dashes


def new_codes(count: int) -> Iterator[bytes]:
    """Fresh codes."""
    return (os.urandom(CODE_BYTES) for _ in range(count))


def code_text(code: bytes) -> str:
    """A code as people type it.

    >>> code_text(bytes(range(16)))
    'AAAQ-EAYE-AUDA-OCAJ-BIFQ-YDIO-B4'
    """
    text = base64.b32encode(code).decode().rstrip("=")
    return "-".join(text[start : start + GROUP] for start in range(0, len(text), GROUP))


def read_code(text: str) -> bytes:
    """The code that somebody typed, in either case, with or without dashes and spaces; 0, 1 and 8
    stand for the letters that they resemble.

    >>> read_code(" aaaq eaye auda ocaj b1fq ydio b4 ") == bytes(range(16))
    True
    """
    letters = "".join(text.split()).replace("-", "").upper().translate(str.maketrans("018", "OIB"))
    try:
        code = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except ValueError:
        code = b""
    if len(code) != CODE_BYTES or code_text(code).replace("-", "") != letters:
        raise InvalidInput(
            "a code must be the 26 letters and digits of an invitation, got something else. Copy all of it, dashes "
            "do not matter."
        )
    return code


def hash_of_code(digest: str, code: bytes) -> bytes:
    """What the shuffler knows of a code, for the collection with that ``digest``."""
    return hashlib.sha256(LABEL + bytes.fromhex(digest) + code).digest()


def read_hashes(path: Path) -> list[bytes]:
    """The hashes in a file, one to a line, in hexadecimal digits."""
    title = repr(str(path))
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        lines = []
    try:
        hashes = [bytes.fromhex(line) for line in lines]
    except ValueError:
        hashes = []
    if not hashes or any(len(each) != HASH_BYTES for each in hashes) or len(set(hashes)) != len(hashes):
        raise InvalidInput(
            f"{title} must hold a hash of {2 * HASH_BYTES} hexadecimal digits on every line, each once, got something "
            f"else. Give the file that `shuffledp collection invite --hashes` wrote."
        )
    return hashes
