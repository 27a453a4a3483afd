"""Which uploads a store takes, each whole or not at all: decided before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from shuffledp.collection.network.stores.interface import (
    Added,
    already_closed,
    full,
    other_messages,
    unknown_code,
    used_code,
)
from shuffledp.collection.network.wire import Delivery, Refused

__all__ = ["Admission"]


@dataclass
class Admission:
    """Uploads one after another, before what a store holds: of the envelopes and codes that they
    bring, those that are ``stored``, and whether each code that is known was used. ``codes`` is
    None where none are asked for; ``reports`` of at most ``most`` people are there, each of so many
    ``messages``.

    What is to be written is ``new`` and ``spent``: in the order of their bytes, nothing says which
    came with which.
    """

    stored: AbstractSet[bytes]
    codes: Mapping[bytes, bool] | None
    reports: int
    most: int
    closed: bool
    messages: int = 1
    _new: set[bytes] = field(default_factory=set, init=False)
    _spent: set[bytes] = field(default_factory=set, init=False)

    @property
    def new(self) -> list[bytes]:
        """Envelopes to store."""
        return sorted(self._new)

    @property
    def spent(self) -> list[bytes]:
        """Codes to mark."""
        return sorted(self._spent)

    def decide(self, upload: Sequence[Delivery]) -> Added | Refused:
        """Take an upload, or say why it is refused."""
        new: set[bytes] = set()
        spent: set[bytes] = set()
        for at, person in enumerate(upload):
            brought, code = set(person.apart(self.messages)), person.code
            known = {each for each in brought if each in self.stored or each in self._new or each in new}
            if known == brought and len(brought) == self.messages:
                continue
            if self.closed:
                return already_closed()
            if known or len(brought) < self.messages:
                return other_messages()
            if self.codes is not None:
                assert code is not None
                if code not in self.codes:
                    return unknown_code(at)
                if self.codes[code] or code in self._spent or code in spent:
                    return used_code(at)
                spent.add(code)
            new |= brought
        if self.reports + (len(self._new) + len(new)) // self.messages > self.most:
            return full(self.most)
        self._new |= new
        self._spent |= spent
        return Added(len(upload), len(new) // self.messages)
