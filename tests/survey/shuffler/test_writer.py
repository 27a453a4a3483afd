"""Uploads that wait are one commit, a store that fails acknowledges nothing, and a stop loses nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, current_thread

import pytest

from shuffledp.survey.shuffler.app import Limits
from shuffledp.survey.shuffler.writer import Writer
from shuffledp.survey.stores.store import Added, Stocked, Store, Unavailable
from shuffledp.survey.wire import Delivery, Refused
from tests.survey.shufflers import envelopes, trial
from tests.survey.studies import study


@dataclass
class Slow(Store):
    """A store that waits to be let go on, and notes what it is asked."""

    fails: Exception | None = None
    go_on: Event = field(default_factory=Event)
    begun: Event = field(default_factory=Event)
    commits: list[int] = field(default_factory=list)
    threads: set[str] = field(default_factory=set)
    stopped: bool = False

    def invite(self, hashes: Iterable[bytes]) -> int:
        return 0

    def add(self, uploads: Sequence[Sequence[Delivery]]) -> list[Added | Refused]:
        self.begun.set()
        self.go_on.wait()
        self.threads.add(current_thread().name)
        if self.fails is not None:
            raise self.fails
        self.commits.append(len(uploads))
        return [Added(len(upload), len(upload)) for upload in uploads]

    def stock(self) -> Stocked:
        self.threads.add(current_thread().name)
        return Stocked(sum(self.commits), False)

    def close(self, least: int) -> Stocked:
        return self.stock()

    def sealed(self) -> Iterator[bytes]:
        return iter(())

    def stop(self) -> None:
        self.stopped = True


UPLOAD = [Delivery(b"x", None)]


def test_what_waits_is_one_commit_in_one_thread() -> None:
    store = Slow()
    writer = Writer(store)

    async def run() -> tuple[list[Added], Stocked]:
        first = asyncio.create_task(writer.add(UPLOAD))
        await asyncio.to_thread(store.begun.wait)  # the writer is busy with the first
        others = [asyncio.create_task(writer.add(UPLOAD)) for _ in range(50)]
        count = asyncio.create_task(writer.call(store.stock))
        last = asyncio.create_task(writer.add(UPLOAD))
        await asyncio.sleep(0)
        store.go_on.set()
        return await asyncio.gather(first, *others, last), await count

    added, stocked = asyncio.run(run())
    assert added == [Added(1, 1)] * 52
    assert store.commits == [1, 50, 1]
    assert stocked == Stocked(51, False), "in its turn"
    assert store.threads == {"shuffledp-writer"}
    writer.stop()
    assert store.stopped


@pytest.mark.parametrize("kind", [Unavailable, RuntimeError])
def test_a_store_that_fails_acknowledges_nothing(kind: type[Exception], caplog: pytest.LogCaptureFixture) -> None:
    failure = kind("the disk is full. Send it later.")
    store = Slow(fails=failure)
    store.go_on.set()
    writer = Writer(store)

    async def run() -> list[Added | BaseException]:
        return await asyncio.gather(*(writer.add(UPLOAD) for _ in range(3)), return_exceptions=True)

    with caplog.at_level(logging.INFO):
        assert {type(each) for each in asyncio.run(run())} == {Unavailable}
        assert {type(each) for each in asyncio.run(run())} == {Unavailable}
        store.fails = None
        assert asyncio.run(run()) == [Added(1, 1)] * 3
    if isinstance(failure, Unavailable):
        assert [record.message for record in caplog.records] == [failure.sentence, "the store works again"]
    writer.stop()


def test_a_stop_commits_what_waits_and_refuses_what_comes() -> None:
    store = Slow()
    writer = Writer(store)

    async def run() -> list[Added]:
        waiting = [asyncio.create_task(writer.add(UPLOAD)) for _ in range(5)]
        await asyncio.to_thread(store.begun.wait)
        store.go_on.set()
        await asyncio.to_thread(writer.stop)
        with pytest.raises(Unavailable, match="is stopping"):
            await writer.add(UPLOAD)
        return await asyncio.gather(*waiting)

    assert asyncio.run(run()) == [Added(1, 1)] * 5


def test_when_too_much_waits_more_is_refused(tmp_path: Path) -> None:
    store, collection = Slow(), study()
    with trial(tmp_path, collection, store=store, limits=Limits(rate=0.0, room=49 * 200)) as tried:

        async def run(client: object) -> list[int]:
            body = tried.uploads.body(envelopes(collection, 30))
            headers = {"content-type": "application/octet-stream"}
            tasks = [
                asyncio.create_task(client.post(tried.address.reports, content=body, headers=headers))  # type: ignore[attr-defined]
                for _ in range(6)
            ]
            while sum(task.done() for task in tasks) < 3:
                await asyncio.sleep(0.001)
            store.go_on.set()
            answers = await asyncio.gather(*tasks)
            refused = [each for each in answers if each.status_code == 503]
            assert all(each.headers["retry-after"] == "5" for each in refused)
            return sorted(each.status_code for each in answers)

        assert tried.asked(run) == [201, 201, 201, 503, 503, 503]
        assert tried.shuffler.room.taken == 0
