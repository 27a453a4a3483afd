"""How many people hold a value, with the accuracy of a trusted curator: +1 and -1 messages (Ghazi,
Kumar, Manurangsi and Pagh 2021).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from shuffledp.domain import Labels
from shuffledp.errors import check_count, check_positive
from shuffledp.mechanisms.signed_units import Signed
from shuffledp.protocols.message_protocol import MessageProtocol
from shuffledp.questions.count.question import CountQuestion
from shuffledp.randomizers.messages import SignedUnits
from shuffledp.sampling import Source
from shuffledp.schema import Label
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
    most_messages: int | None = None
    most_error: float | None = None
    _known: Labels = field(init=False, repr=False)

    makes = SignedUnits

    def _ask(self) -> None:
        self._set(_known=self.question.checked().domain(2))
        self._set(most_messages=check_most_messages(self.most_messages), most_error=check_most_error(self.most_error))

    @property
    def _size(self) -> int:
        return 2

    @property
    def question(self) -> CountQuestion:
        """The question, for a design."""
        return CountQuestion(value=self.value, other=self.other)

    def _calibrated(self) -> Signed:
        return Signed.calibrated(self._target, most_messages=self.most_messages, most_error=self.most_error)

    def workload(self) -> Ranges:
        return Ranges((self.value,), ((1, 2),))

    def _asked(self) -> dict[str, object]:
        return {"value": self.value, "other": self.other}

    def _places(self, values: Iterable[Any], source: Source) -> NDArray[Any]:
        """What is not the value counts as ``other``."""
        return self._known.indices(values)


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
