"""Requests to a shuffler, as often as it takes, and answers that are believed only if they are
what a shuffler answers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from shuffledp.errors import InvalidInput, ShuffledpError
from shuffledp.storage.canonical import parsed
from shuffledp.survey.collection import FORMAT, Collection
from shuffledp.survey.wire import MEDIA_TYPE, Address, Refused, check_trust, compressed, new_web_client, printable

if TYPE_CHECKING:
    import httpx

TRIES = 6
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds
PATIENCE = 60.0  # seconds for what follows the headers of an answer, however slowly it drips
LONGEST_ANSWER = 1 << 20  # bytes
LATER = (408, 425, 429, 500, 502, 503, 504)  # what may be otherwise at the next try


class Unsent(ShuffledpError):
    """A report was not acknowledged; it waits in the outbox, and is sent by the same command."""


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: httpx.Headers
    content: bytes

    def facts(self) -> dict[str, Any] | None:
        """The object of JSON that it is, if it is one and says so."""
        if self.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return None
        found = parsed(self.content)
        return found if isinstance(found, dict) else None


@dataclass(frozen=True, slots=True)
class Courier:
    """A connection to the shuffler of a collection; several threads may use it, until it is
    ``ended``.
    """

    collection: Collection
    web: httpx.Client
    ended: Event = field(default_factory=Event)

    @classmethod
    def to(
        cls, collection: Collection, *, ca: Path | None = None, transport: httpx.BaseTransport | None = None
    ) -> Self:
        """Connect when the first request is made; with ``ca``, nothing is trusted but the
        authorities in that file.
        """
        return cls(collection, new_web_client(collection.shuffler, seconds=30.0, ca=ca, transport=transport))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.web.close()

    def greet(self) -> None:
        """Refuse a shuffler that collects something else."""
        expected = self.collection.content
        answer = self._asked("GET", "/collection.json", longest=max(len(expected) + 1, LONGEST_ANSWER))
        if answer.status == 200 and answer.content == expected:
            return
        if (answer.facts() or {}).get("format") == FORMAT:
            raise InvalidInput(
                f"the shuffler must collect for {self.collection.digest}, got another collection at "
                f"{self.collection.shuffler}. Nothing was sent: get the file of the collection that is under way."
            )
        raise self._no_shuffler(answer)

    def deliver(self, body: bytes, count: int) -> int:
        """Have ``count`` records acknowledged; return how many were not there before. What the
        shuffler refuses is ``Refused``, and all that is no answer of a shuffler, ``Unsent``.
        """
        answer = self._asked("POST", Address(self.collection.digest).reports, body)
        facts = answer.facts() or {}
        if answer.status in (200, 201):
            reports, new = facts.get("reports"), facts.get("new")
            if type(reports) is type(new) is int and reports == count and 0 <= new <= count:
                return new
            raise self._no_shuffler(answer)
        sentence, at = facts.get("error"), facts.get("at")
        if not isinstance(sentence, str) or (at is not None and (type(at) is not int or not 0 <= at < count)):
            raise self._no_shuffler(answer)
        raise Refused(answer.status, printable(sentence), at=at)

    def pause(self, seconds: float) -> None:
        """Wait, unless somebody ends it."""
        self.ended.wait(seconds)

    def _asked(self, method: str, path: str, body: bytes | None = None, *, longest: int = LONGEST_ANSWER) -> Answer:
        """The answer, if there is one that is more than "later"."""
        import httpx

        trouble, wait = "", FIRST_WAIT
        for left in reversed(range(TRIES)):
            asked: float | None = None
            try:
                answer = self._answer(method, path, body, longest)
            except httpx.RequestError as error:
                check_trust(self.collection.shuffler, error)
                trouble = f"could not be reached: {printable(str(error)) or type(error).__name__}"
            except httpx.InvalidURL as error:
                raise InvalidInput(
                    f"shuffler must be an address that can be asked, got {self.collection.shuffler!r}: {error}."
                ) from None
            else:
                if answer.status not in LATER:
                    return answer
                said, asked = (answer.facts() or {}).get("error"), _seconds(answer.headers.get("retry-after"))
                trouble = f"is not ready: {printable(said) if isinstance(said, str) else f'status {answer.status}'}"
            if asked is not None and asked > LONGEST_WAIT:
                trouble = f"{trouble.rstrip('.')}; it asks to come back in {asked:g} s"
                break
            if left:
                self.pause((wait if asked is None else asked) + wait * random.random())  # not all at the same moment
                wait = min(2.0 * wait, LONGEST_WAIT / 2.0)
            if self.ended.is_set():
                break
        raise Unsent(f"the shuffler at {self.collection.shuffler} {trouble.rstrip('.')}.")

    def _answer(self, method: str, path: str, body: bytes | None, longest: int) -> Answer:
        import httpx

        kind = {} if body is None else {"content-type": MEDIA_TYPE}
        content = bytearray()
        with self.web.stream(method, self.collection.shuffler + path, content=body, headers=kind) as answer:
            if compressed(answer):
                return Answer(answer.status_code, answer.headers, b"")
            began = monotonic()  # an upload may take longer than its answer may
            for piece in answer.iter_bytes():
                content += piece
                if len(content) >= longest:
                    break
                if monotonic() - began > PATIENCE:
                    raise httpx.ReadTimeout("the answer takes too long")
            return Answer(answer.status_code, answer.headers, bytes(content[:longest]))

    def _no_shuffler(self, answer: Answer) -> Unsent:
        kind = printable(answer.headers.get("content-type", "nothing in particular"))
        return Unsent(
            f"what answers at {self.collection.shuffler} is no shuffler of this collection (status {answer.status}, "
            f"{kind}), so nothing counts as sent. Perhaps a network asks you to log in first."
        )


def _seconds(text: str | None) -> float | None:
    """What Retry-After asks for, if it is a number."""
    return float(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None
