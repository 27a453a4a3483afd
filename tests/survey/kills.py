"""kill -9 of a shuffler under load, again and again: whatever it acknowledged is released, once.

python -m tests.survey.kills --rounds 100
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx

from shuffledp.design import Design
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import SealedHeader
from shuffledp.survey.wire import Address, Uploads, hash_of_code
from tests.survey.memory_folder import memory_folder
from tests.survey.shufflers import Process, process
from tests.survey.studies import designs, study, with_target

CONNECTIONS, LARGEST = 8, 60
SOME = 40  # uploads that a shuffler acknowledges, about, before it is killed


@dataclass
class Load:
    """Uploads on their way: sent again until they are acknowledged, and some of them even then."""

    collection: Collection
    rng: random.Random
    codes: list[bytes] = field(default_factory=list)
    waiting: deque[bytes] = field(default_factory=deque)
    acknowledged: list[bytes] = field(default_factory=list)
    sent: set[bytes] = field(default_factory=set)
    answers: int = 0
    again: int = 0

    def invite(self, path: Path) -> None:
        """Enough codes for another round, and their hashes for the shuffler."""
        fresh = [self.rng.randbytes(16) for _ in range(2 * LARGEST * (SOME + CONNECTIONS))]
        path.write_text("".join(f"{hash_of_code(self.collection.digest, code).hex()}\n" for code in fresh))
        self.codes += fresh

    def upload(self) -> bytes:
        """The next one: new, or never answered, or acknowledged long ago."""
        if self.waiting:
            return self.waiting.popleft()
        if self.acknowledged and self.rng.random() < 0.2:
            self.again += 1
            return self.rng.choice(self.acknowledged)
        ways = Uploads(self.collection)
        people = self.rng.randint(1, LARGEST)
        envelopes = [self.rng.randbytes(ways.envelope_bytes) for _ in range(people * ways.messages)]
        self.sent.update(envelopes)
        return ways.body(envelopes, [self.codes.pop() for _ in range(people)])

    async def connection(self, host: str, port: int) -> None:
        """Send until nobody answers any more."""
        head = f"POST {Address(self.collection.digest).reports} HTTP/1.1\r\nhost: x\r\ncontent-type: "
        while True:
            body = self.upload()
            try:
                reader, writer = await asyncio.open_connection(host, port)
            except OSError:
                self.waiting.append(body)
                return
            try:
                while True:
                    writer.write(
                        f"{head}application/octet-stream\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
                    )
                    answer = await reader.readuntil(b"\r\n\r\n")
                    size = int(answer.split(b"content-length: ")[1].split(b"\r\n")[0])
                    said = await reader.readexactly(size)
                    assert answer[9:12] in (b"200", b"201"), said
                    self.acknowledged.append(body)
                    self.answers += 1
                    body = self.upload()
            except (OSError, asyncio.IncompleteReadError):
                self.waiting.append(body)
            finally:
                writer.close()

    async def until_killed(self, running: Process, moment: int) -> None:
        """Load the shuffler, and kill it in the middle of it."""
        host, port = running.url.removeprefix("http://").split(":")
        loads = [asyncio.create_task(self.connection(host, int(port))) for _ in range(CONNECTIONS)]
        goal = self.answers + moment
        while self.answers < goal and not all(load.done() for load in loads):
            await asyncio.sleep(self.rng.random() / 500)
        running.kill()
        await asyncio.gather(*loads)


@dataclass
class Outcome:
    """What was acknowledged, and what became of it."""

    acknowledged: int
    lost: int
    doubled: int
    strangers: int
    released: int
    again: int


def records(collection: Collection, bodies: Sequence[bytes]) -> set[bytes]:
    """The envelopes in some uploads."""
    ways = Uploads(collection)
    people = (delivery.envelopes for body in bodies for delivery in ways.read(body))
    starts = range(0, ways.messages * ways.envelope_bytes, ways.envelope_bytes)
    return {person[start : start + ways.envelope_bytes] for person in people for start in starts}


def killed(folder: Path, rounds: int, *, seed: int = 0, design: Design | None = None) -> Outcome:
    """Kill a shuffler so often, then close the collection and look at what it releases."""
    known = with_target(designs()["krr"], honest=1, epsilon=5.0) if design is None else design
    large = with_target(known, n=10**6)
    collection = replace(study(codes=True), design=large)
    rng = random.Random(seed)
    load = Load(collection, rng)
    for _ in range(rounds):
        load.invite(folder / "hashes.txt")
        with process(folder, collection, "--codes", "hashes.txt") as running:
            asyncio.run(load.until_killed(running, rng.randint(1, 2 * SOME)))
    address = Address(collection.digest)
    with process(folder, collection, "--codes", "hashes.txt") as running:
        bearer = {"authorization": f"Bearer {running.token}"}
        with httpx.Client(base_url=running.url, headers=bearer, timeout=600) as client:
            client.post(address.close).raise_for_status()
            content = client.get(address.sealed).content
        assert running.stop() == 0
    header, length = content[: content.index(b"\n") + 1], Uploads(collection).envelope_bytes
    released = [content[start : start + length] for start in range(len(header), len(content), length)]
    assert SealedHeader.from_line(header, "sealed").count == len(released)
    acknowledged = records(collection, load.acknowledged)
    return Outcome(
        acknowledged=len(acknowledged),
        lost=len(acknowledged - set(released)),
        doubled=len(released) - len(set(released)),
        strangers=len(set(released) - load.sent),
        released=len(released),
        again=load.again,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--disk", action="store_true", help="on the disk, and not in memory")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() if asked.disk else memory_folder() as made:
        outcome = killed(Path(made), asked.rounds, seed=asked.seed)
    print(f"{asked.rounds} kills: {outcome}")
    sys.exit(outcome.lost + outcome.doubled + outcome.strangers > 0)
