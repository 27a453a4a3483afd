"""How many people hold a value, with the accuracy of a trusted curator: +1 and -1 messages (Ghazi,
Kumar, Manurangsi and Pagh 2021).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from shuffledp.errors import check_count, check_positive
from shuffledp.mechanisms.signed_units import Signed
from shuffledp.protocols.bag import Reports
from shuffledp.protocols.categories import Categories
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.message_protocol import MessageProtocol
from shuffledp.protocols.tasks import CountTask
from shuffledp.protocols.tasks.task import Label
from shuffledp.randomizers.messages import MessageLaw, SignedUnits
from shuffledp.sampling import Rng, source_of
from shuffledp.workload import Ranges

__all__ = ["SignedCount", "check_most_error", "check_most_messages"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SignedCount(MessageProtocol):
    """How many of the people hold ``value``; whatever else they hold counts as ``other``.

    Whoever holds it sends +1. Everybody adds a few +1 and -1 at random, mostly none, and blanks;
    together these make as much noise as a curator would add. Messages must be sealed to the
    analyst, since one says whether its sender holds the value. ``most_messages`` of each person
    may be allowed, or a standard error asked for, ``most_error``; the other one is then as small as
    can be.

    >>> poll = SignedCount(value="yes", n=10_000, epsilon=1.0, delta=1e-6)
    >>> poll.predicted_stderr() < 1.2 * 1.36, poll.messages
    (True, 21)
    """

    value: Label
    other: Label | None = "anything else"
    randomizer: SignedUnits = settled()
    most_messages: int | None = None
    most_error: float | None = None
    _known: Categories = field(init=False, repr=False)

    def _prepare(self) -> None:
        values = CountTask(self.value, self.other).checked().values
        self._set(_known=Categories.of(values, values[0]))
        self._set(most_messages=check_most_messages(self.most_messages), most_error=check_most_error(self.most_error))
        super()._prepare()

    @property
    def task(self) -> CountTask:
        """The question, for a design."""
        return CountTask(self.value, self.other)

    def _answers(self, law: MessageLaw) -> bool:
        return isinstance(law, SignedUnits)

    def _calibrated(self) -> SignedUnits:
        own = Signed.calibrated(self._target, most_messages=self.most_messages, most_error=self.most_error)
        return own.law

    def workload(self) -> Ranges:
        return Ranges((self.value,), ((1, 2),))

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "value": self.value, "other": self.other}

    def encode(self, values: Iterable[Any], *, rng: Rng = None) -> Reports:
        """The messages of each person; what is not the value counts as ``other``."""
        source, places = source_of(rng), self._known.indices(values)
        return Reports(self.describe(), self.randomizer.randomize(places, rng=source), source.secure)


def check_most_messages(value: object) -> int | None:
    """Return ``value`` as the number of messages that a person may send at most."""
    if value is None:
        return None
    return check_count("messages", value, least=1, remedy="It is how many messages a person may send at most.")


def check_most_error(value: object) -> float | None:
    """Return ``value`` as a standard error to stay below."""
    if value is None:
        return None
    return check_positive("error", value, remedy="It is the standard error to stay below, in the answer's own unit.")
