"""Who may close a collection and fetch what it holds: whoever has the token."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from shuffledp.storage.files import first_file
from shuffledp.storage.secret_files import read_secret

__all__ = ["Token", "made_token", "read_token"]

TOKEN_BYTES = 32


class Token:
    """A secret that is compared without telling how much of a guess was right."""

    def __init__(self, text: str) -> None:
        self._hash = hashlib.sha256(text.encode()).digest()

    def __repr__(self) -> str:
        return "<Token>"  # a log or a traceback shows no more

    def admits(self, header: str | None) -> bool:
        """Whether the header Authorization of a request brings it."""
        scheme, _, given = (header or "").partition(" ")
        found = hashlib.sha256(given.strip().encode(errors="surrogateescape")).digest()
        return hmac.compare_digest(found, self._hash) and scheme.lower() == "bearer"


def made_token(path: Path) -> str:
    """The token in a file, for its owner alone; if there is no file, a new one."""
    if not os.path.lexists(path):
        text = secrets.token_hex(TOKEN_BYTES)
        first_file(path, lambda place: place.write_text(text + "\n", encoding="ascii"))  # several may start at once
    return read_token(path)


def read_token(path: Path) -> str:
    """The token in a file that nobody but its owner may read."""
    again = "start the shuffler again, which makes a new one."
    return read_secret(
        path,
        2 * TOKEN_BYTES,
        what="the shuffler's token",
        whence="Name the file that `shuffledp serve` made when it first started.",
        instead=f"remove it, and {again}",
        damaged=f"Remove it, and {again}",
    )
