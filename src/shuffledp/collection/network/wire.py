"""What goes over HTTP between clients, shuffler and analyst.

An upload is records of one length, one after another, and nothing else: a person's envelope, or as
many as the design has messages of each, after the 16 bytes of an invitation where the collection
asks for one. It is stored whole, or refused whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

from shuffledp.collection.network.codes import CODE_BYTES, hash_of_code
from shuffledp.collection.network.collection_file import Collection
from shuffledp.collection.network.sealing import Envelopes
from shuffledp.errors import InvalidInput, ShuffledpError

__all__ = ["MEDIA_TYPE", "MOST_RECORDS", "Address", "Delivery", "Refused", "Upload", "Uploads", "joined"]

MEDIA_TYPE = "application/octet-stream"
MOST_RECORDS = 10_000  # of one upload: envelopes, where a person sends several
LARGEST_UPLOAD = 16 << 20  # bytes


@dataclass(frozen=True, slots=True)
class Address:
    """Where a shuffler answers about one collection, after its own address."""

    digest: str

    @property
    def reports(self) -> str:
        """Upload: POST."""
        return f"/collections/{self.digest}/reports"

    @property
    def status(self) -> str:
        """How far it is, in coarse steps: GET."""
        return f"/collections/{self.digest}/status"

    @property
    def close(self) -> str:
        """The end of the collection: POST, with the token."""
        return f"/collections/{self.digest}/close"

    @property
    def sealed(self) -> str:
        """What was collected: GET, with the token, as often as is wanted."""
        return f"/collections/{self.digest}/sealed"


class Refused(ShuffledpError):
    """A request that is refused: a status of HTTP, one sentence with a remedy, and the place of the
    first record that is to blame, where one is.
    """

    def __init__(self, status: int, sentence: str, *, at: int | None = None, wait: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.at, self.wait = status, sentence, at, wait

    def as_json(self) -> dict[str, Any]:
        """The body of the answer."""
        return {"error": self.sentence} | ({} if self.at is None else {"at": self.at})


class Delivery(NamedTuple):
    """The envelopes of one person, one after another, and the hash of the code that came with
    them.
    """

    envelopes: bytes
    code: bytes | None

    def apart(self, messages: int) -> list[bytes]:
        """So many envelopes, each by itself."""
        length = len(self.envelopes) // messages
        return [self.envelopes[start : start + length] for start in range(0, len(self.envelopes), length)]


class Upload(Sequence[Delivery]):
    """The records of one upload, each cut from its ``body`` when it is asked for; ``digest`` is
    that of the collection where every record begins with a code.
    """

    __slots__ = ("_body", "_digest", "_length")

    def __init__(self, body: bytes, length: int, digest: str | None = None) -> None:
        self._body, self._length, self._digest = body, length, digest

    def __len__(self) -> int:
        return len(self._body) // self._length

    @overload
    def __getitem__(self, at: int) -> Delivery: ...
    @overload
    def __getitem__(self, at: slice) -> list[Delivery]: ...
    def __getitem__(self, at: int | slice) -> Delivery | list[Delivery]:
        starts = range(0, len(self._body), self._length)[at]
        if isinstance(starts, range):
            return [self._cut(start) for start in starts]
        return self._cut(starts)

    def _cut(self, start: int) -> Delivery:
        end = start + self._length
        if self._digest is None:
            return Delivery(self._body[start:end], None)
        code = self._body[start : start + CODE_BYTES]
        return Delivery(self._body[start + CODE_BYTES : end], hash_of_code(self._digest, code))

    def joined(self) -> bytes | None:
        """All envelopes, one after another, if they came so."""
        return self._body if self._digest is None else None


def joined(uploads: Iterable[Sequence[Delivery]]) -> bytes:
    """The envelopes of some uploads, one after another."""
    return b"".join(
        (upload.joined() if isinstance(upload, Upload) else None) or b"".join(each.envelopes for each in upload)
        for upload in uploads
    )


@dataclass(frozen=True)
class Uploads:
    """How the records of a collection's uploads are written and read."""

    collection: Collection
    envelope_bytes: int = field(init=False)
    messages: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "envelope_bytes", Envelopes(self.collection).length)
        object.__setattr__(self, "messages", self.collection.encoder.randomizer.messages)
        if self.messages > 1 and self.length > LARGEST_UPLOAD:
            raise InvalidInput(
                f"the messages of one person must fit into an upload of {LARGEST_UPLOAD:,} bytes, got "
                f"{self.messages:,} of {self.envelope_bytes} bytes each. Design with fewer messages."
            )

    @property
    def length(self) -> int:
        """The length of a record."""
        return self.messages * self.envelope_bytes + (CODE_BYTES if self.collection.codes else 0)

    @property
    def most(self) -> int:
        """How many records an upload may have."""
        return max(1, min(MOST_RECORDS // self.messages, LARGEST_UPLOAD // self.length))

    @property
    def most_bytes(self) -> int:
        """How long an upload may be."""
        return self.most * self.length

    def body(self, envelopes: Sequence[bytes], codes: Sequence[bytes] | None = None) -> bytes:
        """The upload of some people's envelopes, with the code of each person."""
        if codes is None:
            return b"".join(envelopes)
        starts = range(0, len(envelopes), self.messages)
        records = (b"".join(envelopes[start : start + self.messages]) for start in starts)
        return b"".join(code + record for code, record in zip(codes, records, strict=True))

    def read(self, body: bytes) -> Upload:
        """The records of an upload; one that is empty, too long, or no whole number of records is
        refused. What is inside an envelope, nobody here can know.
        """
        if len(body) > self.most_bytes:
            raise Refused(
                413, f"an upload must hold at most {self.most:,} reports, got {len(body):,} bytes. Send fewer at once."
            )
        if not body or len(body) % self.length:
            raise Refused(
                400,
                f"an upload must be one or more records of {self.length} bytes{self._several}, got {len(body):,} "
                f"bytes. Send reports of this collection, whole.",
            )
        return Upload(body, self.length, self.collection.digest if self.collection.codes else None)

    @property
    def _several(self) -> str:
        return f", {self.messages:,} messages of a person" if self.messages > 1 else ""
