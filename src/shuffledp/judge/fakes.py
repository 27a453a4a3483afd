"""True values among fakes, from the whole numbers in a record: what users send beside their own
value, or the shuffler adds; and what that hides, by direct sums.

The tables are computed again by other means than those that drew from them, and what is summed is
the table in the record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice, repeat, takewhile

import numpy as np

from shuffledp.judge.composition import rounds_of_losses
from shuffledp.judge.effort import LARGEST_EPSILON, TooLarge
from shuffledp.judge.lattice import Array
from shuffledp.judge.laws import DIGITS, WORD, CountedLaw, CountedMessages

FAKED = {
    "fakes": ("slots", "chance", "kind"),
    "dummies": ("keep", "kind", "center", "left", "right", "rate"),
    "tree": ("levels", "branches", "kind", "center", "left", "right", "rate"),
}
OF_USERS: dict[str, tuple[str, ...]] = {"bernoulli": (), "poisson": ()}  # by kind: what says nothing
OF_SHUFFLER = {"geometric": ("rate",), "poisson": ("center", "left", "right")}
LEFT_OUT = 1e-25  # of a law of counts, at either end
MOST_CELLS, MOST_SLOTS, MOST_COUNTED = 1 << 13, 1 << 12, 1 << 18
ROUNDED, CANCELED = 1e-10, 2e-14  # relative: of a law that is a sum of many, and of what is subtracted given that law
IMPOSSIBLE = 1e-13
BINOMIAL = 1e-12  # relative: of a tail of coins
UNSEEN = 1e-21  # what is left out, in all
NEVER = Decimal("1e-60")


@dataclass(frozen=True)
class CountedFakes(CountedMessages):
    """A law of ``fakes``, of ``dummies`` or of a ``tree``; ``own`` are its parameters beside k and
    epsilon0, which is infinite where a message is the plain truth.
    """

    parameters = FAKED

    def _sound(self) -> bool:
        head, first, weights = self._parts
        counted = not weights or (sum(weights) == WORD and min(weights) >= 0 and 0 <= first <= MOST_CELLS**2)
        local = self.epsilon0 == math.inf or 0.0 <= self.epsilon0 <= LARGEST_EPSILON
        slots = self.own.get("slots", 1)
        tossed = len(head) == self._coins and all(0 <= each <= WORD for each in head)
        sent = (
            type(slots) is int
            and 1 <= slots <= MOST_SLOTS
            and (self.from_shuffler or first + len(weights) <= slots + 1)
        )
        return tossed and counted and local and self._described and sent

    @property
    def _described(self) -> bool:
        """Whether its kind and its numbers describe fakes."""
        own = self.own
        idle = (OF_SHUFFLER if self.from_shuffler else OF_USERS)[own["kind"]]
        silent = all(own[name] == 0 for name in idle if name in own)
        tossed = all(0.0 < own[name] <= 1.0 for name in ("chance", "keep") if name in own)
        falling = all(0.0 <= own[name] < 1.0 for name in ("left", "right") if name in own)
        many = "rate" in idle or 0.0 < own.get("rate", 1.0) < math.inf
        center = own.get("center", 0)
        counted = type(center) is int and center >= 0
        return silent and tossed and falling and many and counted

    @property
    def _parts(self) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        """Coins, the first count of a table, and its weights, if there is one."""
        head, table = self.integers[: self._coins], self.integers[self._coins :]
        return head, table[0] if table else 0, table[1:]

    @property
    def _coins(self) -> int:
        return 2 if self.from_shuffler or self.own["kind"] == "bernoulli" else 1

    @property
    def faked(self) -> bool:
        return True

    @property
    def from_shuffler(self) -> bool:
        """Whether the shuffler adds them."""
        return self.family != "fakes"

    @property
    def repeats(self) -> int:
        """As how many rounds of the same the view counts."""
        return 1

    @property
    def plain(self) -> bool:
        """Whether a true message is the value itself."""
        return self.epsilon0 == math.inf

    @property
    def messages(self) -> int:
        return 1 + int(self.own["slots"]) if self.family == "fakes" else 1

    @property
    def shuffler(self) -> str:
        return "messages mixed" if self.family == "fakes" else "honest dummies"

    @property
    def theorems(self) -> tuple[tuple[str, ...], ...]:
        if self.plain:
            return ((self.family,),)
        if self.family == "fakes":
            return (("fakes and reports",),)
        beside: tuple[tuple[str, ...], ...] = (("scan",),) if self.k == 2 else (("blanket", "swap"), ("blanket",))
        return (("dummies",), *(("dummies", *each) for each in beside))

    @property
    def cuts(self) -> bool:
        return not self.plain or (self.family == "fakes" and self.own["kind"] == "poisson")

    @cached_property
    def keep(self) -> Fraction:
        """How often a true message is handed on."""
        return Fraction(self._parts[0][1], WORD) if self.from_shuffler else Fraction(1)

    @cached_property
    def hit(self) -> Fraction:
        noise = Fraction(self.integers[0], WORD)
        return self.keep * (1 - noise + noise / self.k)

    @cached_property
    def miss(self) -> Fraction:
        return self.keep * Fraction(self.integers[0], WORD) / self.k

    @cached_property
    def implied(self) -> Decimal:
        """epsilon0 as the integers imply it."""
        if not self.integers[0]:
            return Decimal("Infinity")
        ratio = self.hit / self.miss
        return DIGITS.ln(DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))

    @cached_property
    def least_integers(self) -> tuple[int, ...]:
        """All integers by rules of our own; of the table all but the last digits count."""
        light = 0
        if not self.plain:
            light = CountedLaw("krr", self.k, (WORD // 2,), 0, self.epsilon0).least_integers[0]
        tossed = self.own["chance"] if self.family == "fakes" else self.own.get("keep", 1.0)  # a tree keeps all
        head, first, weights = self._parts
        coins = (light, round(Fraction(tossed) * WORD)) if len(head) == 2 else (light,)
        if not weights:
            return coins
        ideal, heaviest = self.ideal(first, len(weights)), max(weights)  # which has what rounding leaves over
        near = all(
            abs(mine - each * WORD) <= 2 + len(weights) * (mine == heaviest)
            for mine, each in zip(weights, ideal, strict=True)
        )
        whole = sum(ideal) >= 1 - Fraction(4 * len(weights), WORD)
        return (*coins, first, *weights) if near and whole else (*coins, first)

    def ideal(self, first: int, size: int) -> list[Fraction]:
        """The probabilities of as many counts from the first on."""
        counts = range(first, first + size)
        if self.from_shuffler and self.own["kind"] == "geometric":
            center, left, right = self.own["center"], Fraction(self.own["left"]), Fraction(self.own["right"])
            below = left * (1 - _power(left, center, Fraction(1))) / (1 - left)  # left + left^2 + ... + left^center
            norm = below + 1 / (1 - right)
            return [
                _power(left, center - each, norm) if each < center else _power(right, each - center, norm)
                for each in counts
            ]
        mean = self.own["rate"] if self.from_shuffler else self.own["slots"] * self.own["chance"]
        terms = _poisson(mean)
        chances = list(islice(terms, first, first + size))
        if self.family == "fakes" and counts[-1] == self.own["slots"]:  # what is beyond counts as the last
            chances[-1] = sum(takewhile(lambda each: each > NEVER, terms), chances[-1])
        return [Fraction(each) for each in chances]

    @cached_property
    def table(self) -> tuple[int, Array]:
        """The first count of fakes, of a value or of a person, and the probabilities."""
        _, first, weights = self._parts
        return first, np.array([weight / WORD for weight in weights])

    def fakes(self, people: int, size: int = 1) -> tuple[int, Array]:
        """How many fakes name one of ``size`` values, where so many people sent theirs."""
        if self.from_shuffler:
            return added(*self.table, size)
        share = size / self.k
        if self.own["kind"] == "bernoulli":
            named = self._parts[0][1] / WORD * share
            return added(0, np.array([1.0 - named, named]), people * int(self.own["slots"]))
        first, chances = self.table
        mine = np.zeros(first + len(chances))
        for number, chance in enumerate(chances.tolist(), start=first):
            for named_of in range(number + 1):
                mine[named_of] += (
                    chance * math.comb(number, named_of) * share**named_of * (1 - share) ** (number - named_of)
                )
        return added(0, mine, people)

    def moments(self, people: int, size: int = 1) -> tuple[Fraction, Fraction]:
        share = Fraction(size, self.k)
        _, first, weights = self._parts
        if not weights:
            named, slots = Fraction(self._parts[0][1], WORD) * share, people * int(self.own["slots"])
            return slots * named, slots * named * (1 - named)
        mean = Fraction(sum((first + at) * weight for at, weight in enumerate(weights)), WORD)
        square = Fraction(sum((first + at) ** 2 * weight for at, weight in enumerate(weights)), WORD)
        variance = square - mean**2
        if self.from_shuffler:
            return size * mean, size * variance
        return people * mean * share, people * (mean * share * (1 - share) + variance * share**2)

    def most_votes(self, people: int) -> int:
        if self.family == "fakes":
            return super().most_votes(people)
        first, chances = self.table
        return people * self.messages + first + len(chances) - 1

    def usual_votes(self, people: int, honest: int) -> tuple[int, int]:
        """From where to where the number of messages that name a value lies, if ``honest`` of the
        people follow the law; beyond, it is as good as impossible.
        """
        from scipy.stats import binom

        honest = people if self.from_shuffler else min(honest, people)
        first, chances = self.fakes(honest, self.places)
        if self.keep == 1:
            first += honest * self.repeats
        else:
            keep = float(self.keep)
            least_kept, most_kept = (int(each) for each in binom.interval(1.0 - IMPOSSIBLE, honest, keep))
            kept = binom.pmf(np.arange(least_kept, most_kept + 1), honest, keep)
            first, chances = first + least_kept, np.convolve(chances, kept)
        low = int(np.searchsorted(np.cumsum(chances), IMPOSSIBLE))
        high = len(chances) - 1 - int(np.searchsorted(np.cumsum(chances[::-1]), IMPOSSIBLE))
        return first + low, first + high + (people - honest) * self.messages

    @cached_property
    def certain(self) -> float:
        """How likely one round tells the value for certain, by a count only one can have."""
        if not self.plain or not self.from_shuffler:
            return 0.0
        without, held = self._counts
        alone = [float(one[other == 0.0].sum()) for one, other in ((held, without), (without, held))]
        return (alone[0] + alone[1] - alone[0] * alone[1]) * (1.0 - ROUNDED)

    @cached_property
    def unit(self) -> float:
        """The likeliest loss above 0 of two counts, where there are dummies; or nothing."""
        if not self.plain or not self.from_shuffler:
            return 0.0
        without, held = self._counts
        both = (held > 0.0) & (without > 0.0)
        if not both.any():
            return 0.0
        loss, likely = np.log(held[both] / without[both]), held[both]
        apart = [float(loss[side][np.argmax(likely[side])]) for side in (loss > 0.0, loss < 0.0) if side.any()]
        return abs(apart[0] - (apart[1] if len(apart) > 1 else 0.0)) if apart else 0.0

    def convolved(self, rounds: int, epsilons: Array, step: float) -> tuple[Array, Array]:
        """Both ends of delta after ``rounds`` rounds by the losses of two counts, or 0 and 1."""
        without, held = self._counts
        both = (held > 0.0) & (without > 0.0)
        if not self.unit:
            return np.zeros_like(epsilons), np.ones_like(epsilons)
        loss = np.log(held[both] / without[both])
        loss -= loss[np.argmax(held[both])]  # of both counts: it cancels
        certain = self.certain, min(self.certain * (1.0 + 4.0 * ROUNDED), 1.0)
        return rounds_of_losses((loss, -loss), (held[both], without[both]), step, rounds, epsilons, certain)

    @property
    def farthest(self) -> float:
        return self.epsilon0

    @property
    def _counts(self) -> tuple[Array, Array]:
        """The laws of the count of a value that the target lacks, and of one that it holds."""
        without, keep = np.append(self.table[1], 0.0), float(self.keep)
        return without, keep * np.append(0.0, self.table[1]) + (1.0 - keep) * without

    def spans(
        self, users: int, epsilons: Array, check: Callable[[], None]
    ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """What is seen of one round with so many honest users, or of one of its ``repeats``, from
        below and from above: as the theorem has it, and on datasets that there are.
        """
        check()
        if self.plain:
            found = self.deltas(users, epsilons, check)
            return found, found
        upper, lower = self.light_deltas(users, epsilons, check)
        return upper, lower

    def light_deltas(
        self, users: int, epsilons: Array, check: Callable[[], None] = lambda: None
    ) -> list[tuple[Array, Array]]:
        """True messages are randomized: ends of the theorem, and of one dataset."""
        from shuffledp.judge.messages import LightSums  # slow to import, and for these laws only

        keep = float(self.keep)
        sums = LightSums(self.k, float(self.hit) / keep, float(self.miss) / keep, users - 1, check)
        inside = np.minimum(epsilons, self.epsilon0)
        if self.from_shuffler:
            return sums.among_dummies(self.table[1], keep, inside)
        first, chances = self.fakes(users, 2)
        mean, _ = self.moments(users, self.k - 2)
        if self.own["kind"] == "bernoulli":
            share = self._parts[0][1] / WORD / self.k
            drop = (self.k - 2) * share / max(1.0 - 2.0 * share, 1e-300)
            return sums.among_fakes(first, chances, users * int(self.own["slots"]) * drop, drop, inside)
        # Of Poisson numbers, those of other values would say nothing of these.
        (low, high), seen = sums.among_fakes(first, chances, float(mean), 0.0, inside)
        paid = (1.0 + np.exp(inside)) * users * self._from_poisson
        order = np.argsort(epsilons)
        high = np.minimum(high + paid, 1.0)
        high[order] = np.minimum.accumulate(high[order])  # what is kept at an epsilon is kept at larger ones
        return [(low, high), seen]

    @property
    def _from_poisson(self) -> float:
        """How far a person's table is from a Poisson number of fakes."""
        _, first, weights = self._parts
        excess = Fraction(0)
        ideal = _poisson(self.own["slots"] * self.own["chance"])
        for weight, chance in zip(chain(repeat(0, first), weights), ideal, strict=False):
            excess += max(Fraction(weight, WORD) - Fraction(chance), Fraction(0))
        return float(excess)

    def deltas(self, users: int, epsilons: Array, check: Callable[[], None] = lambda: None) -> tuple[Array, Array]:
        """Both ends of one round (one of its ``repeats``) with so many honest people."""
        if self.from_shuffler:
            if len(self.table[1]) > MOST_CELLS // 2:
                raise TooLarge(f"{len(self.table[1])} numbers of dummies are too many to be paired")
            return _two_counts(*self._counts, epsilons, check)
        first, chances = self.fakes(users, 2)
        if len(chances) > MOST_CELLS:
            raise TooLarge(f"{len(chances)} numbers of fakes are too many to be added up")
        return _split_in_two(first, chances, epsilons, check)


def _poisson(mean: float) -> Iterator[Decimal]:
    """The probabilities of 0, 1, 2, ..., each from the one before."""
    rate = Decimal(mean)
    chance = DIGITS.exp(-rate)
    for count in range(1, MOST_COUNTED):
        yield chance
        chance = DIGITS.divide(DIGITS.multiply(chance, rate), Decimal(count))
    raise TooLarge(f"Poisson numbers beyond {MOST_COUNTED} are too many to be added up")


def _power(base: Fraction, steps: int, norm: Fraction) -> Fraction:
    """base^steps / norm, to 60 digits, and to 60 places."""
    if not base:
        return Fraction(0) if steps else 1 / norm
    value = DIGITS.power(DIGITS.divide(Decimal(base.numerator), Decimal(base.denominator)), Decimal(steps))
    return Fraction(value) / norm if value > NEVER else Fraction(0)


def added(first: int, chances: Array, times: int) -> tuple[int, Array]:
    """The law of a sum of so many, by doubling; what is too rare is left out."""
    total, at, power, step = np.ones(1), 0, chances, first
    while times:
        if times & 1:
            total, at = np.convolve(total, power), at + step
            total, at = _cut(total, at)
        times >>= 1
        if times:
            power, step = _cut(np.convolve(power, power), 2 * step)
        if len(power) > MOST_CELLS**2:
            raise TooLarge(f"{len(power)} numbers of fakes are too many to be added up")
    return at, total


def _cut(chances: Array, first: int) -> tuple[Array, int]:
    kept = np.flatnonzero(chances > LEFT_OUT)
    return chances[kept[0] : kept[-1] + 1], first + int(kept[0])


def _two_counts(without: Array, held: Array, epsilons: Array, check: Callable[[], None]) -> tuple[Array, Array]:
    """(Z0 + B, Z1) against (Z0, Z1 + B), B a coin: every pair of counts, added up."""
    there, back = np.outer(held, without), np.outer(without, held)
    seen = there > back  # for what epsilon ever
    there, back = there[seen], back[seen]
    found, sizes = [], []
    for growth in np.exp(epsilons).tolist():
        check()
        gains = there > growth * back
        gained, cost = float(there[gains].sum()), growth * float(back[gains].sum())
        found.append(gained - cost)
        sizes.append(gained + cost)
    return _ends(found, sizes, CANCELED)


def _split_in_two(first: int, chances: Array, epsilons: Array, check: Callable[[], None]) -> tuple[Array, Array]:
    """Of m fakes that name one of two values, each names either alike; with the target's, the first
    value has a and the second b = m + 1 - a, and the ratio of the two laws is a / b.
    """
    from scipy.stats import binom

    many = first + np.arange(len(chances))
    found, sizes = [], []
    for growth in np.exp(epsilons).tolist():
        check()
        least = np.floor(growth * (many + 1) / (1.0 + growth)) + 1  # the first a with a > e^eps b
        gains, costs = binom.sf(least - 2, many, 0.5), growth * binom.sf(least - 1, many, 0.5)
        better = gains > costs
        found.append(float(chances[better] @ (gains - costs)[better]))
        sizes.append(float(chances[better] @ (gains + costs)[better]))
    return _ends(found, sizes, BINOMIAL)


def _ends(found: list[float], sizes: list[float], canceled: float) -> tuple[Array, Array]:
    """Sums, less and more what rounding may have done to terms of these sizes."""
    total = np.array(found)
    slack = ROUNDED * total + canceled * np.array(sizes) + UNSEEN
    return np.maximum(total - slack, 0.0), np.minimum(total + slack, 1.0)
