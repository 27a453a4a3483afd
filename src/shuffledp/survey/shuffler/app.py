"""What the shuffler answers to which request. Nothing here knows how envelopes are stored, or could
open one.

An answer is facts, a file or a refusal, with headers that allow a browser nothing but what these
pages need. The pages and their parts are those that the package ships: all in memory, and nothing
else can be asked for. Only the holder of the token may close a collection and fetch what it holds.
How much may be asked is limited: the requests of one address, and the bytes of all of them
together.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import logging
import os
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shuffledp.storage.files import first_file, read_secret
from shuffledp.survey.collection import SKEW, Collection
from shuffledp.survey.envelopes import SealedHeader
from shuffledp.survey.shuffler.metrics import Metrics, Steps, outlook
from shuffledp.survey.shuffler.writer import Writer
from shuffledp.survey.stores.store import Stocked
from shuffledp.survey.wire import MEDIA_TYPE, Refused, Uploads

TOKEN_BYTES = 32


class Token:
    """A secret that is compared without telling how much of a guess was right."""

    def __init__(self, text: str) -> None:
        self._hash = hashlib.sha256(text.encode()).digest()

    def __repr__(self) -> str:
        return "<Token>"  # a log or a traceback shows no more

    def admits(self, header: str | None) -> bool:
        """Whether the header Authorization of a request brings it."""
        scheme, _, given = (header or "").partition(" ")
        found = hashlib.sha256(given.strip().encode(errors="surrogateescape")).digest()
        return hmac.compare_digest(found, self._hash) and scheme.lower() == "bearer"


def made_token(path: Path) -> str:
    """The token in a file, for its owner alone; if there is no file, a new one."""
    if not os.path.lexists(path):
        text = secrets.token_hex(TOKEN_BYTES)
        first_file(path, lambda place: place.write_text(text + "\n", encoding="ascii"))  # several may start at once
    return read_token(path)


def read_token(path: Path) -> str:
    """The token in a file that nobody but its owner may read."""
    again = "start the shuffler again, which makes a new one."
    return read_secret(
        path,
        2 * TOKEN_BYTES,
        what="the shuffler's token",
        whence="Name the file that `shuffledp survey serve` made when it first started.",
        instead=f"remove it, and {again}",
        damaged=f"Remove it, and {again}",
    )


MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class WebFile:
    """What is sent, as what, and the tag by which a browser knows that it has it."""

    content: bytes
    media_type: str

    @property
    def tag(self) -> str:
        """A strong ETag."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


@cache
def web_files() -> Mapping[str, WebFile]:
    """Every file that a browser may load, by its name."""
    folder = files("shuffledp.survey") / "web"
    found = {}
    for each in folder.iterdir():
        suffix = "." + each.name.rpartition(".")[2]
        if suffix in MEDIA_TYPES:
            found[each.name] = WebFile(each.read_bytes(), MEDIA_TYPES[suffix])
    return found


HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=(), interest-cohort=()",
}
RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
NOT_KEPT = {"cache-control": "no-store"}


def answer(facts: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Facts as JSON, for nobody to keep."""
    content = json.dumps(facts, allow_nan=False, separators=(",", ":"))
    return Response(content, status, NOT_KEPT | dict(headers or {}), "application/json")


def kept(request: Request, file: WebFile) -> Response:
    """A file that a browser may keep, if it asks every time whether it is still the same."""
    headers = {"etag": file.tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.media_type)


def refusal(refused: Refused) -> Response:
    """Why a request is refused."""
    return answer(refused.as_json(), status=refused.status, headers=_waiting(refused))


def last_words(refused: Refused) -> bytes:
    """The same as it goes over the wire where there is no request to answer; nothing follows."""
    body = json.dumps(refused.as_json()).encode()
    headers = HEADERS | NOT_KEPT | _waiting(refused)
    headers |= {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    first = f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}"
    return "\r\n".join([first, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode() + body


def _waiting(refused: Refused) -> dict[str, str]:
    if refused.status == HTTPStatus.UNAUTHORIZED:
        return {"www-authenticate": "Bearer"}
    return {} if refused.wait is None else {"retry-after": str(refused.wait)}


REMEMBERED = 60.0  # seconds that an address is known at least, as a number that only this process understands
MOST_ADDRESSES = 50_000
NETWORK_BITS = 64  # of an IPv6 address: what one customer of a provider has


class Rates:
    """At most ``rate`` requests a second from an address, after ``burst`` at once; a rate of 0 sets
    no limit.

    Addresses are kept as keyed hashes, under a key of this process, and for two minutes at most.
    """

    def __init__(self, rate: float, burst: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self.clock = rate, burst, clock
        self._key = os.urandom(32)
        self._now: dict[bytes, tuple[float, float]] = {}
        self._before: dict[bytes, tuple[float, float]] = {}
        self._turned = clock()

    def __len__(self) -> int:
        return len(self._now) + len(self._before)

    def wait(self, address: str) -> float:
        """How many seconds this address must wait before it may ask again; 0 if it may now."""
        if not self.rate:
            return 0.0
        key, now = self._hash(address), self.clock()
        if now - self._turned >= REMEMBERED or len(self._now) >= MOST_ADDRESSES:
            self._now, self._before, self._turned = {}, self._now, now
        left, then = self._now.get(key) or self._before.get(key) or (self.burst, now)
        left = min(self.burst, left + (now - then) * self.rate)
        allowed = left >= 1.0
        self._now[key] = (left - 1.0 if allowed else left, now)
        return 0.0 if allowed else (1.0 - left) / self.rate

    def _hash(self, address: str) -> bytes:
        return hashlib.blake2b(network_of(address), key=self._key, digest_size=16).digest()


class Room:
    """Bytes of uploads that may be in memory at once, at most half of them of one address: nobody
    can take all of it by sending many uploads slowly.
    """

    def __init__(self, most: int) -> None:
        self.most, self.taken = most, 0
        self._of: Counter[bytes] = Counter()

    @contextmanager
    def share(self, address: str) -> Iterator[Callable[[int], None]]:
        """Call what this gives for every piece that arrives; all of it is given back at the end,
        and the address forgotten.
        """
        own, whose = 0, network_of(address)

        def take(size: int) -> None:
            nonlocal own
            if self.taken + size > self.most or self._of[whose] + size > self.most // 2:
                raise Refused(503, "the shuffler has too much to do now. Send the same bytes again later.", wait=5)
            self.taken += size
            self._of[whose] += size
            own += size

        try:
            yield take
        finally:
            self.taken -= own
            self._of[whose] -= own
            if not self._of[whose]:
                del self._of[whose]


def network_of(address: str) -> bytes:
    """Whom an address belongs to."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address.encode(errors="replace")
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return parsed.packed if parsed.version == 4 else parsed.packed[: NETWORK_BITS // 8]


LOG = logging.getLogger(__name__)
FRESH = 1.0  # seconds for which the store is not asked again how much it holds
OPEN, EARLY, EXPIRED, CLOSED = "open", "not open yet", "expired", "closed"
WORDS = {
    404: "there is nothing at this address. Check it, letter by letter.",
    405: "this address must be asked by another method, got one that it does not know. Nothing was changed.",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be asked: ``rate`` requests a second of one address, after ``burst`` at once (0: as
    many as it likes), and ``room`` bytes of uploads in memory. With ``proxied``, addresses are
    those that a reverse proxy names.
    """

    rate: float = 50.0
    burst: float = 200.0
    room: int = 64 << 20
    proxied: bool = False


@dataclass(eq=False)
class Shuffler:
    """A collection that is open to the network: call it as an ASGI application."""

    collection: Collection
    writer: Writer
    token: Token
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self.uploads = Uploads(self.collection)
        self.steps = Steps(self.collection.design.honest)
        self.metrics = Metrics(self.steps)
        self.room = Room(self.limits.room)
        self._rates, self._guesses = Rates(self.limits.rate, self.limits.burst), Rates(1 / 12, 5)
        self._stocked: tuple[float, Stocked] | None = None
        self._outlooks: dict[int, dict[str, Any]] = {}
        self._thinking = asyncio.Lock()

    # ---- what is asked of a running shuffler

    async def upload(self, request: Request) -> Response:
        """Reports, one or many."""
        self._check_collection(request)
        self._check_media_type(request)
        self._check_open()
        with self.room.share(self.address(request.scope)) as take:
            body = await self._body(request, take)
            added = await self.writer.add(self.uploads.read(body))
        return answer(added._asdict(), status=201 if added.new else 200)

    async def status(self, request: Request) -> Response:
        """How far the collection is, in steps."""
        self._check_collection(request)
        return answer(self._told(await self._stock()))

    async def close(self, request: Request) -> Response:
        """The end of the collection."""
        self._check_token(request)
        self._check_collection(request)
        honest = self.collection.design.honest
        stocked = await self.writer.call(lambda: self.writer.store.close(honest))
        self._stocked = None
        if not stocked.closed:
            raise Refused(409, self._why_open())
        LOG.info("the collection is closed")
        return answer({"state": CLOSED, "reports": stocked.reports})

    async def sealed(self, request: Request) -> Response:
        """All envelopes, as often as they are asked for."""
        self._check_token(request)
        self._check_collection(request)
        store = self.writer.store
        stocked = await self.writer.call(store.stock)
        if not stocked.closed:
            raise Refused(409, "the collection must be closed before it is fetched, got an open one. Close it first.")
        header = self._header(stocked)
        size = len(header.content) + header.count * header.length
        headers = NOT_KEPT | {"content-length": str(size)}
        return StreamingResponse(self._released(header), headers=headers, media_type=MEDIA_TYPE)

    def _header(self, stocked: Stocked) -> SealedHeader:
        digest, length = self.collection.digest, self.uploads.envelope_bytes
        if stocked.released is None:
            return SealedHeader.of(digest, stocked.reports * self.uploads.messages, length)
        return SealedHeader.of(digest, stocked.released, length, stocked.reports)

    async def _released(self, header: SealedHeader) -> AsyncIterator[bytes]:
        yield header.content
        blocks = self.writer.store.sealed()
        while block := await self.writer.call(lambda: next(blocks, b"")):
            yield block

    async def outlook(self, request: Request) -> Response:
        """What the reports so far would give, and whether the collection may be closed."""
        self._check_token(request)
        self._check_collection(request)
        stocked = await self._stock()
        shown = self.steps.shown(stocked.reports)
        async with self._thinking:
            if shown not in self._outlooks:
                self._outlooks[shown] = await asyncio.to_thread(outlook, self.collection.design, shown)
        enough = stocked.reports >= self.collection.design.honest
        why = None if enough or stocked.closed else self._why_open()
        return answer(
            self._told(stocked)
            | self._outlooks[shown]
            | {"promised": self.collection.design.epsilon, "may_close": enough and not stocked.closed, "why": why}
        )

    async def health(self, request: Request) -> Response:
        """Whether the store answers."""
        await self._stock()
        return answer({"healthy": True})

    async def counts(self, request: Request) -> Response:
        """Metrics."""
        stocked = await self._stock()
        text = self.metrics.lines(stocked.reports, closed=stocked.closed)
        return Response(text, headers=NOT_KEPT, media_type="text/plain; version=0.0.4; charset=utf-8")

    async def file(self, request: Request) -> Response:
        """The collection itself."""
        return kept(request, WebFile(self.collection.content, "application/json"))

    async def page(self, request: Request) -> Response:
        """A page, or a part of one."""
        name = {"/": "participant.html", "/operator": "operator.html"}.get(request.scope["path"])
        found = web_files().get(name or request.path_params["name"])
        if found is None or (name is None and found.media_type.startswith("text/html")):
            raise HTTPException(404)
        return kept(request, found)

    # ---- parts of the answers

    async def _body(self, request: Request, take: Callable[[int], None]) -> bytes:
        """The body of an upload, as long as one may be, and not a byte more."""
        too_long = Refused(
            413, f"an upload must hold at most {self.uploads.most:,} reports, got more. Send fewer at once."
        )
        told = request.headers.get("content-length", "0")
        if not told.isdecimal() or int(told[:20]) > self.uploads.most_bytes:
            raise too_long
        body = bytearray()
        try:
            async for piece in request.stream():
                if len(body) + len(piece) > self.uploads.most_bytes:
                    raise too_long
                take(len(piece))
                body += piece
        except ClientDisconnect:
            raise Refused(400, "an upload must arrive whole, got a part of one. Send the same bytes again.") from None
        return bytes(body)

    async def _stock(self) -> Stocked:
        now = time.monotonic()
        if self._stocked is None or now - self._stocked[0] > FRESH:
            self._stocked = (now, await self.writer.call(self.writer.store.stock))
        return self._stocked[1]

    def _told(self, stocked: Stocked) -> dict[str, Any]:
        design = self.collection.design
        facts = {"reports": self.steps.shown(stocked.reports), "step": self.steps.step}
        state = CLOSED if stocked.closed else self._state()
        return {
            "collection": self.collection.digest,
            "state": state,
            **facts,
            "promise": design.honest,
            "most": design.n,
        }

    def _state(self) -> str:
        """Whether reports are taken now, by the clock; ours and a client's may differ a little."""
        now, opens, closes = self.clock(), self.collection.opens, self.collection.closes
        if opens is not None and now < opens - SKEW:
            return EARLY
        return EXPIRED if closes is not None and now >= closes + SKEW else OPEN

    def _why_open(self) -> str:
        return (
            f"a collection must have the {self.collection.design.honest:,} reports of its promise before it is closed, "
            f"got fewer. Wait for more."
        )

    def _check_open(self) -> None:
        state = self._state()
        if state == EARLY:
            raise Refused(425, "this collection has not opened yet. Nothing was stored: send it after the opening.")
        if state == EXPIRED:
            raise Refused(410, "this collection has ended, and takes no more reports. What was acknowledged counts.")

    def _check_collection(self, request: Request) -> None:
        if request.path_params["digest"] != self.collection.digest:
            raise Refused(
                404,
                f"the collection must be the one that this shuffler serves, {self.collection.digest}, got another. "
                f"Check the address, and the collection file.",
            )

    def _check_media_type(self, request: Request) -> None:
        given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if given != MEDIA_TYPE or request.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused(415, f"an upload must be {MEDIA_TYPE}, not compressed, got another. Send the bytes as such.")

    def _check_token(self, request: Request) -> None:
        if self.token.admits(request.headers.get("authorization")):
            return
        if wait := self._guesses.wait(self.address(request.scope)):
            raise Refused(429, "too many wrong tokens came from this address. Wait a little.", wait=int(wait) + 1)
        raise Refused(401, "the token must be the one that this shuffler made, got another or none. Give its file.")

    def address(self, scope: Scope) -> str:
        """Whose request this is, for the limits alone."""
        if self.limits.proxied:
            named = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
            if named:
                return str(named[-1].decode("latin-1").rpartition(",")[2].strip())
        client = scope.get("client")
        return client[0] if client else ""

    # ---- the application

    @cached_property
    def application(self) -> ASGIApp:
        """All of it, as ASGI."""
        one = "/collections/{digest}"
        routes = [
            Route(f"{one}/reports", self.upload, methods=["POST"]),  # first: most requests are for this
            Route("/", self.page),
            Route("/operator", self.page),
            Route("/static/{name}", self.page),
            Route("/collection.json", self.file),
            Route("/health", self.health),
            Route("/metrics", self.counts),
            Route(f"{one}/status", self.status),
            Route(f"{one}/close", self.close, methods=["POST"]),
            Route(f"{one}/sealed", self.sealed),
            Route(f"{one}/outlook", self.outlook),
        ]
        handlers: Mapping[Any, Any] = dict.fromkeys((Refused, HTTPException), _said)
        starlette = Starlette(routes=routes, exception_handlers=handlers)
        starlette.router.redirect_slashes = False
        return starlette

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request: within the limits, with the headers that every answer has."""
        if scope["type"] != "http":
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                if self.metrics.add(message["status"]):
                    LOG.info(self.metrics.refusals())
                message["headers"] = [*message["headers"], *RAW_HEADERS]
            await send(message)

        try:
            if wait := self._rates.wait(self.address(scope)):
                words = "too many requests came from this address. Wait a little, and send the same bytes again."
                await refusal(Refused(429, words, wait=int(wait) + 1))(scope, receive, sending)
                return
            await self.application(scope, receive, sending)
        except Exception:
            LOG.exception("a request failed")
            if not begun:
                slip = Refused(500, "the shuffler failed at this request. Nothing was acknowledged: send it again.")
                await refusal(slip)(scope, receive, sending)


async def _said(_: Request, error: Exception) -> Response:
    """What is said of a request that is refused, or that nothing answers."""
    if isinstance(error, Refused):
        return refusal(error)
    assert isinstance(error, HTTPException)
    reply = refusal(Refused(error.status_code, WORDS.get(error.status_code, error.detail)))
    reply.headers.update(error.headers or {})
    return reply
