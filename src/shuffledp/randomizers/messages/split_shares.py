"""Split and mix: a number and its noise, cut into random shares of which only the sum says anything
(Ishai et al. 2006; Balle, Bell, Gascon and Nissim 2020).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput, check_count
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.messages.message import SharedNoise, words_of
from shuffledp.randomizers.parameters import check_domain, checked
from shuffledp.randomizers.randomizer import Form, Ints
from shuffledp.sampling import Source, Table, smallest_dtype, uniform
from shuffledp.sampling.tables import filled, geometric_cut, geometric_none, geometric_share, ratio_of

MOST_BITS = 52  # a browser's numbers are exact so far
MOST_REACH = 1 << 21  # a table of more entries takes too long to work out
LIMB = 26  # bits; messages are added up in two parts, neither of which can exceed 64 bits


class Share(NamedTuple):
    """What a person adds of one sign: the weights of 0, 1, ..., out of 2^128."""

    weights: tuple[int, ...]
    table: Table


def _check_share_bits(value: object) -> int:
    remedy, beyond = "It is the size of a share.", "Use a coarser grid, or fewer people."
    return check_count("share_bits", value, least=2, most=MOST_BITS, remedy=remedy, beyond=beyond)


def _check_reach(value: object) -> int:
    remedy = "It is the most noise of one sign that one person adds; 40 / decay is plenty."
    return check_count("reach", value, least=1, most=MOST_REACH, remedy=remedy, beyond="Use a coarser grid.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitShares(SharedNoise):
    """A person's value v, of 0, ..., k - 1, becomes v + A - B, which is sent as ``messages``
    numbers: all but the last uniform below 2^share_bits, and the last such that they add up to it
    modulo 2^share_bits.

    One person adds at most ``reach`` of A and of B; what that and whole-number weights change is
    counted in ``cut``.

    >>> law = SplitShares(
    ...     k=101, honest=10_000, decay=0.01, share_bits=26, messages=11, reach=3_000
    ... )
    >>> reports = law.randomize([100, 50, 1], rng=np.random.default_rng(7))
    >>> law.total(law.tally(reports)), law.most_people
    (151, 11001)
    """

    hidden_by = "random shares"

    k: int = field(metadata=checked(check_domain))
    share_bits: int = field(metadata=checked(_check_share_bits))
    reach: int = field(metadata=checked(_check_reach))

    def __post_init__(self) -> None:
        SharedNoise.__post_init__(self)
        if self.honest > self.most_people:
            raise InvalidInput(
                f"share_bits must hold the sum of {self.honest:,} people, got {self.share_bits}. Use "
                f"{bits_to_hold(self.honest, self.k, self.reach)}: it must not wrap around."
            )

    @property
    def modulus(self) -> int:
        """Shares are numbers below this, and add up modulo this."""
        return 1 << self.share_bits

    @property
    def most_people(self) -> int:
        """As many people's numbers, whatever noise is drawn, cannot wrap around."""
        return (self.modulus - 1) // (self.k - 1 + 2 * self.reach)

    @property
    def integers(self) -> tuple[int, ...]:
        """q out of 2^64, and the chance that a person adds no noise of one sign, out of 2^128 as
        two words: the table follows from these by whole-number arithmetic.
        """
        ratio, none = _begin(self)
        return (ratio, *words_of(none))

    @property
    def weights(self) -> tuple[int, ...]:
        """The table that runs, of A and of B: the weights of 0, ..., reach, out of 2^128."""
        return _share(self).weights

    @property
    def cut(self) -> Fraction:
        ratio, none = _begin(self)
        return 2 * geometric_cut(none, ratio, self.honest, self.reach)

    @property
    def inseparable(self) -> bool:
        return True

    @property
    def message(self) -> Form:
        return Form(smallest_dtype(self.modulus), outputs=self.modulus)

    def extreme_reports(self, people: int) -> NDArray[Any]:
        """Shares that add up to 0, and to half of all: neither is told from honest ones."""
        rows = np.zeros((2, self.messages), dtype=self.message.dtype)
        rows[1, 0] = min(self.modulus - 1, self.honest * (self.k - 1) // 2) // people  # more would be refused
        return rows

    def adds_up(self, tally: Ints, reports: int) -> bool:
        sent, low, high = tally.tolist()
        most_low, most_high = (1 << LIMB) - 1, (self.modulus - 1) >> LIMB
        return bool(sent == reports * self.messages and 0 <= low <= sent * most_low and 0 <= high <= sent * most_high)

    def total(self, tally: Ints) -> int:
        """What numbers and noise add up to, within what so many people can; or refused."""
        people, _, (low, high) = self.opened(tally)
        if people > self.most_people:
            raise InvalidInput(
                f"people must be at most {self.most_people:,} for these share_bits, got {people:,}. Use more."
            )
        total = (int(low) + (int(high) << LIMB)) % self.modulus
        if total > people * (self.k - 1 + self.reach):
            total -= self.modulus
        if total < -people * self.reach:
            raise InvalidInput(
                f"shares must add up to what {people:,} people can send, got {total:,} steps. Collect again."
            )
        return total

    def expected_stderr(self, people: int) -> float:
        return math.sqrt(self.noise_variance(people) + people / 4.0) / (self.k - 1)

    def describe(self) -> dict[str, object]:
        return self._described("split", "k", "honest", "decay", "share_bits", "messages", "reach")

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        table, mask = _share(self).table, np.uint64(self.modulus - 1)
        noise = table.draw(source, len(values)) - table.draw(source, len(values))
        random = uniform(source, self.modulus, len(values) * (self.messages - 1))
        shares = random.reshape(len(values), -1).astype(np.uint64)
        sent = (values.astype(np.int64) + noise).astype(np.uint64)  # modulo 2^64, and so modulo 2^share_bits
        last = (sent - shares.sum(axis=1, dtype=np.uint64)) & mask
        return np.column_stack([shares, last]).astype(self.message.dtype)

    def _tally(self, messages: NDArray[Any]) -> Ints:
        wide = messages.astype(np.int64)
        return np.array([np.sum(wide & ((1 << LIMB) - 1)), np.sum(wide >> LIMB)], dtype=np.int64)


def bits_to_hold(people: int, k: int, reach: int) -> int:
    """The fewest bits of a share with which the sum of so many people cannot wrap around."""
    return (people * (k - 1 + 2 * reach)).bit_length()


def _begin(law: SplitShares) -> tuple[int, int]:
    ratio = ratio_of(law.decay)
    return ratio, geometric_none(ratio, law.honest)


@lru_cache(maxsize=16)
def _share(law: SplitShares) -> Share:
    """The table of a law, worked out once."""
    ratio, none = _begin(law)
    weights = filled(geometric_share(none, ratio, law.honest, law.reach))
    return Share(weights, Table(weights))


register(
    Family(
        make=SplitShares,
        law="split",
        parameters=("k", "epsilon0", "honest", "decay", "share_bits", "messages", "reach"),
    )
)
