"""Messages in envelopes that the analyst's key alone opens, and the file of them that a shuffler
releases. An envelope holds a report, or one part of it where a person sends several.

HPKE (RFC 9180) in base mode: X25519, HKDF-SHA256, AES-128-GCM. An envelope is the encapsulated key,
the encrypted message and its tag; nothing else, so that all of a collection have one length. It is
sealed for the digest of its collection: in another one, or another round, it does not open.

The file begins with a line that says what it is; then come the envelopes, each once, in the order
of their bytes. The same envelopes give the same file, in whatever order they came. Where the
shuffler has dropped some and added dummies, the line says how many people reported (version 2).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.randomizer import Form
from shuffledp.schema import NEEDED, Count, Digest, File, Some, Whole, part
from shuffledp.storage.canonical import Line
from shuffledp.storage.files import check_new_file, read_secret, replace_file
from shuffledp.survey.collection import Collection

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    from cryptography.hazmat.primitives.hpke import Suite

LABEL = b"shuffledp sealed report 1"  # another number, should any byte of an envelope ever mean something else
KEY_BYTES, TAG_BYTES = 32, 16
OVERHEAD = KEY_BYTES + TAG_BYTES


def suite() -> Suite:
    """The one choice of algorithms."""
    try:
        from cryptography.hazmat.primitives import hpke
    except ImportError:
        raise InvalidInput(
            "cryptography must be of version 47 or later to seal reports, got an earlier one. pip install "
            "'shuffledp[network]'"
        ) from None
    return hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)


@dataclass(frozen=True, slots=True)
class AnalystKey:
    """What opens the envelopes of a collection: 32 bytes, in a file that nobody else may read."""

    secret: bytes

    def __repr__(self) -> str:
        return "<AnalystKey>"  # a log or a traceback shows no more

    @classmethod
    def new(cls) -> Self:
        """A key of fresh randomness."""
        return cls(os.urandom(KEY_BYTES))

    @property
    def private(self) -> X25519PrivateKey:
        """The key, as the cipher takes it."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        return X25519PrivateKey.from_private_bytes(self.secret)

    @property
    def public(self) -> str:
        """What the collection file says of it."""
        return self.private.public_key().public_bytes_raw().hex()

    def write(self, path: Path) -> None:
        """Write it for its owner alone; a key that stands there is never replaced."""
        check_new_file(path, lasting=True)
        replace_file(path, lambda place: place.write_text(self.secret.hex() + "\n", encoding="ascii"), private=True)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The key in a file, if nobody but its owner may read it."""
        digits = read_secret(
            path,
            2 * KEY_BYTES,
            what="the analyst's key",
            whence="Give the folder that `shuffledp survey new` wrote, on the analyst's machine.",
            instead="begin a new collection with a new key.",
            damaged="Restore it from a copy: without it no report can be read.",
        )
        return cls(bytes.fromhex(digits))


@dataclass(frozen=True)
class Envelopes:
    """How the messages of a collection are sealed and opened."""

    collection: Collection

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process goes the file of the collection."""
        return envelopes_of, (self.collection.content,)

    @cached_property
    def info(self) -> bytes:
        """What an envelope is sealed for."""
        return LABEL + bytes.fromhex(self.collection.digest)

    @cached_property
    def message_bytes(self) -> int:
        dtype, width, _ = self._form
        return dtype.itemsize * (width or 1)

    @property
    def length(self) -> int:
        return self.message_bytes + OVERHEAD

    @property
    def _form(self) -> Form:
        return self.collection.reporter.randomizer.message

    @cached_property
    def _dtype(self) -> np.dtype[Any]:
        """Numbers of a message, in an order of bytes that does not depend on the machine."""
        return self._form.dtype.newbyteorder("<")

    def seal(self, reports: NDArray[Any]) -> list[bytes]:
        """An envelope for each message of the reports: those of one person follow each other."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

        cipher, info = suite(), self.info
        key = X25519PublicKey.from_public_bytes(bytes.fromhex(self.collection.key))
        messages = np.ascontiguousarray(reports, dtype=self._dtype).reshape(-1, self._form.width or 1)
        try:
            return [cipher.encrypt(message.tobytes(), key, info) for message in messages]
        except ValueError:
            raise InvalidInput(
                f"key of a collection must be a public key that can be sealed to, got {self.collection.key}. Do not "
                f"report to it: what is sealed for it can be read by anybody."
            ) from None

    def opened(self, envelopes: Iterable[bytes], key: AnalystKey) -> NDArray[Any]:
        """The messages in those envelopes that open to the right length, in their order; a message
        may still be none that the law sends.
        """
        from cryptography.exceptions import InvalidTag

        cipher, private, info = suite(), key.private, self.info
        found = bytearray()
        for envelope in envelopes:
            try:
                plain = cipher.decrypt(envelope, private, info)
            except (InvalidTag, ValueError):
                continue
            if len(plain) == self.message_bytes:
                found += plain
        dtype, width, _ = self._form
        numbers = np.frombuffer(bytes(found), dtype=self._dtype).astype(dtype)
        return numbers if width is None else numbers.reshape(-1, width)


@lru_cache(maxsize=2)
def envelopes_of(content: bytes) -> Envelopes:
    """For the collection in a file, which is read once in a process and not for each slice."""
    return Envelopes(Collection.of_bytes(content))


FORMAT: Literal["shuffledp-sealed"] = "shuffledp-sealed"
VERSION, WITH_PEOPLE = 1, 2
LONGEST_HEADER = 1000
REMEDY = "Fetch it again: shuffledp survey fetch."


@part
class SealedHeader(Line):
    """Of which collection the envelopes are, how many, and how long each is; and of how many
    ``people``, where their number does not say that. It is the first line of the file.
    """

    called = "a file of sealed reports"

    format: Annotated[Literal["shuffledp-sealed"], NEEDED] = FORMAT
    version: Annotated[Whole, NEEDED] = VERSION
    collection: Digest
    count: Count
    length: Some
    people: Count | None = None

    @classmethod
    def of(cls, collection: str, count: int, length: int, people: int | None = None) -> Self:
        """Of a collection's envelopes."""
        version = VERSION if people is None else WITH_PEOPLE
        return cls(version=version, collection=collection, count=count, length=length, people=people)

    @classmethod
    def from_line(cls, line: bytes, title: str) -> Self:
        """Read ``content``."""
        told = b'"people"' in line
        return cls.from_bytes(line, File(title, REMEDY), version=WITH_PEOPLE if told else VERSION)


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
