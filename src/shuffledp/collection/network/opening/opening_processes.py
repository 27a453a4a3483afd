"""Slices opened on all cores: by processes, since one process opens one envelope at a time. What
they need, the analyst's key too, goes through a pipe: it stands in no command line and no file.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress

import numpy as np

from shuffledp.collection.engines.batch import Sums
from shuffledp.collection.network.opening.opening_tasks import Opener, Slice
from shuffledp.errors import ShuffledpError

__all__ = ["OnAllCores"]

FEW = 2  # slices that are opened sooner than another process has started
Process = subprocess.Popen[bytes]


class OnAllCores:
    """Opens slices by so many ``processes``, or as many as there are cores; ``tick`` is told how
    many envelopes are done.
    """

    def __init__(self, tick: Callable[[int], object] | None = None, *, processes: int | None = None) -> None:
        self._tick, self._processes, self._lock = tick, processes, threading.Lock()

    def __call__(self, opener: Opener, slices: Sequence[Slice]) -> Sums:
        """What all slices add up to."""
        processes = self._processes or min(os.cpu_count() or 1, len(slices))
        if self._processes is None and (processes < 2 or len(slices) <= FEW):
            return _added(self._done(part, opener(part)) for part in slices)
        with _workers(processes) as workers, ThreadPoolExecutor(processes) as pool:
            feed = iter(slices)
            running = [pool.submit(self._served, worker, opener, feed) for worker in workers]
            try:
                wait(running, return_when=FIRST_EXCEPTION)
                return _added(sums for each in running if each.done() for sums in each.result())
            finally:
                _end(workers)  # whoever still waits for one of them sees its end

    def _served(self, worker: Process, opener: Opener, feed: Iterator[Slice]) -> list[Sums]:
        """The slices that one process opened, one after another."""
        assert worker.stdin is not None
        assert worker.stdout is not None
        found = []
        try:
            pickle.dump(opener, worker.stdin)
            while (part := self._next(feed)) is not None:
                pickle.dump(part, worker.stdin)
                worker.stdin.flush()
                answer = pickle.load(worker.stdout)
                if isinstance(answer, Exception):
                    raise answer
                found.append(self._done(part, answer))
        except (EOFError, OSError, pickle.UnpicklingError):
            raise ShuffledpError(
                f"every process that opens reports must live to its end, got one that ended with code {worker.wait()}. "
                f"Nothing was published: make room in memory, and open again."
            ) from None
        return found

    def _next(self, feed: Iterator[Slice]) -> Slice | None:
        with self._lock:
            return next(feed, None)

    def _done(self, part: Slice, sums: Sums) -> Sums:
        if self._tick is not None:
            with self._lock:
                self._tick(part.end - part.begin)
        return sums


def _added(parts: Iterator[Sums]) -> Sums:
    """All sums together."""
    found = list(parts)
    return Sums(sum(each.reports for each in found), 0, np.sum([each.votes for each in found], axis=0))


@contextmanager
def _workers(count: int) -> Iterator[list[Process]]:
    """Processes that open slices, for a while. They find the modules that we find."""
    found = os.pathsep.join(path or os.getcwd() for path in sys.path)
    command = [sys.executable, "-P", "-m", __name__]  # -P: nothing from the current folder by accident
    environment, pipe = os.environ | {"PYTHONPATH": found}, subprocess.PIPE
    # In sessions of their own: Ctrl-C is for us, and we end them.
    workers = [
        subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, start_new_session=True)
        for _ in range(count)
    ]
    try:
        yield workers
    finally:
        _end(workers)
        for worker in workers:
            worker.wait()
            for stream in (worker.stdin, worker.stdout):
                with suppress(OSError):  # what it had not read is of no use to anybody
                    assert stream is not None
                    stream.close()


def _end(workers: Sequence[Process]) -> None:
    for worker in workers:
        worker.kill()


def _serve() -> None:
    """In such a process: answer until nobody asks any more."""
    heard, said = sys.stdin.buffer, sys.stdout.buffer
    with suppress(EOFError, BrokenPipeError):
        opener = pickle.load(heard)
        while True:
            part = pickle.load(heard)
            try:
                answer = opener(part)
            except Exception as error:  # raised again where somebody can say it in a sentence
                answer = error
            pickle.dump(answer, said)
            said.flush()


if __name__ == "__main__":
    _serve()
