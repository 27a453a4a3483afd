"""What laws of several messages have in common.

A person's report is a row of ``messages`` numbers; after the shuffler, messages of all people lie
side by side. What counts reports takes both: rows of people, and bare messages. A tally begins with
the number of messages, blanks included, of which everybody has sent as many.

Among users' fakes and the shuffler's dummies, a true message names the sender's value, perhaps
lightly randomized, and lies among others that belong to no person. Where people share the noise,
each adds a share that is calibrated for as many as are honest.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import MOST_USERS, InvalidInput, check_count, check_positive
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.parameters import check_epsilon0, check_values
from shuffledp.randomizers.randomizer import (
    MOST_TRIED,
    Atoms,
    End,
    Form,
    GroupLaw,
    Ints,
    Opened,
    Randomizer,
    Reporting,
)
from shuffledp.randomizers.support import bits_for, chunks, histogram
from shuffledp.sampling import Rng, Source, source_of


class MessageLaw(Randomizer, Reporting):
    """A law whose privacy is that of all people's messages together (``accounting.messages``); what
    can be built is a final, frozen dataclass. There is no blanket of one report to speak of.
    ``hidden_by`` says what hides a message; an audit reads all messages by it.
    """

    __slots__ = ()

    hidden_by: ClassVar[str] = ""

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

    def extreme_reports(self, people: int) -> NDArray[Any]:
        """All messages alike."""
        dtype, _, outputs = self.message
        tried = np.arange(min(outputs or 0, MOST_TRIED), dtype=dtype)
        return tried if self.messages == 1 else np.tile(tried[:, None], self.messages)

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


def check_light(value: object) -> float:
    """Return ``value`` as what one true message gives away: infinity is the truth itself."""
    return math.inf if value == math.inf else check_epsilon0(value)


class FakedValues(MessageLaw):
    """True messages among fakes; ``epsilon0`` is infinite where a true one is the plain value."""

    __slots__ = ()

    @property
    def light(self) -> KRR | None:
        """What randomizes the true value, if anything does."""
        return None if self.epsilon0 == math.inf else KRR(k=self.k, epsilon0=self.epsilon0)

    @property
    def realised(self) -> Self:
        if (light := self.light) is None:
            return self
        return dataclasses.replace(self, epsilon0=light.realised.epsilon0)  # type: ignore[type-var]

    @property
    def bits(self) -> int:
        """A message names a value, or is blank."""
        outputs = self.message.outputs
        assert outputs is not None
        return self.messages * bits_for(outputs)

    @property
    def tally_size(self) -> int:
        return 1 + self.k

    @property
    def light_integer(self) -> int:
        """Out of 2^64: how likely a true message is drawn from all values alike."""
        return 0 if self.light is None else self.light.threshold

    @property
    def true_messages(self) -> int:
        """How many of a person's messages name the value."""
        return 1

    @property
    @abstractmethod
    def kept(self) -> float:
        """The probability that a true message reaches the analyst."""

    @abstractmethod
    def _fakes(self, size: int, people: int) -> tuple[float, float]:
        """How many of the fakes that come with ``people`` people's messages name one of ``size``
        values: mean and variance, from the integers.
        """

    def group_law(self, size: int, people: int) -> GroupLaw:
        fakes, spread = self._fakes(size, people)
        if (light := self.light) is None:
            return GroupLaw(self.kept, 0.0, self.kept, fakes, spread)
        hit, miss = light.hit + (size - 1) * light.miss, size * light.miss
        return GroupLaw(self.kept * hit, self.kept * miss, self.kept * light.contrast, fakes, spread)

    @property
    def influence(self) -> float:
        """All messages of a malicious person may name one value."""
        return self.messages / self.group_law(1, 1).contrast

    def expected_stderr(self, people: int) -> float:
        return math.sqrt(self.group_law(1, people).variance(people / self.k, people))

    def _true(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        """The true messages of some values."""
        return values if self.light is None else self.light._draw(source, values)

    def _tally(self, messages: NDArray[Any]) -> Ints:
        """Votes for each value; a blank, k, is for none."""
        return histogram(messages, self.k + 1)[: self.k]


SMALLEST_DECAY, LARGEST_DECAY = 1e-9, 45.0  # noise that decays faster is none, and keeps what this keeps


def check_decay(value: object) -> float:
    """Return ``value`` as the logarithm by which noise gets rarer from one step to the next."""
    remedy = "It is what one step of the answer gives away: epsilon, or a little less, over the steps."
    decay = check_positive("decay", value, remedy=remedy)
    if not SMALLEST_DECAY <= decay <= LARGEST_DECAY:
        raise InvalidInput(f"decay must lie in [{SMALLEST_DECAY:g}, {LARGEST_DECAY:g}], got {decay!r}. {remedy}")
    return decay


def check_people(value: object) -> int:
    """Return ``value`` as the number of people whose shares add up to the whole noise."""
    remedy = "It counts the honest people whose shares add up to the noise."
    people = check_count("honest", value, least=1, remedy=remedy)
    if people > MOST_USERS:
        raise InvalidInput(f"honest must be at most {MOST_USERS:g}, got {people}. {remedy}")
    return people


def check_shares(value: object) -> int:
    """Return ``value`` as a number of messages that a person sends."""
    remedy = "One message shows its sender's answer; ask by a mechanism of one message instead."
    beyond = "Nobody sends so many; use fewer."
    return check_count("messages", value, least=2, most=1024, remedy=remedy, beyond=beyond)


def check_no_epsilon0(value: object) -> float:
    """A message of these laws hides nothing from whoever knows its sender."""
    if value != math.inf:
        raise InvalidInput(
            f"epsilon0 must be left out of a law whose people share the noise, got {value!r}. Its messages hide "
            f"nothing by themselves."
        )
    return math.inf


def words_of(number: int) -> tuple[int, int]:
    """A number out of 2^128 as two out of 2^64."""
    return number >> 64, number & ((1 << 64) - 1)
