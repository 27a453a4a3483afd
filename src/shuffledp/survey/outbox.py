"""Where sealed reports wait on a device until they are acknowledged.

A report is stored before the first request, and whatever is sent comes from here: a client that
was killed, or heard no answer, sends the same bytes again and never draws again. Two reports of one
person about one value would tell more than one. When all are acknowledged, a mark stays: this
device has reported. People's values are never stored.

A file is a line of canonical JSON and the records of an upload, for their owner alone. It stands
whole or not at all, and of several processes at the same time one is the first to write it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from shuffledp.errors import Argument, InvalidInput
from shuffledp.storage.canonical import canonical, parsed
from shuffledp.storage.files import OTHERS, first_file, flush, locked, replace_file, unwritable
from shuffledp.survey.wire import Uploads

FORMAT, VERSION = "shuffledp-outbox", 1
LONGEST_HEADER = 1000
PIECE = 1 << 20  # bytes that are copied at once


def default_outbox() -> Path:
    """Where programs keep such things: under XDG_STATE_HOME, or ~/.local/state."""
    given = os.environ.get("XDG_STATE_HOME", "")
    try:
        state = Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state"
    except RuntimeError:
        raise InvalidInput(
            Argument("outbox"),
            " must be given where a user has no home, got none. Name a folder that lasts: it remembers that "
            "this device has reported.",
        ) from None
    return state / "shuffledp" / "outbox"


@dataclass(frozen=True, slots=True)
class Stored:
    """What a device has for one collection: ``waiting`` records of ``length`` bytes, after the
    ``header`` in the file ``path``; ``sent`` were acknowledged and are gone.
    """

    path: Path
    header: bytes
    sent: int
    waiting: int
    length: int

    def records(self, begin: int, end: int) -> bytes:
        """Those from ``begin`` to ``end``, one after another."""
        try:
            with self.path.open("rb") as file:
                same = file.read(len(self.header)) == self.header
                file.seek(begin * self.length, os.SEEK_CUR)
                content = file.read((end - begin) * self.length)
        except OSError:
            raise _damaged(self.path) from None
        if not same or len(content) != (end - begin) * self.length:
            raise _damaged(self.path)
        return content


@dataclass(frozen=True, slots=True)
class Outbox:
    """The place of one collection in the outbox of a device."""

    path: Path
    uploads: Uploads

    @classmethod
    def of(cls, folder: Path, uploads: Uploads) -> Self:
        """In that folder, which is made if there is none; one that others can look into is
        refused.
        """
        with unwritable(folder):
            missing = [each for each in (folder, *folder.parents) if not each.exists()]
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for each in missing:  # a folder that a power cut takes away takes its reports along
                flush(each.parent)
            status = folder.stat()
        if status.st_uid != os.geteuid() or status.st_mode & OTHERS:
            raise InvalidInput(
                f"the outbox {str(folder)!r} must be its owner's alone, got permissions "
                f"{stat.S_IMODE(status.st_mode):o}. Name a new folder, or, if nothing else is in it: chmod 700 {folder}"
            )
        return cls(folder / f"{uploads.collection.digest}.outbox", uploads)

    def alone(self) -> AbstractContextManager[bool]:
        """One process at a time; false where another is at it."""
        return locked(self.path.with_suffix(".lock"))

    def find(self) -> Stored | None:
        """What is there, if anything is."""
        try:
            with self.path.open("rb") as file:
                line, status = file.readline(LONGEST_HEADER), os.fstat(file.fileno())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InvalidInput(
                f"{str(self.path)!r} must be readable, got: {error.strerror}. It says whether this device has reported."
            ) from None
        if status.st_uid != os.geteuid() or status.st_mode & OTHERS:
            raise InvalidInput(
                f"{str(self.path)!r} must be its owner's alone, got permissions {stat.S_IMODE(status.st_mode):o}. Make "
                f"it yours: chmod 600 {self.path}"
            )
        written = parsed(line)
        sent = written.get("sent") if isinstance(written, dict) else None
        length = self.uploads.length
        waiting, rest = divmod(status.st_size - len(line), length)
        if type(sent) is not int or sent < 0 or self._header(sent) != line or rest or not (sent or waiting):
            raise _damaged(self.path)
        return Stored(self.path, line, sent, waiting, length)

    def store(self, records: Iterable[bytes]) -> Stored:
        """Keep records of the first drawing, whole; where another process was sooner, those stay,
        and these are forgotten before anybody has seen them.
        """
        first_file(self.path, lambda place: self._fill(place, 0, records))
        return self._found()

    def forget(self, stored: Stored, acknowledged: bytearray) -> Stored:
        """Forget the records that were acknowledged, where a byte is 1; of all, a mark stays."""

        def left() -> Iterator[bytes]:
            step = max(1, PIECE // stored.length)
            for begin in range(0, stored.waiting, step):
                done = acknowledged[begin : begin + step]
                piece = stored.records(begin, begin + len(done))
                places = (at * stored.length for at, each in enumerate(done) if not each)
                yield from (piece[at : at + stored.length] for at in places)

        return self._rewrite(stored.sent + acknowledged.count(1), left())

    def recode(self, stored: Stored, code: bytes) -> Stored:
        """The one report that waits, with another code: the envelope stays."""
        record = stored.records(0, 1)
        if record.startswith(code):
            return stored
        return self._rewrite(stored.sent, [code, record[len(code) :]])

    def _rewrite(self, sent: int, records: Iterable[bytes]) -> Stored:
        replace_file(self.path, lambda place: self._fill(place, sent, records), private=True)
        return self._found()

    def _fill(self, place: Path, sent: int, records: Iterable[bytes]) -> None:
        with place.open("wb") as file:
            file.write(self._header(sent))
            file.writelines(records)

    def _found(self) -> Stored:
        stored = self.find()
        assert stored is not None, "what was just written is there"
        return stored

    def _header(self, sent: int) -> bytes:
        facts = {"format": FORMAT, "version": VERSION, "collection": self.uploads.collection.digest, "sent": sent}
        return canonical(facts).encode() + b"\n"


def _damaged(path: Path) -> InvalidInput:
    return InvalidInput(
        f"{str(path)!r} must be a file that `shuffledp survey send` wrote, got other bytes. It says whether this "
        f"device has reported: if it was damaged, ask the organizer before you remove it."
    )
