"""Work on all cores: by processes, since one process seals or opens one envelope at a time.

What they need, the analyst's key too, goes through a pipe: it stands in no command line and no
file. When we end, however we do, the pipe ends, and so do they. ``sealed`` seals messages so.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import chain, islice
from typing import Any, TypeVar

from numpy.typing import NDArray

from shuffledp.errors import ShuffledpError
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import Envelopes

FEW = 2  # parts that are done sooner than another process has started
Part = TypeVar("Part")
Done = TypeVar("Done")
Process = subprocess.Popen[bytes]


def on_all_cores(
    task: Callable[[Part], Done], parts: Iterable[Part], *, processes: int | None = None
) -> Iterator[Done]:
    """What a task makes of each part, in their order: by so many ``processes``, or one for each
    core; a few parts are done here. No more is kept in memory than processes are busy with.
    """
    helpers = _cores() if processes is None else processes
    feed = iter(parts)
    begun = list(islice(feed, FEW + 1))
    feed = chain(begun, feed)
    if helpers < 2 or len(begun) <= FEW:
        yield from map(task, feed)
        return
    started: list[Process] = []
    own = threading.local()

    def helped(part: Part) -> Any:
        if not hasattr(own, "process"):
            own.process = _start()
            started.append(own.process)
        return _answer(own.process, task, part)

    pool, pending = ThreadPoolExecutor(helpers), deque[Future[Any]]()
    try:
        for part in feed:
            pending.append(pool.submit(helped, part))
            if len(pending) > 2 * helpers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for process in started:
            process.kill()  # whoever still waits for one of them sees its end
        pool.shutdown(cancel_futures=True)
        for process in started:
            _end(process)


def _cores() -> int:
    """Those that we may use; not every system says which these are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start() -> Process:
    """A process that finds the modules that we find. It has a session of its own: Ctrl-C is for us,
    and we end it.
    """
    found = os.pathsep.join(path or os.getcwd() for path in sys.path)
    command = [sys.executable, "-P", "-m", __name__]  # -P: nothing from the current folder by accident
    environment, pipe = os.environ | {"PYTHONPATH": found}, subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, start_new_session=True)


def _answer(process: Process, task: Callable[[Part], Done], part: Part) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump((task, part), process.stdin)
        process.stdin.flush()
        answer = pickle.load(process.stdout)
    except (EOFError, OSError, pickle.UnpicklingError):
        raise ShuffledpError(
            f"every process that helps must live to its end, got one that ended with code {process.wait()}. Make room "
            f"in memory, and do the same again."
        ) from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _end(process: Process) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):  # what it had not read is of no use to anybody
            assert stream is not None
            stream.close()


def _serve() -> None:
    """In such a process: answer until nobody asks any more."""
    heard, said = sys.stdin.buffer, sys.stdout.buffer
    with suppress(EOFError, BrokenPipeError):
        while True:
            task, part = pickle.load(heard)
            try:
                answer = task(part)
            except Exception as error:  # raised again where somebody can say it in a sentence
                answer = error
            pickle.dump(answer, said)
            said.flush()


if __name__ == "__main__":
    _serve()


SLICE = 5000  # messages that a process seals at once: half a second's work


def sealed(
    collection: Collection, chunks: Iterable[NDArray[Any]], *, processes: int | None = None
) -> Iterator[list[bytes]]:
    """The envelopes of reports, or of single messages, that come in chunks, in their order, those
    of a report together; by so many ``processes``, or one for each core.
    """
    step = max(1, SLICE // collection.reporter.randomizer.messages)
    slices = (chunk[start : start + step] for chunk in chunks for start in range(0, len(chunk), step))
    return on_all_cores(Envelopes(collection).seal, slices, processes=processes)
