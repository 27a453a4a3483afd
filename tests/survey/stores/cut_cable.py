"""A cable to the database that can be cut at the worst moment."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import Self


class Cut(Enum):
    """When the cable is cut: for ever, before the server hears of a commit, or after it has answered
    and before the client hears of that.
    """

    NEVER = "never"
    AT_ONCE = "at once"
    BEFORE_COMMIT = "before the commit"
    AFTER_COMMIT = "after the commit"


class Cable:
    """Passes on what goes to and from a server, one connection at a time."""

    def __init__(self, port: int) -> None:
        self.server = port
        self.cut = Cut.NEVER
        self.then = Cut.NEVER  # what the next connections meet
        self.cuts = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._client = self._listening
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for each in (self._listening, self._client):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            with client:
                self._client = client
                if self.cut is not Cut.AT_ONCE:
                    self._carry(client)

    def _carry(self, client: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self.server)) as server:
            back = threading.Thread(target=self._answers, args=(server, client))
            back.start()
            with suppress(OSError):
                while data := client.recv(1 << 16):
                    if b"COMMIT\0" in data and self.cut in (Cut.BEFORE_COMMIT, Cut.AFTER_COMMIT):
                        self._break(client, server, data)
                        break
                    server.sendall(data)
            with suppress(OSError):
                server.shutdown(socket.SHUT_WR)  # it does what it was told, and then finds nobody there
            back.join()

    def _break(self, client: socket.socket, server: socket.socket, data: bytes) -> None:
        after, self.cut = self.cut is Cut.AFTER_COMMIT, self.then
        self.cuts += 1
        client.shutdown(socket.SHUT_WR)  # the client hears nothing any more
        if after:
            server.sendall(data)

    @staticmethod
    def _answers(server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                with suppress(OSError):
                    client.sendall(data)
