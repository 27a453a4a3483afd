"""The server of the planner: it listens on this machine alone, and answers one page.

Every address begins with a token that is drawn anew at each start, so that neither another user of
the machine nor a page of another site can ask. The ``Host`` must be this one, so that no name that
is made to point here can. Nothing is stored, no cookie is set, nothing is fetched from elsewhere.
"""

from __future__ import annotations

import json
import secrets
import select
import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from shuffledp.errors import InvalidInput, ShuffledpError
from shuffledp.storage.canonical import strict_json
from shuffledp.studio.answer import QUICK_PARTS, answer
from shuffledp.studio.request import PlanRequest

LOOPBACK = "127.0.0.1"
MOST_BYTES, LONGEST = 1 << 16, 9  # of a request, and digits of its length
PATIENCE = 30.0  # seconds without a byte until a connection is closed
SEATS = 64  # connections at a time: a browser opens six, and whoever opens thousands gets no thread for each
PAGE = {
    "": ("index.html", "text/html; charset=utf-8"),
    "studio.css": ("studio.css", "text/css; charset=utf-8"),
    "studio.js": ("studio.js", "text/javascript; charset=utf-8"),
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class NotServed(Exception):
    """A request that gets a status and one sentence."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Studio(ThreadingHTTPServer):
    """A planner on ``port``, or on a free one; ``address`` is what to open."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int = 0) -> None:
        self.token = secrets.token_urlsafe(24)
        self.ticket = secrets.token_urlsafe(24)
        self.redeeming = threading.Lock()
        self.seats = threading.BoundedSemaphore(SEATS)
        self.slowly = threading.Lock()  # one long computation at a time, so that quick answers stay quick
        super().__init__((LOOPBACK, port), Visit)

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a browser on this machine calls it."""
        return tuple(f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost"))

    @property
    def address(self) -> str:
        """The page, with its token."""
        return f"http://{self.hosts[0]}/{self.token}/"

    @property
    def invitation(self) -> str:
        """What a browser may be started with: it leads to the page once. Every user of the machine
        can read the arguments of a program, and finds a ticket there that is used up.
        """
        return f"http://{self.hosts[0]}/{self.ticket}/"

    def redeem(self, ticket: str) -> bool:
        """Whether this is the ticket of ``invitation``; if so, there is another one from now on."""
        with self.redeeming:
            good = secrets.compare_digest(ticket.encode(), self.ticket.encode())
            if good:
                self.ticket = secrets.token_urlsafe(24)
        return good

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own, while there are seats."""
        if self.seats.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """The thread: it leaves its seat to the next."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.seats.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no news, and of all else the page was told."""


class Visit(BaseHTTPRequestHandler):
    """One connection."""

    server: Studio
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "shuffledp", ""
    timeout = PATIENCE

    def do_GET(self) -> None:
        """The page and what belongs to it."""
        self._serve(self._file)

    def do_POST(self) -> None:
        """An answer, or the design to save."""
        self._serve(self._computed)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a log would be the only thing this leaves behind."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class refuses, in our form."""
        status = HTTPStatus(code)
        self._refuse(NotServed(status, f"{status.description or status.phrase}."))

    def _serve(self, found: Any) -> None:
        try:
            self._send(HTTPStatus.OK, *found(self._path()))
        except NotServed as refusal:
            self._refuse(refusal)
        except ShuffledpError as error:
            status = HTTPStatus.BAD_REQUEST if isinstance(error, InvalidInput) else HTTPStatus.INTERNAL_SERVER_ERROR
            self._refuse(NotServed(status, " ".join(str(error).split())))
        except OSError:  # the browser went away
            self.close_connection = True
        except Exception as error:  # a slip of ours: withheld, and said in one line
            words = f"an internal check failed ({type(error).__name__}). This is a bug in shuffledp; please report it."
            self._refuse(NotServed(HTTPStatus.INTERNAL_SERVER_ERROR, words))

    def _path(self) -> str:
        """What was asked for, behind the token."""
        if self.headers.get_all("Host", []) not in ([host] for host in self.server.hosts):
            raise NotServed(
                HTTPStatus.FORBIDDEN, "the planner answers only to the address that it printed. Open that one."
            )
        token, _, rest = self.path.partition("?")[0].lstrip("/").partition("/")
        if self.command == "GET" and self.server.redeem(token):
            raise NotServed(HTTPStatus.SEE_OTHER, "the planner is at the address that it printed.")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            raise NotServed(HTTPStatus.FORBIDDEN, "the token must be that of this start. Open the address as printed.")
        return rest

    def _file(self, path: str) -> tuple[bytes, str]:
        if path not in PAGE:
            known = HTTPStatus.METHOD_NOT_ALLOWED if path in ("answer", "design") else HTTPStatus.NOT_FOUND
            raise NotServed(known, f"the planner has no page {path[:40]!r} to read. Open the address as printed.")
        name, kind = PAGE[path]
        return files("shuffledp.studio").joinpath("web", name).read_bytes(), kind

    def _computed(self, path: str) -> tuple[bytes, str]:
        if path not in ("answer", "design"):
            known = HTTPStatus.METHOD_NOT_ALLOWED if path in PAGE else HTTPStatus.NOT_FOUND
            raise NotServed(known, f"the planner answers answer and design, got {path[:40]!r}. Reload the page.")
        asked = self._body()
        if path == "design":
            request = PlanRequest.from_json(asked)
            return self._in_turn(lambda: request.design().file_text().encode()), "application/json"
        part = asked.pop("part", "certified") if isinstance(asked, dict) else "certified"
        request = PlanRequest.from_json(asked)
        found = answer(request, part) if part in QUICK_PARTS else self._in_turn(lambda: answer(request, part))
        return json.dumps(found, allow_nan=False).encode(), "application/json"

    def _in_turn(self, compute: Any) -> Any:
        """What takes long, once nothing else does, and only if somebody still waits for it."""
        with self.server.slowly:
            if self._left():
                raise ConnectionAbortedError("nobody waits for this answer any more")
            return compute()

    def _left(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0.0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def _body(self) -> Any:
        """The JSON that was sent."""
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.server.hosts}:
            raise NotServed(HTTPStatus.FORBIDDEN, "only the planner's own page may ask. Open the address as printed.")
        if self.headers.get_content_type() != "application/json":
            raise NotServed(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a request must be application/json. Reload the page.")
        lengths = self.headers.get_all("Content-Length", [])
        length = lengths[0] if len(lengths) == 1 and "Transfer-Encoding" not in self.headers else ""
        if not (length.isascii() and length.isdigit()):
            raise NotServed(HTTPStatus.LENGTH_REQUIRED, "a request must say its length, once. Reload the page.")
        if len(length) > LONGEST or int(length) > MOST_BYTES:
            raise NotServed(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"a request must have at most {MOST_BYTES} bytes, got {length[:20]}. Shorten the list of names.",
            )
        try:
            return strict_json(self.rfile.read(int(length)).decode())
        except (ValueError, RecursionError):
            raise NotServed(
                HTTPStatus.BAD_REQUEST, "a request must be strict JSON in UTF-8. Reload the page."
            ) from None

    def _refuse(self, refusal: NotServed) -> None:
        """A sentence; what else came over this connection is not read."""
        self.close_connection = True
        self._send(refusal.status, json.dumps({"error": str(refusal)}).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status is HTTPStatus.SEE_OTHER:
            self.send_header("Location", f"/{self.server.token}/")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
