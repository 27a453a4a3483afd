"""Files that nobody but their owner may read: a key, a token."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from shuffledp.errors import InvalidInput

__all__ = ["OTHERS", "read_secret"]

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_secret(path: Path, digits: int, *, what: str, whence: str, instead: str, damaged: str) -> str:
    """The hexadecimal digits in a file. Refused with a remedy: one that is not there (``whence`` it
    comes), one that others may read (what to do ``instead`` of keeping it), one that is
    ``damaged``.
    """
    title = repr(str(path))
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe without a writer would wait for ever
        with open(handle, "rb") as file:
            mode, content = os.fstat(handle).st_mode, file.read(digits + 2)
    except OSError as error:
        raise InvalidInput(f"{title} must be {what}, got none that can be read: {error.strerror}. {whence}") from None
    if mode & OTHERS and os.name == "posix":
        raise InvalidInput(
            f"{title} must be readable by its owner alone, got permissions {stat.S_IMODE(mode):o}. If nobody has "
            f"copied it: chmod 600 {path}; otherwise {instead}"
        )
    if not re.fullmatch(rb"[0-9a-f]{%d}\n?" % digits, content):
        raise InvalidInput(f"{title} must hold {digits} hexadecimal digits, got something else. {damaged}")
    return content.decode().strip()
