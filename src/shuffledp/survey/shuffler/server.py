"""The shuffler as a process: its address, its certificate, its log, its connections, and a stop
that loses nothing.

uvicorn waits without a limit for the end of a request's headers, and for its body. Here every
connection has a moment by which the client must have sent what is waited for, so that clients that
are slow, or endless, or too many do no harm; once a second all connections are looked at.
"""

from __future__ import annotations

import asyncio
import logging
import math
import resource
import signal
import socket
import ssl
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from shuffledp.errors import InvalidInput
from shuffledp.survey.collection import is_loopback
from shuffledp.survey.shuffler.app import Shuffler, last_words, network_of
from shuffledp.survey.wire import Refused

LONGEST_HEAD = 1 << 15  # bytes of a request before its body
MOST_PIPELINED = 16  # requests that wait on one connection for the answer to another
FAREWELL = 0.5  # seconds
TICKS = 10  # of uvicorn, to a second


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds for a request's headers, for its body, and for an answer that nobody reads; how many
    connections there may be, and how many of them from one address, if that is limited.
    """

    head: float = 10.0
    body: float = 60.0
    unread: float = 60.0
    connections: int = 1000
    of_one: int | None = None


class PatientConnection(HttpToolsProtocol):
    """A connection that is given up when its client keeps it waiting."""

    def __init__(self, *arguments: Any, patience: Patience, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.patience = patience
        self.due: float | None = None  # when what is waited for must be there
        self.unread_since: float | None = None
        self.network: bytes | None = None  # whose connection it is
        self._head: int | None = None  # bytes of headers that are not complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.network = network_of(self.client[0]) if self.client else None
        self.due = self.loop.time() + self.patience.head
        if self._too_many():
            self._end(503, "the shuffler has too many connections now. Send the same bytes again later.", wait=5)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self.due is None and not self._answering:
            self.due = self.loop.time() + self.patience.head
        super().data_received(data)
        if self._head is not None:
            self._head += len(data)
            if self._head > LONGEST_HEAD:
                self._end(
                    431, f"the headers of a request must be at most {LONGEST_HEAD:,} bytes, got more. Send fewer."
                )

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.due, self._head = self.loop.time() + self.patience.head, 0

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self.due, self._head = self.loop.time() + self.patience.body, None
        if len(self.pipeline) > MOST_PIPELINED:
            self.transport.abort()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.due = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self.unread_since = self.loop.time()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.unread_since = None

    def _too_many(self) -> bool:
        if len(self.connections) > self.patience.connections:
            return True
        if self.patience.of_one is None or self.network is None:
            return False
        networks = [each.network for each in self.connections if isinstance(each, PatientConnection)]
        return networks.count(self.network) > self.patience.of_one

    @property
    def _answering(self) -> bool:
        """Whether a request is being answered."""
        return bool(self.cycle) and not self.cycle.response_complete

    def shutdown(self) -> None:
        """The server stops: it waits for whoever is being answered, and for no farewell of TLS."""
        super().shutdown()
        if not self._answering:
            self.loop.call_later(FAREWELL, self.transport.abort)

    def look(self, now: float) -> None:
        """Give up what takes too long."""
        if self.unread_since is not None and now > self.unread_since + self.patience.unread:
            self.transport.abort()
        elif self.due is not None and now > self.due:
            self._end(408, "a request must arrive in time, got a part of one. Send the same bytes again.")

    def send_400_response(self, msg: str) -> None:
        self._end(400, "a request must be HTTP, got something else. Use a client that speaks it.")

    def _end(self, status: int, sentence: str, *, wait: int | None = None) -> None:
        """The last answer on this connection, if none has begun."""
        if self.transport.is_closing():
            self.transport.abort()
            return
        if not (self._answering and self.cycle.response_started):
            self.transport.write(last_words(Refused(status, sentence, wait=wait)))
        self.due = self.loop.time() + self.patience.head
        self.transport.close()


class PatientServer(uvicorn.Server):
    """uvicorn, which looks after its connections, and ends without a word when it is told to."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None] = lambda: None) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so: whoever hears it can already stop us."""
        await super().startup(sockets)
        self.ready()

    async def on_tick(self, counter: int) -> bool:
        if counter % TICKS == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, PatientConnection):
                    connection.look(now)
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGINT and SIGTERM; uvicorn would send them to itself again afterwards."""
        if current_thread() is not main_thread():  # whoever runs it there stops it by ``should_exit``
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


BACKLOG = 2048
SPARE_FILES = 64
LAST_ANSWERS = 10  # seconds for those who are being answered when the shuffler stops
LOG = logging.getLogger(__name__)
QUIET, LONGEST_LINE = 60.0, 300  # seconds between lines about failures, and their letters
EXPOSED = "warning: without TLS, %s must be reached through a reverse proxy that has it, and by nobody else"
OURS = "shuffledp.survey"


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the shuffler listens, with which certificate, and how patiently."""

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None
    patience: Patience = field(default_factory=Patience)

    def check_certificate(self) -> None:
        """Refuse a certificate that cannot be used, before anything else is begun."""
        if self.certificate is None:
            if self.key is not None:
                raise InvalidInput("--tls-cert must be given with --tls-key, got none. Give both, or neither.")
            return
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate, self.key, lambda: "")  # a key with a password would ask for it
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"--tls-cert and --tls-key must be a certificate and its key, in PEM and without a password, got: "
                f"{getattr(error, 'reason', None) or getattr(error, 'strerror', None) or error}. Name both files."
            ) from None

    def bound(self) -> socket.socket:
        """The socket, with a port of the system's choice if it is 0."""
        try:
            family = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0][0]
            return socket.create_server((self.host, self.port), family=family, backlog=BACKLOG)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InvalidInput(
                f"--host and --port must be an address of this machine that is free, got {self.host} and {self.port}: "
                f"{reason}. Choose another; port 0 takes any that is free."
            ) from None

    def address(self, bound: socket.socket) -> str:
        """What to type into a browser on this machine."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'' if self.certificate is None else 's'}://{host}:{bound.getsockname()[1]}"


def serve(shuffler: Shuffler, listening: Listening, ready: Callable[[str], None]) -> None:
    """Answer until SIGINT or SIGTERM, then let go of the store; ``ready`` is told the address."""
    try:
        listening.check_certificate()
        with listening.bound() as bound:
            address = listening.address(bound)
            if not is_loopback(address) and listening.certificate is None:
                LOG.warning(EXPOSED, listening.host)
            _allow_files(listening.patience.connections + SPARE_FILES)
            PatientServer(configured(shuffler, listening), lambda: ready(address)).run(sockets=[bound])
    finally:
        shuffler.writer.stop()
    LOG.info("stopped; %s", shuffler.metrics.refusals())


def configured(shuffler: Shuffler, listening: Listening) -> uvicorn.Config:
    """uvicorn, without what it would write, add or believe by itself."""
    return uvicorn.Config(
        shuffler,
        loop="uvloop",
        http=partial(PatientConnection, patience=listening.patience),  # type: ignore[arg-type]
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=LAST_ANSWERS,
        ssl_certfile=listening.certificate,
        ssl_keyfile=listening.key,
    )


def _allow_files(most: int) -> None:
    """As many open files as connections may need, if the system lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class OneLine(logging.Filter):
    """A failure is a line, and there is one in a minute at most of each kind, however many requests
    fail: a client that causes one must neither fill a disk nor hide another failure.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._kinds = clock, dict[tuple[str, str], tuple[float, int]]()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written, as a line."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None and record.name != "asyncio":
            return True
        at, name = "", "" if error is None else type(error).__name__
        for frame, line in traceback.walk_tb(None if error is None else error.__traceback__):
            at = f" at {Path(frame.f_code.co_filename).name}:{line}"
        quiet, unsaid = self._kinds.get((name, at), (-math.inf, 0))
        if self._clock() < quiet:
            self._kinds[name, at] = quiet, unsaid + 1
            return False
        more = f"; {unsaid:,} more since the last line" if unsaid else ""
        said = record.getMessage() if error is None else f"{record.getMessage()}: {name}: {error}"
        record.msg, record.args = "%s%s%s", (" ".join(said.split())[:LONGEST_LINE], at, more)
        record.exc_info, self._kinds[name, at] = None, (self._clock() + QUIET, 0)
        return True


@contextmanager
def logged(stream: Any = None) -> Iterator[None]:
    """Lines for people on standard error: start, stop, close, failures. No time, no address."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(logging.Formatter("%(message)s"))
    handler.addFilter(OneLine())
    ours, theirs = (logging.getLogger(OURS), logging.getLogger("asyncio")), logging.getLogger("uvicorn")
    for each in ours:
        each.addHandler(handler)
    ours[0].setLevel(logging.INFO)
    theirs.setLevel(logging.CRITICAL + 1)  # it would write a line for every broken request
    try:
        yield
    finally:
        for each in ours:
            each.removeHandler(handler)
