"""What laws of several messages have in common.

A person's report is a row of ``messages`` numbers; after the shuffler, messages of all people lie
side by side. What counts reports takes both: rows of people, and bare messages. A tally begins with
the number of messages, blanks included, of which everybody has sent as many.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.parameters import check_values
from shuffledp.randomizers.randomizer import Atoms, End, Randomizer
from shuffledp.randomizers.reporting import Form, Ints, Opened, Reporting
from shuffledp.randomizers.votes import chunks
from shuffledp.sampling import Rng, Source, source_of

__all__ = ["MessageLaw"]


class MessageLaw(Randomizer, Reporting):
    """A law whose privacy is that of all people's messages together (``accounting.messages``); what
    can be built is a final, frozen dataclass. There is no blanket of one report to speak of.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def message(self) -> Form:
        """What one message is: a number below ``outputs``."""

    @abstractmethod
    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        """The messages of a chunk of checked values: a row for each, or a number where a person
        sends one.
        """

    @abstractmethod
    def _tally(self, messages: NDArray[Any]) -> Ints:
        """The votes of checked messages: the tally without its first number."""

    @property
    def form(self) -> Form:
        return self.message if self.messages == 1 else Form(self.message.dtype, self.messages)

    @property
    def seen_as(self) -> tuple[MessageLaw, int]:
        """Another law, of which everybody sees so many independent rounds in place of this one at
        worst; by default itself, once.
        """
        return self, 1

    @property
    def loss_step(self) -> float:
        """What all likely losses of privacy are multiples of, up to rounding; 0 if there is no such
        number.
        """
        return 0.0

    @abstractmethod
    def expected_stderr(self, people: int) -> float:
        """Of a value's count, if all are held equally often; of a sum of numbers in [0, 1], for the
        worst data.
        """

    @property
    def gamma(self) -> float:
        return 0.0

    @property
    def worst_pair(self) -> tuple[object, object]:
        return 0, self.k - 1

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        return ()

    def datasets(self) -> tuple[Atoms, ...]:
        return ()

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        checked, source = check_values(values, self.k), source_of(rng)
        dtype, width, _ = self.form
        reports = np.empty(len(checked) if width is None else (len(checked), width), dtype=dtype)
        for chunk in chunks(len(checked), self.messages):
            reports[chunk] = self._draw(source, checked[chunk])
        return reports

    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        rows = np.asarray(reports)
        dtype, _, outputs = self.message
        wide = rows.ndim == 2 and rows.shape[1] == self.messages
        if rows.dtype.kind not in "iu" or not (rows.ndim == 1 or wide) or not rows.size:
            raise InvalidInput(
                f"reports must be rows of {self.messages} whole numbers, or such numbers, got shape {rows.shape} of "
                f"{rows.dtype}. Leave other reports out."
            )
        if outputs is not None and not 0 <= int(rows.min()) <= int(rows.max()) < outputs:
            raise InvalidInput(
                f"a message must be a number from 0 to {outputs - 1}, got one that is not. Leave such reports out."
            )
        return rows.astype(dtype, copy=False)

    def mixed_messages(self, messages: NDArray[Any], *, rng: Rng = None) -> NDArray[Any]:
        """What the shuffler hands on of all people's messages, before it mixes them: ``mixed``,
        message by message.
        """
        return messages

    def most_messages(self, people: int) -> int:
        """How many messages the shuffler hands on of so many people's, at most."""
        return people * self.messages

    def tally(self, reports: ArrayLike) -> Ints:
        messages = self.check_reports(reports).ravel()
        return np.concatenate([np.array([len(messages)], dtype=np.int64), self._tally(messages)])

    def of_people(self, tally: Ints, people: int) -> Ints:
        """The ``tally`` of messages that the shuffler handed on, as that of the ``people`` whose
        they were: it may have added some.
        """
        return np.concatenate([np.array([people * self.messages], dtype=np.int64), tally[1:]])

    def opened(self, tally: Ints) -> Opened:
        people, left = divmod(int(tally[0]), self.messages)
        if left:
            raise InvalidInput(
                f"messages must be {self.messages} of each person, got {int(tally[0]):,} in all. Count whole reports."
            )
        return Opened(people, tally[:0], tally[1:])
