"""A shuffler that is a function: it keeps the rules of a real one, notes all that ever came, and
says what it is told to say first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import httpx

from shuffledp.survey.collection import Collection
from shuffledp.survey.wire import Address, Uploads

Said = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]
HTML = httpx.Response(200, html="<html>Welcome to our network. Log in.</html>")


def later(status: int, wait: int | None = None) -> httpx.Response:
    headers = {} if wait is None else {"retry-after": str(wait)}
    return httpx.Response(status, json={"error": "come back later."}, headers=headers)


class Pretended:
    """``first`` is what it says to the first uploads, before it becomes honest; with ``codes``, the
    hashes that it knows.
    """

    def __init__(self, collection: Collection, *first: Said, codes: Iterable[bytes] | None = None) -> None:
        self.collection, self.uploads = collection, Uploads(collection)
        self.first, self.greeting = list(first), httpx.Response(200, content=collection.content)
        self.greeting.headers["content-type"] = "application/json"
        self.unused = set(codes or ())
        self.used: set[bytes] = set()
        self.envelopes: set[bytes] = set()
        self.seen: set[bytes] = set()  # every envelope that was ever sent, acknowledged or not
        self.requests: list[httpx.Request] = []

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self.answer)

    @property
    def posted(self) -> int:
        return sum(each.method == "POST" for each in self.requests)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.method == "GET":
            assert request.url.path == "/collection.json"
            return self.greeting
        assert request.url.path == Address(self.collection.digest).reports
        assert request.headers["content-type"] == "application/octet-stream"
        deliveries = self.uploads.read(request.content)
        self.seen |= {each.envelopes for each in deliveries}
        if self.first:
            said = self.first.pop(0)
            if isinstance(said, Exception):
                raise said
            return said if isinstance(said, httpx.Response) else said(request)
        return self.honest(request)

    def honest(self, request: httpx.Request) -> httpx.Response:
        deliveries = self.uploads.read(request.content)
        fresh = {each.envelopes: each.code for each in deliveries if each.envelopes not in self.envelopes}
        for at, (envelope, code) in enumerate(deliveries):
            if self.collection.codes and envelope in fresh and code not in self.unused:
                status, word = (409, "used") if code in self.used else (403, "unknown")
                return httpx.Response(status, json={"error": f"this code is {word}.", "at": at})
        spent = {code for code in fresh.values() if code is not None}
        self.unused -= spent
        self.used |= spent
        self.envelopes |= set(fresh)
        facts: dict[str, Any] = {"reports": len(deliveries), "new": len(fresh)}
        return httpx.Response(201 if fresh else 200, json=facts)

    def lose_answer(self, request: httpx.Request) -> httpx.Response:
        """Stored, and the connection breaks before the answer."""
        self.honest(request)
        raise httpx.ReadError("the connection broke")
