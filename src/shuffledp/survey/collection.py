"""The file that everybody of a collection agrees on: what is asked, with which noise, who opens the
reports, who collects them, and when.

It is canonical JSON and a newline, and its digest is the SHA-256 of its bytes: what clients pin,
what every envelope is sealed for, and what ``sha256sum collection.json`` prints.

Rules of evolution: as for a design. A field is never removed and its meaning never changes.

It also says which addresses of a shuffler are safe to send to.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cached_property
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from unicodedata import normalize
from urllib.parse import urlsplit

from shuffledp.client import Reporter
from shuffledp.design import FORMAT as DESIGN_FORMAT
from shuffledp.design import VERSION as DESIGN_VERSION
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.schema import NEEDED, File, Text, Whole, check_format, part
from shuffledp.storage.canonical import Line

FORMAT: Literal["shuffledp-collection"] = "shuffledp-collection"
VERSION = 1
LONGEST_FILE = 1 << 26
LONGEST_QUESTION = 500
LAST_SECOND = 253_402_300_799  # the end of the year 9999
SKEW = 300  # seconds that two clocks may differ
# No sign that two readers of addresses could take for the end of different things.
WEB_ADDRESS = re.compile(r"https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?(/((?![?#@\\])[!-~])*)?")
REMEDY = "Take the file that `shuffledp survey new` wrote, unchanged."


@part
class Collection(Line):
    """One round of a design, collected over the network.

    ``key`` is the analyst's X25519 public key, in hexadecimal digits; ``opens`` and ``closes`` are
    seconds since 1970 (UTC), or None. With ``codes``, every report needs an invitation.
    """

    called = "a collection in JSON"

    format: Annotated[Literal["shuffledp-collection"], NEEDED] = FORMAT
    version: Annotated[Whole, NEEDED] = VERSION
    design: Design
    key: Text
    shuffler: Text
    round: Annotated[Whole, NEEDED] = 1
    question: Annotated[Text | None, NEEDED] = None
    opens: Annotated[Whole | None, NEEDED] = None
    closes: Annotated[Whole | None, NEEDED] = None
    codes: Annotated[bool, NEEDED] = False

    def __post_init__(self) -> None:
        for name, (sound, rule) in RULES.items():
            if not sound(value := getattr(self, name)):
                raise InvalidInput(f"{name} of a collection must be {rule}, got {str(value)[:80]!r}. {REMEDY}")
        check_format("the design of a collection", vars(self.design), DESIGN_FORMAT, DESIGN_VERSION, REMEDY)
        labels = self.design.checked().domain.names
        if len({label if label.isascii() else normalize("NFC", label) for label in labels}) < len(labels):
            raise InvalidInput(
                f"answers of a collection must look different, got two that are the same on a screen. Rename one: "
                f"nobody could tell which they choose. {REMEDY}"
            )
        if self.round > self.design.rounds:
            raise InvalidInput(
                f"round must be at most the {self.design.rounds} that the design was made for, got {self.round}. "
                f"Design more rounds, or collect an earlier one."
            )
        if self.opens is not None and self.closes is not None and self.opens >= self.closes:
            raise InvalidInput(
                f"a collection must open before it closes, got {self.opens} and {self.closes}. Choose other times."
            )

    @cached_property
    def digest(self) -> str:
        """What tells collections apart, in hexadecimal digits."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def reporter(self) -> Reporter:
        """The law of its design, ready to draw from."""
        return Reporter.of(self.design)

    @classmethod
    def of_bytes(cls, content: bytes, title: str = "the collection") -> Self:
        """The collection in a file; any other bytes than this version writes are refused."""
        return cls.from_bytes(content, File(title, REMEDY))


def read_collection(path: Path, *, digest: str | None = None) -> Collection:
    """The collection in a file, if it is one that runs, and the one with this ``digest``."""
    title = repr(str(path))
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST_FILE + 1)
    except OSError as error:
        raise InvalidInput(
            f"{title} must be a file that `shuffledp survey new` wrote, got none that can be read: "
            f"{error.strerror}. Check the name."
        ) from None
    if len(content) > LONGEST_FILE:
        raise InvalidInput(f"{title} must be at most {LONGEST_FILE:,} bytes, got more. {REMEDY}")
    collection = Collection.of_bytes(content, title)
    if digest is not None:
        check_digest(collection, digest)
    collection.reporter  # noqa: B018  a law that this version does not run is refused now
    return collection


def check_digest(collection: Collection, digest: str) -> None:
    """Refuse another collection than the one that was pinned."""
    if digest.strip().lower() != collection.digest:
        raise InvalidInput(
            f"the collection must have the digest {digest[:80]!r}, got {collection.digest}. Do not report to it: ask "
            f"whoever gave you the digest."
        )


def is_web_address(value: object) -> bool:
    """Whether this is the address of a server, and nothing more."""
    if not isinstance(value, str) or len(value) > 500 or value.endswith("/") or not WEB_ADDRESS.fullmatch(value):
        return False
    try:
        port = urlsplit(value).port
    except ValueError:
        return False
    return port is None or port > 0


def _seconds(value: object) -> bool:
    return value is None or (type(value) is int and 0 <= value <= LAST_SECOND)


def _line(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, str) and 0 < len(value) <= LONGEST_QUESTION and value.isprintable() and bool(value.strip())


# What each field must be, in words, for every field but the design.
RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "key": (
        lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None,
        "the 64 hexadecimal digits of a public key",
    ),
    "shuffler": (is_web_address, "an address such as https://shuffle.example.org, without a slash at its end"),
    "round": (lambda value: type(value) is int and value >= 1, "a whole number from 1 on"),
    "question": (_line, f"null, or a line of 1 to {LONGEST_QUESTION} printable characters"),
    "opens": (_seconds, "null, or whole seconds since 1970"),
    "closes": (_seconds, "null, or whole seconds since 1970"),
    "codes": (lambda value: isinstance(value, bool), "true or false"),
}


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own, which no network carries.

    >>> (
    ...     is_loopback("http://127.0.0.1:8000"),
    ...     is_loopback("http://[::1]"),
    ...     is_loopback("http://a.org"),
    ... )
    (True, True, False)
    """
    host = (urlsplit(address).hostname or "").rstrip(".")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"  # names below it are asked of the network by many systems


def check_address(collection: Collection) -> None:
    """Refuse a shuffler without TLS, unless it is on this machine.

    Reports are sealed, and yet: on the way somebody could read who reports and with which code,
    acknowledge what never arrived, and put another page in front of people. Browsers seal nothing
    without TLS.
    """
    address = collection.shuffler
    if not address.startswith("https://") and not is_loopback(address):
        raise InvalidInput(
            f"shuffler must be an address that begins with https://, or one of this machine, got {address!r}. Put a "
            f"proxy with TLS in front of it, or give `shuffledp survey serve` a certificate."
        )
