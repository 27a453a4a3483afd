"""Clients that do nothing but send, for a shuffler under load: ``python -m benchmarks.load --port
8000 --path /collections/.../reports --connections 32 --batch 1 --reports 20000`` prints what came
of it as JSON.

Each connection sends an upload, waits for its answer, and sends the next. Envelopes are random bytes:
a shuffler cannot tell them from sealed reports.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import cast

import uvloop

__all__ = ["Came", "load"]


@dataclass(frozen=True, slots=True)
class Came:
    """How many reports were acknowledged, in how many seconds, and how long one upload waited, in
    milliseconds: half of them less than ``p50``, 99 of 100 less than ``p99``.
    """

    reports: int
    seconds: float
    p50: float
    p99: float
    cpu: float

    @property
    def rate(self) -> float:
        """Reports per second."""
        return self.reports / self.seconds


@dataclass
class Sender(asyncio.Protocol):
    """One connection."""

    work: Work
    done: asyncio.Future[None]
    seen: bytearray = field(default_factory=bytearray)
    since: float = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by descent
        self._next()

    def data_received(self, data: bytes) -> None:
        self.seen += data
        head, found, rest = self.seen.partition(b"\r\n\r\n")
        if not found:
            return
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        if len(rest) < length:
            return
        if not head.startswith((b"HTTP/1.1 201", b"HTTP/1.1 200")):
            self.done.set_exception(RuntimeError(f"refused: {bytes(head[:60])!r} {bytes(rest[:200])!r}"))
            return
        self.work.waits.append(time.perf_counter() - self.since)
        self.seen.clear()
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or RuntimeError("the shuffler hung up"))

    def _next(self) -> None:
        if self.work.left <= 0:
            if not self.done.done():
                self.done.set_result(None)
            self.transport.close()
            return
        self.work.left -= 1
        self.since = time.perf_counter()
        self.transport.write(self.work.head + os.urandom(self.work.size))


@dataclass
class Work:
    """What all connections send together."""

    head: bytes
    size: int
    left: int
    waits: list[float] = field(default_factory=list)


async def load(port: int, path: str, *, connections: int, batch: int, reports: int, length: int) -> Came:
    """Send ``reports`` envelopes of ``length`` bytes, ``batch`` to an upload."""
    size = batch * length
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/octet-stream\r\n"
        f"Content-Length: {size}\r\n\r\n"
    ).encode()
    work, loop = Work(head, size, max(1, reports // batch)), asyncio.get_running_loop()
    uploads, began, busy = work.left, time.perf_counter(), time.process_time()
    waiting = []
    for _ in range(min(connections, uploads)):
        done = loop.create_future()
        await loop.create_connection(partial(Sender, work, done), "127.0.0.1", port)
        waiting.append(done)
    await asyncio.gather(*waiting)
    seconds, waits = time.perf_counter() - began, sorted(work.waits)
    p50, p99 = (1000 * waits[min(len(waits) - 1, len(waits) * part // 100)] for part in (50, 99))
    return Came(uploads * batch, seconds, p50, p99, time.process_time() - busy)


def main() -> None:
    """Send, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--path", required=True)
    for name, default in (("port", None), ("connections", 32), ("batch", 1), ("reports", 10_000), ("length", 49)):
        parser.add_argument(f"--{name}", type=int, default=default, required=default is None)
    given = vars(parser.parse_args())
    port, path = given.pop("port"), given.pop("path")
    print(json.dumps(asdict(uvloop.run(load(port, path, **given)))))


if __name__ == "__main__":
    main()
