"""What the analyst asks of the shuffler: how far is it, close it, fetch what was collected.

No redirect is followed, or the token would go wherever somebody points; certificates are checked,
and a token goes over TLS or stays on this machine.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shuffledp.errors import Argument, InvalidInput, ShuffledpError
from shuffledp.storage.canonical import parsed
from shuffledp.storage.files import check_new_file, replace_file
from shuffledp.survey.collection import LONGEST_FILE, Collection, is_loopback, is_web_address, read_collection
from shuffledp.survey.envelopes import Envelopes, SealedHeader, open_sealed
from shuffledp.survey.shuffler.app import read_token
from shuffledp.survey.wire import Address, check_trust, compressed, new_web_client, printable

if TYPE_CHECKING:
    import httpx

TOKEN_VARIABLE = "SHUFFLEDP_TOKEN"
ANSWERING = 60.0  # seconds: closing rewrites the whole store
LONGEST_ANSWER = 1 << 20  # bytes, but for what was collected
Tick = Callable[[int], object]


class Unanswered(ShuffledpError):
    """Nothing that is a shuffler's answer came back; whatever was asked may be asked again."""


@dataclass(frozen=True)
class Analyst:
    """Asks the shuffler at ``url``, whose ``collection`` is the pinned one, or the one that it
    names itself. ``token`` is needed to close and to fetch; ``ca`` is a file of the authorities
    whose certificates are trusted, instead of the system's.
    """

    url: str
    pinned: Collection | None = None
    token: str | None = field(default=None, repr=False)
    ca: Path | None = None
    transport: httpx.BaseTransport | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", str(self.url).rstrip("/"))
        if not is_web_address(self.url):
            raise InvalidInput(
                f"URL must be the shuffler's address, got {self.url[:80]!r}. Write it as in https://shuffle.example.org"
            )
        if not self.url.startswith("https://") and not is_loopback(self.url):
            raise InvalidInput(
                f"URL must begin with https://, or be of this machine, got {self.url!r}: the token would go for "
                f"everybody to read. Put a proxy with TLS in front of the shuffler."
            )

    @classmethod
    def of(cls, url: str, *, collection: Path | None = None, token: Path | None = None, ca: Path | None = None) -> Self:
        """With a collection and a token in files; without a file, the token of the environment."""
        secret = os.environ.get(TOKEN_VARIABLE) or None if token is None else read_token(token)
        return cls(url, None if collection is None else read_collection(collection), secret, ca)

    @cached_property
    def collection(self) -> Collection:
        """The collection that this is about."""
        if self.pinned is not None:
            return self.pinned
        content = self._asked("GET", "/collection.json", longest=LONGEST_FILE)
        return Collection.of_bytes(content, f"what {self.url} collects")

    def status(self) -> dict[str, Any]:
        """How far the collection is: its state, and in coarse steps how many reports it has."""
        facts = self._facts(self._asked("GET", Address(self.collection.digest).status))
        numbers = ("reports", "step", "promise", "most")
        if not isinstance(state := facts.get("state"), str) or not all(_is_count(facts.get(name)) for name in numbers):
            raise self._strange("another answer than a shuffler gives")
        return facts | {"state": printable(state)}

    def close(self) -> int:
        """End the collection, for good; return how many reports it has. To close it again changes
        nothing.
        """
        facts = self._facts(self._asked("POST", Address(self.collection.digest).close, headers=self._bearer()))
        if not _is_count(facts.get("reports")):
            raise self._strange("another answer than a shuffler gives")
        return int(facts["reports"])

    def fetch(self, out: Path, *, force: bool = False, tick: Tick | None = None) -> SealedHeader:
        """Write what was collected to a file: all of it, or nothing. It may be fetched again, and
        is the same then; other bytes than a file that stands there are refused.
        """
        check_new_file(out, replace=force)
        earlier = _sha256(out) if out.exists() and self._fetched_before(out) else None
        found: list[SealedHeader] = []

        def fill(place: Path) -> None:
            self._download(place, tick)
            found.append(self._check_fetched(place))
            if earlier not in (None, _sha256(place)):
                raise InvalidInput(
                    f"the shuffler must release the same bytes every time, got others than those in {str(out)!r}. Open "
                    f"the first ones, and ask whoever runs the shuffler why there are two."
                )

        replace_file(out, fill, private=True)
        return found[0]

    def _fetched_before(self, path: Path) -> bool:
        try:
            return open_sealed(path).header.collection == self.collection.digest
        except InvalidInput:
            return False

    def _download(self, place: Path, tick: Tick | None) -> None:
        length, most = Envelopes(self.collection).length, self.collection.design.n
        count = self.collection.reporter.randomizer.most_messages(most)
        room = len(SealedHeader.of(self.collection.digest, count, length, most).content) + count * length
        with (
            self._answer("GET", Address(self.collection.digest).sealed, self._bearer()) as answer,
            place.open("wb") as file,
        ):
            for piece in answer.iter_bytes():
                room -= len(piece)
                if room < 0:
                    raise self._strange(f"more bytes than the {most:,} reports that this collection can have")
                before = file.tell()
                file.write(piece)
                if tick is not None:
                    tick(file.tell() // length - before // length)

    def _check_fetched(self, place: Path) -> SealedHeader:
        """Refuse what is not the whole release of this collection."""
        try:
            sealed = open_sealed(place)
            sealed.check_order()
        except InvalidInput as error:
            raise self._strange(str(error).replace(repr(str(place)), "what came").partition(". ")[0]) from None
        header = sealed.header
        if (header.collection, header.length) != (self.collection.digest, Envelopes(self.collection).length):
            raise self._strange("the reports of another collection")
        return header

    # ---- HTTP

    def _bearer(self) -> dict[str, str]:
        if self.token is None:
            raise InvalidInput(
                Argument("token"),
                f" must name the file that `shuffledp survey serve` made, got none. Copy it from the shuffler, or put "
                f"the token into the environment: {TOKEN_VARIABLE}.",
            )
        if not re.fullmatch("[!-~]+", self.token):
            raise InvalidInput(f"{TOKEN_VARIABLE} must hold a token, in one line, got something else. Copy it again.")
        return {"authorization": f"Bearer {self.token}"}

    def _asked(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, longest: int = LONGEST_ANSWER
    ) -> bytes:
        with self._answer(method, path, headers) as answer:
            return self._read(answer, longest)

    def _read(self, answer: httpx.Response, longest: int) -> bytes:
        content = b""
        for piece in answer.iter_bytes():
            content += piece
            if len(content) > longest:
                raise self._strange("an endless answer")
        return content

    @contextmanager
    def _answer(self, method: str, path: str, headers: dict[str, str] | None = None) -> Iterator[httpx.Response]:
        """What comes back, if it is what was asked for; else a sentence."""
        web = new_web_client(self.url, seconds=ANSWERING, ca=self.ca, transport=self.transport)
        import httpx

        try:
            with web, web.stream(method, self.url + path, headers=headers) as answer:
                if compressed(answer):
                    raise self._strange("a compressed answer, which nobody asked for")
                if answer.status_code != 200:
                    raise self._refused(answer)
                yield answer
        except httpx.TimeoutException:
            raise Unanswered(
                f"the shuffler at {self.url} must answer in time, got nothing for too long. Ask again later: nothing "
                f"is lost."
            ) from None
        except httpx.RequestError as error:
            raise self._unreached(error) from None

    def _facts(self, content: bytes) -> dict[str, Any]:
        facts = parsed(content)
        if not isinstance(facts, dict):
            raise self._strange("another answer than a shuffler gives")
        return facts

    def _refused(self, answer: httpx.Response) -> ShuffledpError:
        """A refusal in the shuffler's own words, or what else answers there."""
        status = answer.status_code
        if answer.has_redirect_location:
            return Unanswered(
                f"the shuffler at {self.url} must answer itself, got a redirect to "
                f"{printable(answer.headers['location'])!r}, which is not followed. If you trust it, give that one."
            )
        try:
            sentence = self._facts(self._read(answer, LONGEST_ANSWER)).get("error")
        except Unanswered:
            sentence = None
        if not isinstance(sentence, str):
            return self._strange(f"status {status} and no word of a shuffler")
        kind = Unanswered if status >= 500 or status == 429 else InvalidInput
        return kind(f"the shuffler at {self.url} refused it: {printable(sentence)}")

    def _unreached(self, error: BaseException) -> ShuffledpError:
        check_trust(self.url, error)
        return Unanswered(
            f"the shuffler at {self.url} must answer, got: {printable(str(error)) or type(error).__name__}. Check "
            f"that it runs, and ask again: nothing is lost."
        )

    def _strange(self, what: str) -> Unanswered:
        return Unanswered(
            f"{self.url} must answer as the shuffler of collection {self.collection_name}, got {what}. Check the "
            f"address; nothing was written."
        )

    @property
    def collection_name(self) -> str:
        """Its digest in short, as far as it is known."""
        known = self.pinned or self.__dict__.get("collection")
        return "that it names" if known is None else known.digest[:16]


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _sha256(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
