"""How much may be asked: requests of one address, and bytes of all of them together."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shuffledp.collection.network.wire import Refused

__all__ = ["Rates", "Room", "network_of"]

REMEMBERED = 60.0  # seconds that an address is known at least, as a number that only this process understands
MOST_ADDRESSES = 50_000
NETWORK_BITS = 64  # of an IPv6 address: what one customer of a provider has


class Rates:
    """At most ``rate`` requests a second from an address, after ``burst`` at once; a rate of 0 sets
    no limit.

    Addresses are kept as keyed hashes, under a key of this process, and for two minutes at most.
    """

    def __init__(self, rate: float, burst: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self.clock = rate, burst, clock
        self._key = os.urandom(32)
        self._now: dict[bytes, tuple[float, float]] = {}
        self._before: dict[bytes, tuple[float, float]] = {}
        self._turned = clock()

    def __len__(self) -> int:
        return len(self._now) + len(self._before)

    def wait(self, address: str) -> float:
        """How many seconds this address must wait before it may ask again; 0 if it may now."""
        if not self.rate:
            return 0.0
        key, now = self._hash(address), self.clock()
        if now - self._turned >= REMEMBERED or len(self._now) >= MOST_ADDRESSES:
            self._now, self._before, self._turned = {}, self._now, now
        left, then = self._now.get(key) or self._before.get(key) or (self.burst, now)
        left = min(self.burst, left + (now - then) * self.rate)
        allowed = left >= 1.0
        self._now[key] = (left - 1.0 if allowed else left, now)
        return 0.0 if allowed else (1.0 - left) / self.rate

    def _hash(self, address: str) -> bytes:
        return hashlib.blake2b(network_of(address), key=self._key, digest_size=16).digest()


class Room:
    """Bytes of uploads that may be in memory at once, at most half of them of one address: nobody
    can take all of it by sending many uploads slowly.
    """

    def __init__(self, most: int) -> None:
        self.most, self.taken = most, 0
        self._of: Counter[bytes] = Counter()

    @contextmanager
    def share(self, address: str) -> Iterator[Callable[[int], None]]:
        """Call what this gives for every piece that arrives; all of it is given back at the end,
        and the address forgotten.
        """
        own, whose = 0, network_of(address)

        def take(size: int) -> None:
            nonlocal own
            if self.taken + size > self.most or self._of[whose] + size > self.most // 2:
                raise Refused(503, "the shuffler has too much to do now. Send the same bytes again later.", wait=5)
            self.taken += size
            self._of[whose] += size
            own += size

        try:
            yield take
        finally:
            self.taken -= own
            self._of[whose] -= own
            if not self._of[whose]:
                del self._of[whose]


def network_of(address: str) -> bytes:
    """Whom an address belongs to."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address.encode(errors="replace")
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return parsed.packed if parsed.version == 4 else parsed.packed[: NETWORK_BITS // 8]
