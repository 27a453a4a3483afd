"""What an attacker makes of messages: the documented law of one person's, and how likely all that
the shuffler hands on is for the target's two values.

It is written from the documents of the laws, not with the code that draws or accounts them: a
sampler that strays from them is caught.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shuffledp._types import Floats
from shuffledp.audits.joint import Joint, Seen
from shuffledp.audits.reading import Classes, Misread
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.messages import MessageLaw, ShufflerDummies, SignedUnits, SplitShares, TreeDummies, UserFakes

__all__ = ["Beside", "MessageView", "dummies_law", "view_of"]

TINY = 1e-300
MOST_STRATA = 64  # values whose reports are counted apart
FEW = 6  # messages of a kind that are told apart one by one
MOST_CLASSES = 64
RARE = 1e-20
FAR = 45.0  # noise of so many times its scale, and no farther


@dataclass(frozen=True, eq=False)
class Beside(Joint):
    """Reports told by what they hold beside their sender's value, whose law is the same for all
    values; a hit is anything but the likeliest class.
    """

    view: MessageView

    @classmethod
    def of(cls, view: MessageView) -> Beside:
        """All values are drawn, or some of very many."""
        inputs, law = np.arange(min(view.law.k, MOST_STRATA)), view.person
        hit = 1.0 - float(law.max())
        return cls(inputs, np.tile(law, len(inputs)) / len(inputs), np.full(len(inputs), hit), law, view)

    def read(self, drawn: NDArray[np.intp], reports: NDArray[Any], generator: np.random.Generator) -> Seen:
        classes = self.view.classify(self.inputs[drawn], self.view.rows(reports))
        return Seen(drawn * len(self.mark_law) + classes, classes != int(np.argmax(self.mark_law)), classes)


@dataclass(frozen=True, eq=False)
class MessageView(ABC):
    """``inputs`` are the target's two values, and what all others hold."""

    law: Any
    people: int

    @property
    def inputs(self) -> tuple[int, int, int]:
        """Others hold a third value where there is one: their messages then lie apart."""
        return 0, 1, min(2, self.law.k - 1)

    @property
    @abstractmethod
    def person(self) -> Floats:
        """The law of the classes of one person's report."""

    @abstractmethod
    def classify(self, values: NDArray[np.intp], rows: NDArray[Any]) -> Classes:
        """The class of each report, beside the value of its sender."""

    @abstractmethod
    def seen(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        """All that the attacker looks at of one run's messages."""

    @abstractmethod
    def loss(self, seen: NDArray[np.int64]) -> Floats:
        """The log-likelihood ratio of the target's two values, or nearly, for each row of what was
        ``seen``.
        """

    @abstractmethod
    def answers(self, seen: NDArray[np.int64]) -> Floats:
        """What the analyst must say of it: how many hold each value, or the sum of what people
        hold.
        """

    @property
    def handed(self) -> int | None:
        """How many messages the shuffler hands on; None if it adds or drops some."""
        return self.people * int(self.law.messages)

    @property
    def outputs(self) -> int:
        """Messages are numbers below this."""
        outputs: int = self.law.message.outputs
        return outputs

    def rows(self, reports: NDArray[Any]) -> NDArray[Any]:
        """People's reports, if they have the documented form."""
        width = int(self.law.messages)
        rows = reports[:, None] if width == 1 and reports.ndim == 1 else reports
        if reports.dtype != np.min_scalar_type(self.outputs - 1) or rows.shape[1:] != (width,):
            raise Misread(
                f"a report must be {width} of {np.min_scalar_type(self.outputs - 1)}, got {reports.dtype} of shape "
                f"{reports.shape[1:]}"
            )
        self.check(reports)
        return rows

    def messages(self, messages: NDArray[Any]) -> NDArray[Any]:
        """What the shuffler handed on, if it has the documented form."""
        if messages.ndim != 1 or self.handed not in (None, len(messages)):
            raise Misread(f"there must be {self.handed} messages, got {messages.shape}")
        self.check(messages)
        return messages

    def check(self, messages: NDArray[Any]) -> None:
        """No message may say more than is documented."""
        if messages.size and (int(messages.min()) < 0 or int(messages.max()) >= self.outputs):
            raise Misread(f"messages must be below {self.outputs}, got {int(messages.max())}")


class Among(MessageView):
    """True values among fakes: how often each value is named."""

    @property
    def truth(self) -> tuple[float, float]:
        """The chance that a true message names its sender's value, and that it names another."""
        k, epsilon0 = self.law.k, self.law.epsilon0
        if epsilon0 == math.inf:
            return 1.0, 0.0
        rest = 1.0 / (math.exp(epsilon0) + k - 1.0)
        return math.exp(epsilon0) * rest, rest

    def seen(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(messages, minlength=self.outputs)[: self.law.k].astype(np.int64)


class AmongFakes(Among):
    """Fakes of users: given how many there are, all values are equally likely, so the ratio is that
    of how often the target's two values are named by messages that are not the others' truth.
    """

    def slots_law(self) -> Floats:
        """How many fakes a person sends."""
        law, slots = self.law, np.arange(self.law.slots + 1)
        if law.kind == "bernoulli":
            return _binomial(law.slots, law.chance)
        mean = law.slots * law.chance
        chances = np.exp(slots * math.log(mean) - mean - gammaln(slots + 1.0))
        chances[-1] = 1.0 - chances[:-1].sum()
        return np.asarray(chances)

    @property
    def person(self) -> Floats:
        """How often the own value is named, and how many others are."""
        hit, _ = self.truth
        table = np.zeros((FEW + 1, FEW + 1))
        for fakes, chance in enumerate(self.slots_law().tolist()):
            for own, share in enumerate(_binomial(fakes, 1.0 / self.law.k).tolist()):
                for true, part in ((1, hit), (0, 1.0 - hit)):
                    table[min(own + true, FEW), min(fakes - own + 1 - true, FEW)] += chance * share * part
        return table.ravel()

    def answers(self, seen: NDArray[np.int64]) -> Floats:
        hit, miss = self.truth
        fakes = float(self.slots_law() @ np.arange(self.law.slots + 1)) / self.law.k
        return np.asarray((seen - self.people * (miss + fakes)) / (hit - miss))

    def classify(self, values: NDArray[np.intp], rows: NDArray[Any]) -> Classes:
        own = np.count_nonzero(rows == values[:, None], axis=1)
        named = np.count_nonzero(rows < self.law.k, axis=1)
        return np.asarray(np.minimum(own, FEW) * (FEW + 1) + np.minimum(named - own, FEW))

    def loss(self, seen: NDArray[np.int64]) -> Floats:
        hit, miss = self.truth
        first, second, other = self.inputs
        free = seen.astype(np.float64)
        free[:, other] -= (self.people - 1) * (hit - miss)
        weights = np.maximum((hit - miss) * free[:, [first, second]] + miss * free.sum(axis=1)[:, None], 0.0)
        return np.asarray(np.log(np.maximum(weights[:, 0], TINY)) - np.log(np.maximum(weights[:, 1], TINY)))


def dummies_law(law: ShufflerDummies | TreeDummies) -> tuple[int, Floats]:
    """How many dummies a value gets: the least number that is at all likely, and the chances of it
    and the next.
    """
    if law.kind == "poisson":
        wide = 12.0 * math.sqrt(law.rate) + 40.0
        counts = np.arange(max(0, math.floor(law.rate - wide)), math.ceil(law.rate + wide) + 1)
        logs = counts * math.log(law.rate) - gammaln(counts + 1.0)
    else:
        below, above = (math.ceil(FAR / -math.log(side)) if side else 0 for side in (law.left, law.right))
        counts = np.arange(max(0, law.center - below), law.center + above + 1)
        falls = [math.log(side) if side else 0.0 for side in (law.left, law.right)]
        logs = np.where(counts < law.center, (law.center - counts) * falls[0], (counts - law.center) * falls[1])
    chances = np.exp(logs - logs.max())
    return int(counts[0]), np.asarray(chances / chances.sum())


class AmongDummies(Among):
    """Dummies of the shuffler: the counts of values are nearly independent of each other; exactly
    so, if true messages are the plain values.
    """

    @property
    def handed(self) -> None:
        return None

    @property
    def person(self) -> Floats:
        hit, miss = self.truth
        return np.array([hit, miss * (self.law.k - 1.0)])

    def answers(self, seen: NDArray[np.int64]) -> Floats:
        hit, miss = self.truth
        first, law = dummies_law(self.law)
        dummies = first + float(law @ np.arange(len(law)))
        return np.asarray((seen - self.people * self.law.keep * miss - dummies) / (self.law.keep * (hit - miss)))

    def classify(self, values: NDArray[np.intp], rows: NDArray[Any]) -> Classes:
        return np.asarray((rows[:, 0] != values).astype(np.intp))

    def loss(self, seen: NDArray[np.int64]) -> Floats:
        """Of each value the law of dummies and others' messages, times 1 - keep, or moved by the
        target's message times keep.
        """
        hit, miss = self.truth
        keep = self.law.keep
        moved = np.empty(seen.shape)
        for value in range(self.law.k):
            first, law = self.others(value)
            place = seen[:, value] - first
            at, before = (_look_up(law, place - step) for step in (0, 1))
            moved[:, value] = before / np.maximum(at, TINY)
        total = moved.sum(axis=1)
        likely = [(1.0 - keep) + keep * ((hit - miss) * moved[:, x] + miss * total) for x in self.inputs[:2]]
        return np.asarray(np.log(np.maximum(likely[0], TINY)) - np.log(np.maximum(likely[1], TINY)))

    def others(self, value: int) -> tuple[int, Floats]:
        """How often a value is named by dummies and the others."""
        first, law = dummies_law(self.law)
        chance = self.truth[0 if value == self.inputs[2] else 1]
        return first, np.convolve(law, _binomial(self.people - 1, self.law.keep * chance))


class AmongNodes(AmongDummies):
    """Dummies in all levels of a tree: what the two values tell apart is a pair of nodes on every
    level, each by itself.
    """

    @property
    def inputs(self) -> tuple[int, int, int]:
        """The target's differ on every level; all others hold a value between."""
        return 0, self.law.k - 1, self.law.k // 2

    def nodes(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Of each value, the node on every level, numbered through all levels."""
        columns, before = [], 0
        for level in range(self.law.levels):
            width = self.law.branches ** (self.law.levels - 1 - level)
            columns.append(before + values.astype(np.int64) // width)
            before += -(-self.law.k // width)
        return np.stack(columns, axis=1)

    def classify(self, values: NDArray[np.intp], rows: NDArray[Any]) -> Classes:
        return np.asarray(np.any(rows != self.nodes(values), axis=1).astype(np.intp))

    def seen(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(messages, minlength=self.outputs).astype(np.int64)

    def loss(self, seen: NDArray[np.int64]) -> Floats:
        first, law = dummies_law(self.law)
        one, two, others = self.nodes(np.array(self.inputs))
        total = np.zeros(len(seen))
        for sign, nodes in ((1.0, one), (-1.0, two)):
            for node in nodes.tolist():
                place = seen[:, node] - first - (self.people - 1) * int(node in others)
                at, before = (np.log(np.maximum(_look_up(law, place - step), TINY)) for step in (0, 1))
                total += sign * (before - at)
        return total

    def answers(self, seen: NDArray[np.int64]) -> Floats:
        """By least squares, where all but the last value are free and that one has the rest."""
        first, law = dummies_law(self.law)
        holding = np.zeros((self.outputs, self.law.k))
        for value, nodes in enumerate(self.nodes(np.arange(self.law.k))):
            holding[nodes, value] = 1.0
        counted = seen - first - float(law @ np.arange(len(law))) - self.people * holding[:, -1]
        held = np.linalg.lstsq(holding[:, :-1] - holding[:, -1:], counted, rcond=None)[0]
        return np.append(held, self.people - held.sum())


class SignedView(MessageView):
    """+1 and -1: how many there are of both."""

    @property
    def inputs(self) -> tuple[int, int, int]:
        return 0, 1, 0

    @property
    def person(self) -> Floats:
        """How many of both are added; the last class is more of one than are told apart."""
        most = self.law.messages - 1
        table = self.added(most)
        plus, minus = np.indices(table.shape)
        table[plus + minus > most] = 0.0
        table[0, 0] += 1.0 - table.sum()  # whoever has no room adds nothing
        few = min(FEW, most + 1)
        cells = table[:few, :few].ravel()
        return np.append(cells, max(0.0, 1.0 - cells.sum()))

    def added(self, most: int) -> Floats:
        """How likely one person adds so many +1 and so many -1, up to ``most`` of each."""
        share = 1.0 / self.law.honest
        single = _negative_binomial(share, math.exp(-self.law.decay), most)
        pairs = _poisson(share * self.law.pairs, most)
        table = np.zeros((most + 1, most + 1))
        for both, chance in enumerate(pairs.tolist()):
            part = single[: most + 1 - both]
            table[both:, both:] += chance * np.outer(part, part)
        return table

    def classify(self, values: NDArray[np.intp], rows: NDArray[Any]) -> Classes:
        plus = np.count_nonzero(rows == 1, axis=1) - values
        minus = np.count_nonzero(rows == 2, axis=1)
        if int(plus.min()) < 0:
            raise Misread("whoever holds the value must send +1, got a report without one")
        few = min(FEW, self.law.messages)
        return np.asarray(np.where((plus < few) & (minus < few), plus * few + minus, few * few))

    def seen(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(messages, minlength=3)[1:3].astype(np.int64)

    def answers(self, seen: NDArray[np.int64]) -> Floats:
        plus, minus = seen.tolist()
        return np.array([float(plus - minus)])

    def loss(self, seen: NDArray[np.int64]) -> Floats:
        """Nobody else holds the value."""
        share, most = self.people / self.law.honest, int(seen.max())
        single = _negative_binomial(share, math.exp(-self.law.decay), most)
        chances = _poisson(share * self.law.pairs, most)
        pairs = np.flatnonzero(chances > RARE * chances.max())
        cells, place = np.unique(seen, axis=0, return_inverse=True)
        by_minus = chances[pairs] * _look_up(single, cells[:, 1:] - pairs)
        zero, one = ((by_minus * _look_up(single, cells[:, :1] - held - pairs)).sum(axis=1) for held in (0, 1))
        loss = np.log(np.maximum(zero, TINY)) - np.log(np.maximum(one, TINY))
        return np.asarray(loss[place.ravel()])


class SplitView(MessageView):
    """Shares: their sum says what the noise lets through, and each by itself nothing."""

    @property
    def inputs(self) -> tuple[int, int, int]:
        return 0, self.law.k - 1, 0

    def noise(self, people: int) -> Floats:
        """How likely the noise of so many people is -reach, ..., reach."""
        reach = min(people * self.law.reach, math.ceil(FAR / self.law.decay))
        single = _negative_binomial(people / self.law.honest, math.exp(-self.law.decay), reach)
        return np.convolve(single, single[::-1])

    @property
    def person(self) -> Floats:
        return np.asarray(np.bincount(self.classes, weights=self.noise(1)), dtype=np.float64)

    @property
    def classes(self) -> Classes:
        """The class of each noise: neighbors together, so that there are few."""
        law = self.noise(1)
        reached = np.minimum((np.cumsum(law) - law / 2.0) / law.sum(), 1.0 - 1e-12)
        found: Classes = np.unique((reached * MOST_CLASSES).astype(np.intp), return_inverse=True)[1].ravel()
        return found

    def classify(self, values: NDArray[np.intp], rows: NDArray[Any]) -> Classes:
        noise, classes = self.total(rows.astype(np.uint64).sum(axis=1) - values.astype(np.uint64)), self.classes
        reach = len(classes) // 2
        return classes[np.clip(noise + reach, 0, len(classes) - 1)]

    def total(self, sums: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Sums modulo the size of a share, from minus one half of it to one half."""
        modulus = np.uint64(1 << self.law.share_bits)
        wrapped = (sums & (modulus - np.uint64(1))).astype(np.int64)
        return np.asarray(np.where(wrapped >= 1 << (self.law.share_bits - 1), wrapped - int(modulus), wrapped))

    def seen(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        return self.total(messages.astype(np.uint64).sum(keepdims=True))

    def answers(self, seen: NDArray[np.int64]) -> Floats:
        return seen.astype(np.float64)

    def loss(self, seen: NDArray[np.int64]) -> Floats:
        law = self.noise(self.people)
        reach = len(law) // 2
        zero, one = (_look_up(law, seen[:, 0] - held + reach) for held in self.inputs[:2])
        return np.asarray(np.log(np.maximum(zero, TINY)) - np.log(np.maximum(one, TINY)))


VIEWS: dict[type[MessageLaw], type[MessageView]] = {
    UserFakes: AmongFakes,
    ShufflerDummies: AmongDummies,
    TreeDummies: AmongNodes,
    SignedUnits: SignedView,
    SplitShares: SplitView,
}


def view_of(law: MessageLaw, people: int) -> MessageView:
    """How the messages of a law are read, with so many people."""
    if type(law) not in VIEWS:
        raise InvalidInput(
            f"the audit must know how to read messages, got {type(law).__name__} of {people} people. Write a Subject."
        )
    return VIEWS[type(law)](law, people)


def _look_up(law: Floats, places: NDArray[np.int64]) -> Floats:
    inside = (places >= 0) & (places < len(law))
    return np.asarray(np.where(inside, law[np.clip(places, 0, len(law) - 1)], 0.0))


def _binomial(trials: int, chance: float) -> Floats:
    from scipy.stats import binom  # large, and needed by audits only

    return np.asarray(binom.pmf(np.arange(trials + 1), trials, chance))


def _poisson(mean: float, most: int) -> Floats:
    counts = np.arange(most + 1)
    return np.asarray(np.exp(counts * math.log(max(mean, TINY)) - mean - gammaln(counts + 1.0)))


def _negative_binomial(shape: float, ratio: float, most: int) -> Floats:
    """The sum of ``shape`` geometric variables, which need not be whole."""
    counts = np.arange(most + 1)
    logs = gammaln(counts + shape) - gammaln(shape) - gammaln(counts + 1.0)
    return np.asarray(np.exp(logs + shape * math.log1p(-ratio) + counts * math.log(ratio)))
