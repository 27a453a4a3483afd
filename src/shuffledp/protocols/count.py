"""How many people hold a value, with the accuracy of a trusted curator: +1 and -1 messages (Ghazi,
Kumar, Manurangsi and Pagh 2021).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import pdtr

from shuffledp.accounting.shuffled import shuffle
from shuffledp.errors import InvalidInput, check_count, check_positive
from shuffledp.protocols.bag import Reports
from shuffledp.protocols.categories import Categories
from shuffledp.protocols.estimate import Estimate, Noise
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.message_protocol import MessageProtocol
from shuffledp.protocols.shared_noise_limits import SharedNoise
from shuffledp.protocols.tasks import CountTask
from shuffledp.protocols.tasks.task import Label
from shuffledp.randomizers.messages import MessageLaw, SignedUnits
from shuffledp.randomizers.messages.message import LARGEST_DECAY
from shuffledp.sampling import Rng, source_of
from shuffledp.wording import rounded

__all__ = ["SignedCount", "check_most_error", "check_most_messages"]

HIDDEN = (0.05, 0.1, 0.2, 0.35, 0.5)  # shares of epsilon that pairs may cost; the rest is for the noise
USUAL = 0.1
CUT = 0.02  # the share of delta that may go to people who have no room for what they draw
MOST_MESSAGES = 256
SURE = 1e-9  # honest people are told so rarely that they sent too little


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
        epsilon, delta, rounds = self._promised()
        terms = (self._crowd(self.honest), min(epsilon, LARGEST_DECAY), delta, rounds)
        if self.most_messages is None and self.most_error is None:
            return _fewest(USUAL, *terms)
        laws = [law for hidden in HIDDEN if (law := _tried(hidden, *terms)) is not None]
        return self._chosen(laws)

    def _chosen(self, laws: list[SignedUnits]) -> SignedUnits:
        """Of laws that keep the promise the one with the least error, or the fewest messages."""
        short = [law for law in laws if self.most_messages is None or law.messages <= self.most_messages]
        if not short:
            least = min((law.messages for law in laws), default=MOST_MESSAGES)
            raise InvalidInput(
                f"messages must be at least {least} for a count of +1 and -1 by {self.honest:,} honest people, got "
                f"{self.most_messages}. Allow more, or count by a histogram, which takes one."
            )
        if self.most_error is None:
            return min(short, key=lambda law: law.expected_stderr(self.n))
        sharp = [law for law in short if law.expected_stderr(self.n) <= self.most_error]
        if not sharp:
            best = min(law.expected_stderr(self.n) for law in short)
            raise InvalidInput(
                f"error must be at least {rounded(best, up=True)} people at epsilon = {self.epsilon:g}"
                f"{'' if self.most_messages is None else f' with {self.most_messages} messages'}, got "
                f"{self.most_error:g}. Allow a larger epsilon or error."
            )
        return min(sharp, key=lambda law: law.messages)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "value": self.value, "other": self.other}

    def encode(self, values: Iterable[Any], *, rng: Rng = None) -> Reports:
        """The messages of each person; what is not the value counts as ``other``."""
        source, places = source_of(rng), self._known.indices(values)
        return Reports(self.describe(), self.randomizer.randomize(places, rng=source), source.secure)

    def check_noise(self, counts: ArrayLike) -> None:
        """Of -1 there are B + C, where C is a Poisson number: too few, and people did not add
        theirs, which nobody else's can replace.
        """
        _, _, (_, minus) = self.randomizer.opened(np.asarray(counts))
        assert self.honest is not None
        mean = self.randomizer.pairs * self.honest / self.randomizer.honest
        if minus < mean and pdtr(minus, mean) < SURE:
            raise InvalidInput(
                f"messages -1 must be about {mean:,.0f} if {self.honest:,} people add theirs, got {int(minus):,}, "
                f"which happens to honest people once in a billion times. Somebody left the noise out: do not release "
                f"this, and collect again."
            )

    def analyse_counts(self, counts: ArrayLike, *, secure: bool = True, notes: tuple[str, ...] = ()) -> Estimate:
        """The estimate from the tally of a bag: +1 less -1; pairs cancel."""
        law, (people, _, (plus, minus)) = self.randomizer, self._opened(counts)
        value = np.array([float(plus) - float(minus)])
        exact = SharedNoise(value, people, shape=people / law.honest, ratio=float(law.ratio))
        noise = replace(Noise.constant(np.array([law.noise_variance(people)])), law=exact)
        return Estimate((self.value,), value, noise.stderr(value), people, value, noise, secure, notes)

    def predicted_stderr(self) -> float:
        """The standard error with all n users, whatever they hold."""
        return self.randomizer.expected_stderr(self.n)


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

    def keeps(pairs: int) -> bool:
        return shuffle(law(pairs), n=honest).compose(rounds).delta_at_most(epsilon=epsilon) <= delta

    high = math.ceil(1.0 / (hidden * epsilon) ** 2)
    while not keeps(high):
        high *= 2
    low = 0
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
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
    ratio, rate = math.exp(-decay), pairs / honest
    noise = np.cumprod(np.append((1.0 - ratio) ** (1.0 / honest), ratio * (j - 1.0 + 1.0 / honest) / j))
    both = np.zeros(size)
    both[::2] = np.cumprod(np.append(math.exp(-min(rate, 700.0)), rate / j[: (size - 1) // 2]))
    total = np.convolve(np.convolve(noise, noise)[:size], both)[:size]
    beyond = np.cumsum(total[::-1])[::-1]  # of what is in the table; what is outside is smaller still
    return max(1, int(np.argmax(np.append(beyond[1:] <= rare, True))))
