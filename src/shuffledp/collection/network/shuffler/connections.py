"""Clients that are slow, or endless, or too many.

uvicorn waits for ever for the end of a request's headers, and for its body. Here every connection
has a moment by which the client must have sent what is waited for; once a second all of them are
looked at.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import current_thread, main_thread
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from shuffledp.collection.network.shuffler.limits import network_of
from shuffledp.collection.network.shuffler.replies import last_words
from shuffledp.collection.network.wire import Refused

__all__ = ["Patience", "PatientProtocol", "PatientServer"]

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


class PatientProtocol(HttpToolsProtocol):
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
        networks = [each.network for each in self.connections if isinstance(each, PatientProtocol)]
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
                if isinstance(connection, PatientProtocol):
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
