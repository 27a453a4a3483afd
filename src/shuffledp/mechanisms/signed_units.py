"""How many people hold a value, with the accuracy of a trusted curator: +1 and -1 messages (Ghazi,
Kumar, Manurangsi and Pagh 2021).

Who holds it sends +1. Everybody adds a few +1 and -1 at random, mostly none, and blanks; together
these make as much noise as a curator would add. Messages must be sealed to the analyst, since one
says whether its sender holds the value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shuffledp._types import Floats
from shuffledp.errors import Argument, InvalidInput, check_count, check_positive
from shuffledp.mechanisms.mechanism import Messages, Target, keeps
from shuffledp.mechanisms.results import Tally
from shuffledp.randomizers.messages import SignedUnits
from shuffledp.randomizers.messages.message import LARGEST_DECAY
from shuffledp.randomizers.randomizer import Ints
from shuffledp.wording import rounded
from shuffledp.workload import Ranges, Workload

if TYPE_CHECKING:
    from shuffledp.mechanisms.rows import Rows

HIDDEN = (0.05, 0.1, 0.2, 0.35, 0.5)  # shares of epsilon that pairs may cost; the rest is for the noise
USUAL = 0.1
CUT = 0.02  # the share of delta that may go to people who have no room for what they draw
MOST_MESSAGES = 256
SURE = 1e-9  # honest people are told so rarely that they sent too little


@dataclass(frozen=True, eq=False)
class Signed(Messages):
    """Of two places, it counts the second."""

    title = "+1 and -1 messages (sealed)"

    law: SignedUnits

    @classmethod
    def calibrate(
        cls,
        question: Any,
        target: Target,
        name: str,
        *,
        most_messages: int | None = None,
        most_error: float | None = None,
    ) -> Self:
        """The law that keeps a promise with the least error for at most so many messages of each
        person, or with the fewest messages for at most that standard error.
        """
        most_messages, most_error = check_most_messages(most_messages), check_most_error(most_error)
        honest, epsilon, delta, rounds = target.terms
        terms = (honest, min(epsilon, LARGEST_DECAY), delta, rounds)
        if most_messages is None and most_error is None:
            return cls(_fewest(USUAL, *terms))
        laws = [law for hidden in HIDDEN if (law := _tried(hidden, *terms)) is not None]
        return cls(_chosen(laws, target, most_messages, most_error))

    def answers(self, workload: Workload) -> bool:
        return isinstance(workload, Ranges) and workload.ends == ((1, 2),)

    def _rows(self, tally: Tally, workload: Workload) -> Rows:
        """+1 less -1; pairs cancel."""
        from shuffledp.mechanisms.rows import SharedNoise

        law, reports, (plus, minus) = self.law, tally.reports, tally.votes
        value = np.array([float(plus) - float(minus)])
        return SharedNoise(value, reports / law.honest, float(law.ratio), law.noise_variance(reports))

    def predicted(self, workload: Workload, held: Any) -> Floats:
        """The same whatever people hold."""
        return np.array([self.law.expected_stderr(round(float(np.sum(held))))])

    def check(self, counts: Ints, honest: int) -> None:
        """Of -1 there are B + C, where C is a Poisson number: too few, and people did not add
        theirs, which nobody else's can replace.
        """
        from scipy.special import pdtr

        _, minus = self.law.opened(counts)[2]
        mean = self.law.pairs * honest / self.law.honest
        if minus < mean and pdtr(minus, mean) < SURE:
            raise InvalidInput(
                f"messages -1 must be about {mean:,.0f} if {honest:,} people add theirs, got {int(minus):,}, which "
                f"happens to honest people once in a billion times. Somebody left the noise out: do not release this, "
                f"and collect again."
            )


def check_most_messages(value: object) -> int | None:
    """Return ``value`` as the number of messages that a person may send at most."""
    remedy = "It is how many messages a person may send at most."
    return None if value is None else check_count("messages", value, least=1, remedy=remedy)


def check_most_error(value: object) -> float | None:
    """Return ``value`` as a standard error to stay below."""
    remedy = "It is the standard error to stay below, in the answer's own unit."
    return None if value is None else check_positive(Argument("error"), value, remedy=remedy)


def _chosen(
    laws: list[SignedUnits], target: Target, most_messages: int | None, most_error: float | None
) -> SignedUnits:
    """Of laws that keep the promise the one with the least error, or the fewest messages."""
    short = [law for law in laws if most_messages is None or law.messages <= most_messages]
    if not short:
        least = min((law.messages for law in laws), default=MOST_MESSAGES)
        raise InvalidInput(
            f"messages must be at least {least} for a count of +1 and -1 by {target.honest:,} honest people, got "
            f"{most_messages}. Allow more, or count by a histogram, which takes one."
        )
    if most_error is None:
        return min(short, key=lambda law: law.expected_stderr(target.n))
    sharp = [law for law in short if law.expected_stderr(target.n) <= most_error]
    if not sharp:
        best = min(law.expected_stderr(target.n) for law in short)
        raise InvalidInput(
            f"error must be at least {rounded(best, up=True)} people at epsilon = {target.epsilon:g}"
            f"{'' if most_messages is None else f' with {most_messages} messages'}, got "
            f"{most_error:g}. Allow a larger epsilon or error."
        )
    return min(sharp, key=lambda law: law.messages)


def _tried(hidden: float, honest: int, epsilon: float, delta: float, rounds: int) -> SignedUnits | None:
    try:
        return _fewest(hidden, honest, epsilon, delta, rounds)
    except InvalidInput:
        return None


@lru_cache(maxsize=64)
def _fewest(hidden: float, honest: int, epsilon: float, delta: float, rounds: int) -> SignedUnits:
    """The law with the fewest pairs, and the fewest messages for those, that keeps a promise where
    the noise is for a share of 1 - ``hidden`` of epsilon.
    """
    decay = (1.0 - hidden) * _loss(epsilon, delta, rounds)
    allowed = CUT * delta / ((1.0 + math.exp(epsilon)) * rounds)

    def law(pairs: int) -> SignedUnits:
        return _with_room(honest, decay, pairs, allowed)

    high = math.ceil(1.0 / (hidden * epsilon) ** 2)
    while not keeps(law(high), honest, epsilon, delta, rounds):
        high *= 2
    low = 0
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(law(middle), honest, epsilon, delta, rounds) else (middle, high)
    return law(high)


def _loss(epsilon: float, delta: float, rounds: int) -> float:
    """About what each of several rounds may give away: by advanced composition, or by the plain
    one.
    """
    if rounds == 1:
        return epsilon
    advanced = epsilon / (math.sqrt(2.0 * rounds * math.log(2.0 / delta)) + epsilon)
    return max(epsilon / rounds, advanced)


def _with_room(honest: int, decay: float, pairs: int, allowed: float) -> SignedUnits:
    """The law with the fewest messages such that ``honest`` people miss so little of the ideal
    noise.
    """
    average = 2 * pairs // honest
    room = max(_room(honest, decay, pairs, allowed / honest), average)
    while room + 1 <= MOST_MESSAGES:
        law = SignedUnits(honest=honest, decay=decay, pairs=pairs, messages=room + 1)
        if honest * law.cut <= allowed:
            return law
        room += 1
    raise InvalidInput(
        f"people must be so many that {MOST_MESSAGES} messages of each hold their share of the noise, got "
        f"{honest:,} at epsilon = {decay:.3g}. Ask more people, allow a larger epsilon, or take a sum by split and mix."
    )


def _room(honest: int, decay: float, pairs: int, rare: float) -> int:
    """About how many messages a person adds at most but with probability ``rare``."""
    size = MOST_MESSAGES + 1
    j = np.arange(1.0, size)
    ratio, rate = math.exp(-decay), min(pairs / honest, 700.0)  # of more, no number of messages is enough
    noise = np.cumprod(np.append((1.0 - ratio) ** (1.0 / honest), ratio * (j - 1.0 + 1.0 / honest) / j))
    both = np.zeros(size)
    both[::2] = np.cumprod(np.append(math.exp(-rate), rate / j[: (size - 1) // 2]))
    total = np.convolve(np.convolve(noise, noise)[:size], both)[:size]
    beyond = np.cumsum(total[::-1])[::-1]  # of what is in the table; what is outside is smaller still
    return max(1, int(np.argmax(np.append(beyond[1:] <= rare, True))))
