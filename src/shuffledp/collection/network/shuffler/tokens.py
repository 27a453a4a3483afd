"""Who may close a collection and fetch what it holds: whoever has the token."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from pathlib import Path

from shuffledp.errors import InvalidInput
from shuffledp.storage.files import first_file

__all__ = ["Token", "made_token", "read_token"]

TOKEN_BYTES = 32
OTHERS = stat.S_IRWXG | stat.S_IRWXO


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
    title = repr(str(path))
    try:
        with path.open("rb") as file:
            mode, content = os.fstat(file.fileno()).st_mode, file.read(2 * TOKEN_BYTES + 2)
    except OSError as error:
        raise InvalidInput(
            f"{title} must be the shuffler's token, got none that can be read: {error.strerror}. Name the file that "
            f"`shuffledp serve` made when it first started."
        ) from None
    if mode & OTHERS and os.name == "posix":
        raise InvalidInput(
            f"{title} must be readable by its owner alone, got permissions {stat.S_IMODE(mode):o}. If nobody has "
            f"copied it: chmod 600 {path}; otherwise remove it, and start the shuffler again, which makes a new one."
        )
    if not re.fullmatch(rb"[0-9a-f]{%d}\n?" % (2 * TOKEN_BYTES), content):
        raise InvalidInput(
            f"{title} must hold the {2 * TOKEN_BYTES} hexadecimal digits of a token, got something else. Remove it, "
            f"and start the shuffler again, which makes a new one."
        )
    return content.decode().strip()
