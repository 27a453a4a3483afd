"""What a shuffler releases: a line that says what it is, then the envelopes, each once, in the
order of their bytes. The same envelopes give the same file, in whatever order they came. Where the
shuffler has dropped some and added dummies, the line says how many people reported (version 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from shuffledp.collection.network.collection_file import is_digest
from shuffledp.errors import InvalidInput
from shuffledp.storage.canonical import canonical, strict_json

__all__ = ["SealedFile", "SealedHeader", "open_sealed"]

FORMAT, VERSION, WITH_PEOPLE = "shuffledp-sealed", 1, 2
LONGEST_HEADER = 1000
REMEDY = "Fetch it again: shuffledp collection fetch."


@dataclass(frozen=True, slots=True)
class SealedHeader:
    """Of which collection the envelopes are, how many, and how long each is; and of how many
    ``people``, where their number does not say that.
    """

    collection: str
    count: int
    length: int
    people: int | None = None

    @property
    def version(self) -> int:
        """Of the file."""
        return VERSION if self.people is None else WITH_PEOPLE

    @property
    def content(self) -> bytes:
        """The first line of the file."""
        facts = {"collection": self.collection, "count": self.count, "length": self.length}
        told = {} if self.people is None else {"people": self.people}
        return canonical({"format": FORMAT, "version": self.version, **facts, **told}).encode() + b"\n"

    @property
    def sound(self) -> bool:
        """Whether every field is of its kind: a stranger wrote them."""
        numbers = type(self.count) is type(self.length) is int and self.count >= 0 and self.length >= 1
        people = self.people is None or (type(self.people) is int and self.people >= 0)
        return numbers and people and is_digest(self.collection)

    @classmethod
    def from_line(cls, line: bytes, title: str) -> Self:
        """Read ``content``."""
        try:
            written = strict_json(line.decode())
        except (ValueError, RecursionError):
            written = None
        if not isinstance(written, dict) or written.get("format") != FORMAT:
            raise InvalidInput(f"{title} must be a file of sealed reports, got something else. {REMEDY}")
        names: tuple[str, ...] = ("collection", "count", "length")
        if (version := written.get("version")) == WITH_PEOPLE:
            names += ("people",)
        elif version != VERSION:
            raise InvalidInput(
                f"{title} must be of version {VERSION} or {WITH_PEOPLE}, got {ascii(version)[:20]}. Use the shuffledp "
                f"that wrote it."
            )
        try:
            header = cls(*(written[name] for name in names))
        except KeyError:
            header = None
        if header is None or not header.sound or header.content != line:
            raise InvalidInput(f"{title} must have a header as shuffledp writes it, got another. {REMEDY}")
        return header


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A file of envelopes whose header has been read, and whose size is what it says."""

    path: Path
    header: SealedHeader

    @property
    def start(self) -> int:
        """Where the first envelope begins."""
        return len(self.header.content)

    def envelopes(self, begin: int = 0, end: int | None = None) -> Iterator[bytes]:
        """The envelopes from number ``begin`` up to ``end``."""
        length = self.header.length
        with self.path.open("rb") as file:
            file.seek(self.start + begin * length)
            for _ in range(begin, self.header.count if end is None else end):
                yield file.read(length)

    def check_order(self) -> None:
        """Refuse envelopes that are there twice, or in an order that says something."""
        for _ in self.in_order():
            pass

    def in_order(self) -> Iterator[bytes]:
        """All envelopes, for as long as each is there once and in the order of its bytes."""
        before = b""
        for envelope in self.envelopes():
            if envelope <= before:
                raise InvalidInput(
                    f"{str(self.path)!r} must hold each report once, in the order of its bytes, got others. {REMEDY}"
                )
            before = envelope
            yield envelope


def open_sealed(path: Path) -> SealedFile:
    """The file of envelopes at a path; one that was cut or grew is refused."""
    title = repr(str(path))
    if path.exists() and not path.is_file():
        raise InvalidInput(
            f"{title} must be an ordinary file, since it is read twice, got a folder, device or pipe. {REMEDY}"
        )
    try:
        with path.open("rb") as file:
            line = file.readline(LONGEST_HEADER)
        size = path.stat().st_size
    except OSError as error:
        raise InvalidInput(
            f"{title} must be a file of sealed reports, got none that can be read: {error.strerror}. Check the name."
        ) from None
    found = SealedFile(path, SealedHeader.from_line(line, title))
    if size != found.start + found.header.count * found.header.length:
        raise InvalidInput(f"{title} must be as long as its header says, got {size:,} bytes. {REMEDY}")
    return found
