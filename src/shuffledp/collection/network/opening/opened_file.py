"""``opened.json``: which sealed file of a collection was opened. Two releases of one collection
that differ by one report show that report, so another file is not opened after the first.

It stands in the analyst's own folder, and binds whoever leaves it there: an analyst who deletes it
has both files, and the key, anyway. It guards against a shuffler that releases two sets, and
against slips. A ledger remembers the same in another place.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from shuffledp.collection.network.collection_file import is_digest
from shuffledp.errors import InvalidInput
from shuffledp.storage.canonical import canonical, strict_json
from shuffledp.storage.files import replace_file, unwritable

__all__ = ["OPENED", "OpenedFile", "check_opened", "remember"]

OPENED = "opened.json"
FORMAT, VERSION = "shuffledp-opened", 1


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """The SHA-256 of a sealed file, of which collection it is, and how many of the envelopes in it
    were valid and invalid.
    """

    collection: str
    sealed: str
    reports: int
    invalid: int

    @property
    def content(self) -> bytes:
        """The bytes of ``opened.json``."""
        return canonical({"format": FORMAT, "version": VERSION, **asdict(self)}).encode() + b"\n"

    @property
    def sound(self) -> bool:
        """Whether every field is of its kind."""
        numbers = type(self.reports) is type(self.invalid) is int and min(self.reports, self.invalid) >= 0
        return numbers and is_digest(self.collection) and is_digest(self.sealed)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """What was opened before, if anything was."""
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InvalidInput(
                f"{str(path)!r} must be readable, since it says what was opened before, got: {error.strerror}. Check "
                f"its permissions."
            ) from None
        try:
            written = strict_json(content.decode())
            found = cls(*(written[name] for name in cls.__slots__))
        except (ValueError, KeyError, TypeError, RecursionError):
            found = None
        if found is None or not found.sound or found.content != content:
            raise InvalidInput(
                f"{str(path)!r} must be as shuffledp wrote it, since it says what was opened before, got something "
                f"else. Restore it from a copy."
            )
        return found


def check_opened(folder: Path, collection: str, sealed: str, title: str) -> None:
    """Refuse another sealed file than the one that was opened before."""
    found = OpenedFile.read(folder / OPENED)
    if found is None:
        return
    if found.collection != collection:
        raise InvalidInput(
            f"{str(folder / OPENED)!r} must be of the collection beside it, got that of {found.collection[:16]}. Keep "
            f"every collection in a folder of its own."
        )
    if found.sealed != sealed:
        raise InvalidInput(
            f"{title} must be the file that was opened before, got another: its SHA-256 begins with {sealed[:16]}, and "
            f"{str(folder / OPENED)!r} says {found.sealed[:16]}. Two releases of one collection that differ by one "
            f"report show that report: open the first file, and ask the shuffler why there are two."
        )


def remember(folder: Path, opened: OpenedFile, title: str) -> None:
    """Write down what is about to be published; whoever comes second with another file is
    refused.
    """
    with _alone(folder):
        check_opened(folder, opened.collection, opened.sealed, title)
        replace_file(folder / OPENED, lambda place: place.write_bytes(opened.content), private=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let others wait who are about to write there."""
    with unwritable(folder):
        handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network disks have no lock for a folder
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
