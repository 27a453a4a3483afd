"""What goes over HTTP between clients, shuffler and analyst.

An upload is records of one length, one after another, and nothing else: a person's envelope, or as
many as the design has messages of each, after the 16 bytes of an invitation where the collection
asks for one. It is stored whole, or refused whole.

A client or an analyst checks the shuffler's certificate, follows no redirect and keeps no cookie,
and nothing says who or which version asks. A proxy that the environment names is used, since that
is the user's choice and TLS goes through it; but never for an address of this machine.

*Invitations: whoever has one may send one report.*

A code is 16 random bytes. The organizer hands the codes out; the shuffler has only their hashes,
and marks those that were used. It keeps no note of which report came with which code; but both are
written at once, so that a store's log of writes shows it until the close, when codes are forgotten.
"""

from __future__ import annotations

import base64
import hashlib
import os
import ssl
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shuffledp.errors import Argument, InvalidInput, ShuffledpError
from shuffledp.survey.collection import Collection, is_loopback
from shuffledp.survey.envelopes import Envelopes

if TYPE_CHECKING:
    import httpx

MEDIA_TYPE = "application/octet-stream"
MOST_RECORDS = 10_000  # of one upload: envelopes, where a person sends several
LARGEST_UPLOAD = 16 << 20  # bytes


class Address:
    """Where a shuffler answers about one collection, after its own address: uploads go to
    ``reports`` (POST), ``status`` says how far it is, in coarse steps (GET), and with the token
    ``close`` ends it (POST) and ``sealed`` gives what was collected, as often as is wanted (GET).
    """

    def __init__(self, digest: str) -> None:
        answers = (f"/collections/{digest}/{name}" for name in ("reports", "status", "close", "sealed"))
        self.reports, self.status, self.close, self.sealed = answers


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


@dataclass(frozen=True, slots=True)
class Upload:
    """The records of one upload, of so many bytes each, cut from its ``body`` one by one;
    ``digest`` is that of the collection where every record begins with a code.
    """

    body: bytes
    length: int
    digest: str | None = None

    def __len__(self) -> int:
        return len(self.body) // self.length

    def __iter__(self) -> Iterator[Delivery]:
        for start in range(0, len(self.body), self.length):
            record = self.body[start : start + self.length]
            if self.digest is None:
                yield Delivery(record, None)
            else:
                yield Delivery(record[CODE_BYTES:], hash_of_code(self.digest, record[:CODE_BYTES]))

    def joined(self) -> bytes | None:
        """All envelopes, one after another, if they came so."""
        return self.body if self.digest is None else None


Records = Upload | Sequence[Delivery]


def joined(uploads: Iterable[Records]) -> bytes:
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
        object.__setattr__(self, "messages", self.collection.reporter.randomizer.messages)
        if self.messages > 1 and self.length > LARGEST_UPLOAD:
            raise InvalidInput(
                f"the messages of one person must fit into an upload of {LARGEST_UPLOAD:,} bytes, got "
                f"{self.messages:,} of {self.envelope_bytes} bytes each. Design with fewer messages."
            )

    @property
    def length(self) -> int:
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


CONNECTING = 10.0  # seconds
SHOWN = 300  # letters of a stranger's sentence


def new_web_client(
    address: str, *, seconds: float, ca: Path | None = None, transport: httpx.BaseTransport | None = None
) -> httpx.Client:
    """A client for the shuffler at an address, which waits so many seconds for each piece of an
    answer. With ``ca``, the authorities in that file are trusted, and no others.
    """
    try:
        import httpx
    except ImportError:
        raise InvalidInput(
            "httpx must be installed to ask a shuffler, got none. pip install 'shuffledp[network]'"
        ) from None
    try:
        httpx.URL(address).host  # noqa: B018  a name that is none is noticed now
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InvalidInput(
            f"shuffler must be an address that can be asked, got {address!r}: {error}. Check it letter by letter."
        ) from None
    trusted = _trusted(address, ca)
    try:
        return httpx.Client(
            verify=trusted,
            trust_env=not is_loopback(address),
            transport=transport,
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=httpx.Timeout(seconds, connect=CONNECTING),
            headers={"user-agent": "shuffledp", "accept-encoding": "identity"},
        )
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        raise InvalidInput(
            f"a proxy in the environment must be one that httpx can use, got: {error}. Look at HTTPS_PROXY and "
            f"ALL_PROXY."
        ) from None


def _trusted(address: str, ca: Path | None) -> ssl.SSLContext:
    """Whose certificates are believed: those in the file ``ca`` alone, or those httpx knows."""
    import httpx

    if ca is None and not address.startswith("https://"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # nobody's: to know all takes longer than to send a report
    if ca is None:
        return httpx.create_ssl_context()
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise InvalidInput(
            Argument("ca"),
            f" must name a file of certificates in PEM, got {str(ca)!r}: {error.strerror or error}. Check the name.",
        ) from None


def check_trust(address: str, error: BaseException | None) -> None:
    """Say so if what failed is that a certificate was not believed: another try would not help."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            raise InvalidInput(
                f"the certificate of {address} must be one that this machine trusts, got: "
                f"{printable(error.verify_message)}. Nothing was sent; for an authority of yours, add ",
                Argument("ca", "FILE"),
                ".",
            ) from None
        error = error.__cause__ or error.__context__


def compressed(answer: httpx.Response) -> bool:
    """Whether an answer is not what was asked for, its bytes as they are: of a few kilobytes that
    were compressed twice, a hostile server makes as many gigabytes as it likes.
    """
    return bool(answer.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"))


def printable(text: str) -> str:
    """What a stranger says, in one line and without signs that steer a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:SHOWN].strip()


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
            f"else. Give the file that `shuffledp survey invite --hashes` wrote."
        )
    return hashes
