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
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import MOST_USERS, InvalidInput, check_count, check_probability
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.parameters import check_between, check_epsilon0, check_values, checked
from shuffledp.randomizers.randomizer import MOST_TRIED, Atoms, End, Form, GroupLaw, Ints, Randomizer, Reporting
from shuffledp.randomizers.support import bits_for, chunks, histogram
from shuffledp.sampling import WORD, Rng, Source, source_of
from shuffledp.sampling.tables import ratio_of


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
        """The messages of a chunk of checked values: a row, or one number, for each."""

    @abstractmethod
    def _tally(self, messages: NDArray[Any]) -> Ints:
        """The votes of checked messages: the tally without its first number."""

    def _described(self, name: str, *parameters: str) -> dict[str, object]:
        return {"randomizer": name, **{each: getattr(self, each) for each in parameters}}

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
        """A law of which so many rounds show at least as much; by default itself, once."""
        return self, 1

    @property
    def loss_step(self) -> float:
        """What all likely losses are multiples of, up to rounding; 0 if there is none."""
        return 0.0

    @abstractmethod
    def expected_stderr(self, people: int) -> float:
        """Of a count, if values are equally frequent; of a sum in [0, 1], for the worst data."""

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
                f"reports must be rows of {self.messages} numbers, got {rows.dtype} of shape {rows.shape}. Drop them."
            )
        if outputs is not None and not 0 <= int(rows.min()) <= int(rows.max()) < outputs:
            raise InvalidInput(
                f"a message must be a number from 0 to {outputs - 1}, got others. Leave such reports out."
            )
        return rows.astype(dtype, copy=False)

    def mixed_messages(self, messages: NDArray[Any], *, rng: Rng = None) -> NDArray[Any]:
        """``mixed``, message by message: what the shuffler hands on before it mixes."""
        return messages

    def tally(self, reports: ArrayLike) -> Ints:
        messages = self.check_reports(reports).ravel()
        return np.concatenate([np.array([len(messages)], dtype=np.int64), self._tally(messages)])

    @property
    def by_message(self) -> bool:
        return True

    def of_people(self, tally: Ints, people: int) -> Ints:
        """The shuffler may have added messages."""
        return np.concatenate([np.array([people * self.messages], dtype=np.int64), tally[1:]])

    def opened(self, tally: Ints) -> tuple[int, Ints, Ints]:
        people, left = divmod(int(tally[0]), self.messages)
        if left:
            raise InvalidInput(
                f"messages must be {self.messages} of each person, got {int(tally[0]):,}. Count whole reports."
            )
        return people, tally[:0], tally[1:]


def check_coin(name: str, remedy: str) -> Callable[[object], float]:
    """The rule of a probability in (0, 1] that a 64-bit coin can show."""

    def check(value: object) -> float:
        chance = check_probability(name, value, one=True, remedy=remedy)
        if round(Fraction(chance) * WORD) == 0:
            raise InvalidInput(f"{name} must be at least 2**-64, got {chance!r}. {remedy}")
        return chance

    return check


def check_kind(of: str, kinds: tuple[str, ...], remedy: str) -> Callable[[object], Any]:
    """The rule of the law of a number of fakes: one of some ``kinds``."""

    def check(value: object) -> str:
        if isinstance(value, str) and value in kinds:
            return value
        raise InvalidInput(f"kind of {of} must be {' or '.join(kinds)}, got {value!r}. {remedy}")

    return check


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
    return check_between("decay", value, SMALLEST_DECAY, LARGEST_DECAY, remedy=remedy)


def check_people(value: object) -> int:
    """Return ``value`` as the number of people whose shares add up to the whole noise."""
    remedy = "It counts the honest people whose shares add up to the noise."
    return check_count("honest", value, least=1, most=MOST_USERS, remedy=remedy)


def check_shares(value: object) -> int:
    """Return ``value`` as a number of messages that a person sends."""
    remedy = "One message shows its sender's answer; ask by a mechanism of one message instead."
    beyond = "Nobody sends so many; use fewer."
    return check_count("messages", value, least=2, most=1024, remedy=remedy, beyond=beyond)


def check_no_epsilon0(value: object) -> float:
    """A message of these laws hides nothing from whoever knows its sender."""
    if value != math.inf:
        raise InvalidInput(
            f"epsilon0 must be left out of a law of shared noise, got {value!r}. Its messages hide nothing alone."
        )
    return math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedNoise(MessageLaw):
    """People share the noise. The A of ``honest`` honest people add up to a geometric variable with
    ratio q = e^-decay, and so do the B: A - B is discrete Laplace noise.
    """

    honest: int = field(metadata=checked(check_people))
    decay: float = field(metadata=checked(check_decay))
    messages: int = field(metadata=checked(check_shares))
    epsilon0: float = field(default=math.inf, metadata=checked(check_no_epsilon0))

    @property
    def ratio(self) -> Fraction:
        """q, exactly as it runs."""
        return Fraction(ratio_of(self.decay), WORD)

    @property
    @abstractmethod
    def cut(self) -> Fraction:
        """The distance of what one person adds from the ideal law, or more (total variation)."""

    @property
    def tally_size(self) -> int:
        return 3

    def noise_variance(self, people: int) -> float:
        """Of the answer, in squared steps, if so many people add their shares."""
        return people / self.honest * 2.0 * float(self.ratio) / float(1 - self.ratio) ** 2


def words_of(number: int) -> tuple[int, int]:
    """A number out of 2^128 as two out of 2^64."""
    return number >> 64, number & ((1 << 64) - 1)
