"""One thread that uses the store: uploads that wait are added together, in one commit."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any, TypeVar

from shuffledp.survey.stores.store import Added, Store, Unavailable
from shuffledp.survey.wire import Records, Refused

Result = TypeVar("Result")
MOST_AT_ONCE = 20_000  # records of one commit
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """Something to do in the writer's thread, for a task that waits in another."""

    work: Records | Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Any]


class Writer:
    """The thread, and what waits for it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._jobs: deque[_Job] = deque()
        self._ready = Condition()
        self._stopping = self._failing = False
        self._thread = Thread(target=self._run, name="shuffledp-writer", daemon=True)
        self._thread.start()

    async def add(self, upload: Records) -> Added:
        """Add an upload, and return when it is on the disk."""
        added: Added = await self._enqueue(upload)
        return added

    async def call(self, work: Callable[[], Result]) -> Result:
        """Do something else with the store, after all that waits."""
        result: Result = await self._enqueue(work)
        return result

    def stop(self) -> None:
        """Do what waits, refuse what comes, and let go of the store."""
        with self._ready:
            self._stopping = True
            self._ready.notify()
        self._thread.join()
        self.store.stop()

    async def _enqueue(self, work: Records | Callable[[], Any]) -> Any:
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        with self._ready:
            if self._stopping:
                raise Unavailable("the shuffler is stopping. Send the same bytes again later.")
            self._jobs.append(job)
            self._ready.notify()
        return await job.done

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._jobs or self._stopping)
                if not self._jobs:
                    return
                jobs = self._together()
            answers = self._answers(jobs)
            for loop in {job.loop for job in jobs}:
                own = [(job, answer) for job, answer in zip(jobs, answers, strict=True) if job.loop is loop]
                with suppress(RuntimeError):  # a loop that has ended waits for nothing
                    loop.call_soon_threadsafe(_deliver, own)

    def _together(self) -> list[_Job]:
        """The next job; if it is an upload, all those that follow at once."""
        jobs = [self._jobs.popleft()]
        if callable(jobs[0].work):
            return jobs
        records = len(jobs[0].work)
        while self._jobs and not callable(self._jobs[0].work) and records < MOST_AT_ONCE:
            jobs.append(self._jobs.popleft())
            records += len(jobs[-1].work)  # type: ignore[arg-type]
        return jobs

    def _answers(self, jobs: list[_Job]) -> Sequence[Any]:
        try:
            if callable(work := jobs[0].work):
                return [work()]
            answers = self.store.add([job.work for job in jobs])  # type: ignore[misc]
            self._say("the store works again", failing=False)
            return answers
        except Refused as refused:
            if isinstance(refused, Unavailable):
                self._say(refused.sentence, failing=True)
            return [refused] * len(jobs)
        except Exception as error:  # a slip of ours: nothing is acknowledged, and the next upload is tried again
            LOG.exception("the store failed")
            unknown = Unavailable("the shuffler's store failed. Send the same bytes again later.")
            unknown.__cause__ = error
            return [unknown] * len(jobs)

    def _say(self, words: str, *, failing: bool) -> None:
        """One line when the store fails, and one when it works again."""
        if failing != self._failing:
            LOG.warning(words)
        self._failing = failing


def _deliver(answers: list[tuple[_Job, Any]]) -> None:
    """In the loop: give the answers to those who still wait."""
    for job, answer in answers:
        if job.done.done():
            continue
        if isinstance(answer, Exception):
            job.done.set_exception(answer)
        else:
            job.done.set_result(answer)
