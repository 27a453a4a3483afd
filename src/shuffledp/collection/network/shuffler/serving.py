"""The shuffler as a process: its address, its certificate, its log, a stop that loses nothing."""

from __future__ import annotations

import ipaddress
import logging
import math
import resource
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
from typing import Any

import uvicorn

from shuffledp.collection.network.shuffler.connections import Patience, PatientProtocol, PatientServer
from shuffledp.collection.network.shuffler.shuffler_app import Shuffler
from shuffledp.errors import InvalidInput

__all__ = ["Listening", "OneLine", "configured", "logged", "serve"]

BACKLOG = 2048
SPARE_FILES = 64
LAST_ANSWERS = 10  # seconds for those who are being answered when the shuffler stops
LOG = logging.getLogger(__name__)
QUIET, LONGEST_LINE = 60.0, 300  # seconds between lines about failures, and their letters
EXPOSED = "warning: without TLS, %s must be reached through a reverse proxy that has it, and by nobody else"
OURS = "shuffledp.collection.network"


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the shuffler listens, with which certificate, and how patiently."""

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None
    patience: Patience = field(default_factory=Patience)

    @property
    def scheme(self) -> str:
        """How it is spoken to."""
        return "http" if self.certificate is None else "https"

    @property
    def local(self) -> bool:
        """Whether nobody but this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

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
        return f"{self.scheme}://{host}:{bound.getsockname()[1]}"


def serve(shuffler: Shuffler, listening: Listening, ready: Callable[[str], None]) -> None:
    """Answer until SIGINT or SIGTERM, then let go of the store; ``ready`` is told the address."""
    try:
        listening.check_certificate()
        with listening.bound() as bound:
            if not listening.local and listening.certificate is None:
                LOG.warning(EXPOSED, listening.host)
            _allow_files(listening.patience.connections + SPARE_FILES)
            address = listening.address(bound)
            PatientServer(configured(shuffler, listening), lambda: ready(address)).run(sockets=[bound])
    finally:
        shuffler.writer.stop()
    LOG.info("stopped; %s", shuffler.metrics.refusals())


def configured(shuffler: Shuffler, listening: Listening) -> uvicorn.Config:
    """uvicorn, without what it would write, add or believe by itself."""
    return uvicorn.Config(
        shuffler,
        loop="uvloop",
        http=partial(PatientProtocol, patience=listening.patience),  # type: ignore[arg-type]
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
