"""What users' fakes and the shuffler's dummies have in common: a true message names the sender's
value, perhaps lightly randomized, and lies among others that are nobody's.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from typing import Any, Self

from numpy.typing import NDArray

from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.messages.message_law import MessageLaw
from shuffledp.randomizers.mixing import histogram
from shuffledp.randomizers.parameters import check_epsilon0
from shuffledp.randomizers.reporting import GroupLaw, Ints
from shuffledp.randomizers.votes import bits_for
from shuffledp.sampling import Source

__all__ = ["FakedValues", "check_light"]


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
    def sway(self) -> float:
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
