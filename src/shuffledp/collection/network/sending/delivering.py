"""From an outbox to a shuffler: in uploads of many records, over several connections; a record
whose code is refused holds no other up.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from shuffledp.collection.network.sending.courier import Courier
from shuffledp.collection.network.sending.outbox import Stored
from shuffledp.collection.network.wire import Refused
from shuffledp.errors import InvalidInput

__all__ = ["Round"]

BATCH = 1000  # records of an upload
CONNECTIONS = 4
MOST_REFUSED = 1000  # codes: beyond, it is the wrong list


@dataclass(slots=True)
class Round:
    """One walk through what waits: which records are ``acknowledged`` (a byte each), how many of
    them were ``new`` to the shuffler, and how many codes were ``refused``, by why.
    """

    stored: Stored
    most: int
    tick: Callable[[int, int], object] | None = None
    acknowledged: bytearray = field(init=False)
    new: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.acknowledged = bytearray(self.stored.waiting)

    def through(self, courier: Courier) -> None:
        """Deliver everything. What ends the walk is raised; what was acknowledged until then is
        known.
        """
        step, waiting = min(BATCH, self.most), self.stored.waiting
        parts = [(begin, min(begin + step, waiting)) for begin in range(0, waiting, step)]
        if len(parts) == 1:
            return self._part(courier, *parts[0])
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            running = [pool.submit(self._part, courier, *part) for part in parts]
            try:
                done, _ = wait(running, return_when=FIRST_EXCEPTION)
            finally:
                courier.ended.set()  # requests that are under way are finished, and none is tried again
                for each in running:
                    each.cancel()
        for each in done:
            each.result()
        return None

    def _part(self, courier: Courier, begin: int, end: int) -> None:
        """Deliver records from ``begin`` to ``end``: where one is refused for its code, those
        before it go first, then that one is left out, and uploads grow again.
        """
        step = end - begin
        while begin < end and not courier.ended.is_set():
            upto = min(begin + step, end)
            try:
                new = courier.deliver(self.stored.records(begin, upto), upto - begin)
            except Refused as refused:
                if refused.at is None:
                    raise
                step = max(1, refused.at)
                if refused.at == 0:
                    self._leave_out(refused)
                    begin += 1
                continue
            self._note(begin, upto, new)
            begin, step = upto, 2 * step

    def _note(self, begin: int, upto: int, new: int) -> None:
        with self._lock:
            self.acknowledged[begin:upto] = b"\1" * (upto - begin)
            self.new += new
            if self.tick is not None:
                self.tick(self.acknowledged.count(1), self.stored.waiting)

    def _leave_out(self, refused: Refused) -> None:
        with self._lock:
            self.refused[refused.sentence] += 1
            if self.refused.total() > MOST_REFUSED:
                raise InvalidInput(
                    f"codes must be those of this collection, got more than {MOST_REFUSED:,} that the shuffler "
                    f"refused. Ask whether it has their hashes; every report that was not acknowledged is stored."
                )
