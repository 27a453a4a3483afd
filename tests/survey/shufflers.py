"""Shufflers to try things on: in this process, without a socket, or as a process of their own."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import httpx

from shuffledp.survey.collection import Collection
from shuffledp.survey.shuffler.app import Limits, Shuffler, Token
from shuffledp.survey.shuffler.server import Listening, Patience, PatientServer, configured
from shuffledp.survey.shuffler.writer import Writer
from shuffledp.survey.stores.sqlite import SQLiteStore
from shuffledp.survey.stores.store import Store
from shuffledp.survey.wire import MEDIA_TYPE, Address, Uploads
from tests.survey.studies import study

Result = TypeVar("Result")
TOKEN = "5e" * 32
OCTETS = {"content-type": MEDIA_TYPE}
BEARER = {"authorization": f"Bearer {TOKEN}"}
UNLIMITED = Limits(rate=0.0)


def envelopes(collection: Collection, count: int, *, seed: int = 0) -> list[bytes]:
    """Bytes that look like envelopes: a shuffler cannot know better."""
    length = Uploads(collection).envelope_bytes
    return [hashlib.shake_128(b"%d %d" % (seed, number)).digest(length) for number in range(count)]


@dataclass
class Trial:
    """A shuffler in this process. Requests are answered one by one, or together in ``asked``."""

    collection: Collection
    store: Store
    limits: Limits = UNLIMITED
    clock: Callable[[], float] = field(default=lambda: 1e9)

    def __post_init__(self) -> None:
        self.address = Address(self.collection.digest)
        self.uploads = Uploads(self.collection)
        self.shuffler = Shuffler(self.collection, Writer(self.store), Token(TOKEN), self.limits, self.clock)

    def asked(self, ask: Callable[[httpx.AsyncClient], Awaitable[Result]]) -> Result:
        """What ``ask`` returns, when it is given a client of this shuffler."""

        async def run() -> Result:
            transport = httpx.ASGITransport(self.shuffler)
            async with httpx.AsyncClient(transport=transport, base_url="http://shuffler") as client:
                return await ask(client)

        with ThreadPoolExecutor(1) as aside:  # a browser of an earlier test has a loop in this thread
            return aside.submit(asyncio.run, run()).result()

    def request(self, method: str, path: str, **named: Any) -> httpx.Response:
        """One request."""
        return self.asked(lambda client: client.request(method, path, **named))

    def send(self, some: Sequence[bytes], codes: Sequence[bytes] | None = None) -> httpx.Response:
        """One upload."""
        return self.request("POST", self.address.reports, content=self.uploads.body(some, codes), headers=OCTETS)

    @contextmanager
    def listening(self, patience: Patience) -> Iterator[tuple[str, int]]:
        """Its address while it listens, from a thread of this process."""
        place = Listening(port=0, patience=patience)
        with place.bound() as bound:
            server = PatientServer(configured(self.shuffler, place))
            thread = Thread(target=server.run, kwargs={"sockets": [bound]})
            thread.start()
            try:
                yield bound.getsockname()[:2]
            finally:
                server.should_exit = True
                thread.join()

    def close(self) -> httpx.Response:
        """The end of the collection."""
        return self.request("POST", self.address.close, headers=BEARER)

    def fetch(self) -> httpx.Response:
        """All that was collected."""
        return self.request("GET", self.address.sealed, headers=BEARER)


@contextmanager
def trial(folder: Path, collection: Collection | None = None, **named: Any) -> Iterator[Trial]:
    """A shuffler in this process, with a store in ``folder``."""
    chosen = study() if collection is None else collection
    made = Trial(chosen, named.pop("store", None) or SQLiteStore(folder / "reports.sqlite", chosen), **named)
    try:
        yield made
    finally:
        made.shuffler.writer.stop()


@dataclass
class Process:
    """``shuffledp survey serve``, which listens at ``url``."""

    process: subprocess.Popen[str]
    url: str
    token: str
    log: Path

    def kill(self) -> None:
        """As by kill -9."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """As by Ctrl-C's gentler sister; return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


@contextmanager
def process(folder: Path, collection: Collection, *options: str, port: int = 0) -> Iterator[Process]:
    """A shuffler as a process of its own, on a free port if none is given, with its files in ``folder``; it is killed
    at the end, if it still runs. Started again in the same folder, it goes on.
    """
    (folder / "collection.json").write_bytes(collection.content)
    words = ["survey", "serve", "collection.json", "--store", "reports.sqlite", "--rate", "0", "--json", *options]
    words += ["--port", str(port)]
    log = folder / "log.txt"
    with log.open("a") as errors:
        running = subprocess.Popen(
            [sys.executable, "-m", "shuffledp", *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
    assert running.stdout is not None
    with running:
        try:
            said = running.stdout.readline()
            assert said, log.read_text()
            told = json.loads(said)
            yield Process(running, told["address"], (folder / told["token"]).read_text().strip(), log)
        finally:
            running.kill()


# What a page of the shuffler's own does, once for each answer: draw, seal, send.
TAKE_PART = """async (answers) => {
    const client = await import('/static/client.js');
    const bytes = new Uint8Array(await (await fetch('/collection.json')).arrayBuffer());
    const collection = await client.readCollection(bytes);
    const url = `/collections/${collection.digest}/reports`;
    const headers = {'Content-Type': 'application/octet-stream'};
    const said = [];
    for (const answer of answers) {
        const body = await client.seal(collection, client.encode(collection.design, answer));
        said.push((await fetch(url, {method: 'POST', body, headers})).status);
    }
    return said;
}"""


def free_port() -> int:
    """One that the system gives to nobody by itself, so that it is still free when it is needed."""
    for port in random.sample(range(20_000, 32_000), 100):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise AssertionError("no port is free")
