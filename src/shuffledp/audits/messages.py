"""Laws of several messages under attack: all that the shuffler hands on is read at once.

A view is what an attacker makes of messages: the law of one person's, and how likely all that is
handed on is for the target's two values. The judge derives these from the documented law: a sampler
that strays from it is caught.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.shuffled import shuffle
from shuffledp.audits.census import Finding, binomial, least, multinomial
from shuffledp.audits.reports import Classes, Joint, Misread, Seen
from shuffledp.audits.trial import Bench, Play, Subject
from shuffledp.errors import InvalidInput, Refusal
from shuffledp.judge.reports import documented
from shuffledp.mechanisms.shuffler import Bag
from shuffledp.randomizers.law_file import law_of
from shuffledp.sampling import Source, source_of

TINY = 1e-300
MOST_STRATA = 64  # values whose reports are counted apart
FEW = 6  # messages of a kind that are told apart one by one
MOST_CLASSES = 64
RARE = 1e-20
FAR = 45.0  # noise of so many times its scale, and no farther
HELD = 3  # messages of one value that the shuffler is given, to see how many it keeps
SHARE_BINS = 64  # in which shares must be equally many
LOUDEST = 600.0


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
    """``law`` is the law that runs, and ``judged`` the same by the judge. ``inputs`` are the
    target's two values, and what all others hold; ``among`` is what a law says to be hidden by.
    """

    among: ClassVar[str]
    law: Any
    judged: Any
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

    def alone(self, subject: Messaged, trials: int, source: Source, generator: np.random.Generator) -> list[Finding]:
        """Whatever else there is to try of such messages, by themselves."""
        return []

    @property
    def handed(self) -> int | None:
        """How many messages the shuffler hands on; None if it adds or drops some."""
        return None if self.law.mixes else self.people * int(self.judged.messages)

    @property
    def outputs(self) -> int:
        """Messages are numbers below this."""
        outputs: int = self.law.message.outputs
        return outputs

    def rows(self, reports: NDArray[Any]) -> NDArray[Any]:
        """People's reports, if they have the documented form."""
        width = int(self.judged.messages)
        rows = reports[:, None] if width == 1 and reports.ndim == 1 else reports
        if reports.dtype != np.min_scalar_type(self.outputs - 1) or rows.shape[1:] != (width,):
            right = f"{width} of {np.min_scalar_type(self.outputs - 1)}"
            raise Misread(f"a report must be {right}, got {reports.dtype} of shape {reports.shape[1:]}")
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
        keep = float(self.judged.keep)
        return float(self.judged.hit) / keep, float(self.judged.miss) / keep

    def seen(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(messages, minlength=self.outputs)[: self.law.k].astype(np.int64)

    def answers(self, seen: NDArray[np.int64]) -> Floats:
        hit, miss, fakes = float(self.judged.hit), float(self.judged.miss), float(self.judged.moments(self.people)[0])
        return np.asarray((seen - self.people * miss - fakes) / (hit - miss))


class AmongFakes(Among):
    """Fakes of users: given how many there are, all values are equally likely, so the ratio is that
    of how often the target's two values are named by messages that are not the others' truth.
    """

    among = "people's fakes"

    @property
    def person(self) -> Floats:
        """How often the own value is named, and how many others are."""
        hit, _ = self.truth
        slots = self.judged.messages - 1
        tossed = not len(self.judged.table[1])
        many = _binomial(slots, self.judged.own["chance"]) if tossed else self.judged.ideal(0, slots + 1)
        cells = np.zeros((FEW + 1, FEW + 1))
        for fakes, chance in enumerate(map(float, many)):
            for own, share in enumerate(_binomial(fakes, 1.0 / self.law.k).tolist()):
                for true, part in ((1, hit), (0, 1.0 - hit)):
                    cells[min(own + true, FEW), min(fakes - own + 1 - true, FEW)] += chance * share * part
        return cells.ravel()

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
        return _log_ratio(weights[:, 0], weights[:, 1])


def dummies_law(judged: Any) -> tuple[int, Floats]:
    """How many dummies a value gets: the least number that is at all likely, and the chances of it
    and the next.
    """
    first, table = judged.table
    chances = np.array([float(each) for each in judged.ideal(first, len(table))])
    return first, chances / chances.sum()


class AmongDummies(Among):
    """Dummies of the shuffler: the counts of values are nearly independent of each other; exactly
    so, if true messages are the plain values.
    """

    among = "dummies"

    @cached_property
    def dummies(self) -> tuple[int, Floats]:
        """How many dummies a value gets."""
        return dummies_law(self.judged)

    @property
    def person(self) -> Floats:
        hit, miss = self.truth
        return np.array([hit, miss * (self.law.k - 1.0)])

    def classify(self, values: NDArray[np.intp], rows: NDArray[Any]) -> Classes:
        return np.asarray((rows[:, 0] != values).astype(np.intp))

    def loss(self, seen: NDArray[np.int64]) -> Floats:
        """Of each value the law of dummies and others' messages, times 1 - keep, or moved by the
        target's message times keep.
        """
        hit, miss = self.truth
        first, dummies = self.dummies
        keep = float(self.judged.keep)
        moved = np.empty(seen.shape)
        for value in range(self.law.k):
            chance = keep * (hit if value == self.inputs[2] else miss)  # of each of the others
            law, place = np.convolve(dummies, _binomial(self.people - 1, chance)), seen[:, value] - first
            at, before = (_look_up(law, place - step) for step in (0, 1))
            moved[:, value] = before / np.maximum(at, TINY)
        total = moved.sum(axis=1)
        likely = [(1.0 - keep) + keep * ((hit - miss) * moved[:, x] + miss * total) for x in self.inputs[:2]]
        return _log_ratio(likely[0], likely[1])

    def alone(self, subject: Messaged, trials: int, source: Source, generator: np.random.Generator) -> list[Finding]:
        """The shuffler alone, given a few messages of one value: how many of those it keeps, how
        many dummies it adds, and where they lie.
        """
        last = self.outputs - 1  # of what a message can name: in order they would come last
        given = np.full(HELD, last, dtype=self.law.message.dtype)
        out = [self.messages(subject.mix(given, source)) for _ in range(trials)]
        seen = np.array([self.seen(each) for each in out])
        first, dummies = self.dummies
        kept = np.convolve(dummies, _binomial(HELD, float(self.judged.keep)))
        found = [_counts(seen[:, -1], first, kept), _counts(seen[:, :-1].ravel(), first, dummies)]
        p, which = least(found)
        where = ("messages that are kept", "dummies")[which]
        added: Finding = ("dummies", "the shuffler does not add dummies, or keep messages, by the law", p, where)
        ordered = [each for each in out if np.any(np.diff(each.astype(np.int64)) < 0)]
        return [added, *([_placed(ordered, last, generator)] if ordered else [])]


class AmongNodes(AmongDummies):
    """Dummies in all levels of a tree: what the two values tell apart is a pair of nodes on every
    level, each by itself.
    """

    among = "dummies in a tree"

    @property
    def inputs(self) -> tuple[int, int, int]:
        """The target's differ on every level; all others hold a value between."""
        return 0, self.law.k - 1, self.law.k // 2

    def nodes(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Of each value, the node on every level, numbered through all levels."""
        held = np.nonzero(self.judged.holding.T)[1].reshape(self.law.k, -1)
        return np.asarray(held[values])

    def classify(self, values: NDArray[np.intp], rows: NDArray[Any]) -> Classes:
        return np.asarray(np.any(rows != self.nodes(values), axis=1).astype(np.intp))

    def seen(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(messages, minlength=self.outputs).astype(np.int64)

    def loss(self, seen: NDArray[np.int64]) -> Floats:
        first, law = self.dummies
        one, two, others = self.nodes(np.array(self.inputs))
        total = np.zeros(len(seen))
        for sign, nodes in ((1.0, one), (-1.0, two)):
            for node in nodes.tolist():
                place = seen[:, node] - first - (self.people - 1) * int(node in others)
                total += sign * _log_ratio(_look_up(law, place - 1), _look_up(law, place))
        return total

    def answers(self, seen: NDArray[np.int64]) -> Floats:
        """By least squares, where all but the last value are free and that one has the rest."""
        each = [(value, value + 1) for value in range(self.law.k)]
        return np.asarray(self.judged.in_groups(seen.tolist(), each, self.people).values)


class Shared(MessageView):
    """Noise that people share: each adds a negative binomial number, or two."""

    def noise(self, people: int, most: int) -> Floats:
        """How likely so many people's noise of one sign is 0, 1, ..., most."""
        from scipy.stats import nbinom  # large, and needed by audits only

        shape, success = people / self.judged.own["honest"], float(1 - self.judged.ratio)
        return np.asarray(nbinom.pmf(np.arange(most + 1), shape, success))


class SignedView(Shared):
    """+1 and -1: how many there are of both."""

    among = "pairs of +1 and -1"

    @property
    def inputs(self) -> tuple[int, int, int]:
        return 0, 1, 0

    @property
    def person(self) -> Floats:
        """How many of both are added; the last class is more of one than are told apart."""
        most = self.judged.messages - 1
        single, table = self.noise(1, most), np.zeros((most + 1, most + 1))
        for both, chance in enumerate(self.pairs(1, most).tolist()):
            part = single[: most + 1 - both]
            table[both:, both:] += chance * np.outer(part, part)
        plus, minus = np.indices(table.shape)
        table[plus + minus > most] = 0.0
        table[0, 0] += 1.0 - table.sum()  # whoever has no room adds nothing
        few = min(FEW, most + 1)
        cells = table[:few, :few].ravel()
        return np.append(cells, max(0.0, 1.0 - cells.sum()))

    def pairs(self, people: int, most: int) -> Floats:
        """How likely so many people add 0, 1, ..., most pairs."""
        from scipy.stats import poisson

        mean = people * self.judged.own["pairs"] / self.judged.own["honest"]
        return np.asarray(poisson.pmf(np.arange(most + 1), mean))

    def classify(self, values: NDArray[np.intp], rows: NDArray[Any]) -> Classes:
        plus = np.count_nonzero(rows == 1, axis=1) - values
        minus = np.count_nonzero(rows == 2, axis=1)
        if int(plus.min()) < 0:
            raise Misread("whoever holds the value must send +1, got a report without one")
        few = min(FEW, self.judged.messages)
        return np.asarray(np.where((plus < few) & (minus < few), plus * few + minus, few * few))

    def seen(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(messages, minlength=3)[1:3].astype(np.int64)

    def answers(self, seen: NDArray[np.int64]) -> Floats:
        return np.array([float(self.judged.total(seen.tolist(), self.people))])

    def loss(self, seen: NDArray[np.int64]) -> Floats:
        """Nobody else holds the value."""
        most = int(seen.max())
        single, chances = self.noise(self.people, most), self.pairs(self.people, most)
        pairs = np.flatnonzero(chances > RARE * chances.max())
        cells, place = np.unique(seen, axis=0, return_inverse=True)
        by_minus = chances[pairs] * _look_up(single, cells[:, 1:] - pairs)
        zero, one = ((by_minus * _look_up(single, cells[:, :1] - held - pairs)).sum(axis=1) for held in (0, 1))
        return np.asarray(_log_ratio(zero, one)[place.ravel()])


class SplitView(Shared):
    """Shares: their sum says what the noise lets through, and each by itself nothing."""

    among = "random shares"

    @property
    def inputs(self) -> tuple[int, int, int]:
        return 0, self.law.k - 1, 0

    def both(self, people: int) -> Floats:
        """How likely the noise of so many people is -reach, ..., reach."""
        own = self.judged.own
        single = self.noise(people, min(people * own["reach"], math.ceil(FAR / own["decay"])))
        return np.convolve(single, single[::-1])

    @property
    def person(self) -> Floats:
        return np.asarray(np.bincount(self.classes, weights=self.both(1)), dtype=np.float64)

    @property
    def classes(self) -> Classes:
        """The class of each noise: neighbors together, so that there are few."""
        law = self.both(1)
        reached = np.minimum((np.cumsum(law) - law / 2.0) / law.sum(), 1.0 - 1e-12)
        found: Classes = np.unique((reached * MOST_CLASSES).astype(np.intp), return_inverse=True)[1].ravel()
        return found

    def classify(self, values: NDArray[np.intp], rows: NDArray[Any]) -> Classes:
        noise, classes = self.total(rows.astype(np.uint64).sum(axis=1) - values.astype(np.uint64)), self.classes
        reach = len(classes) // 2
        return classes[np.clip(noise + reach, 0, len(classes) - 1)]

    def total(self, sums: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Sums modulo the size of a share, from minus one half of it to one half."""
        modulus = np.uint64(1 << self.judged.own["share_bits"])
        wrapped = (sums & (modulus - np.uint64(1))).astype(np.int64)
        return np.asarray(np.where(wrapped >= int(modulus) // 2, wrapped - int(modulus), wrapped))

    def seen(self, messages: NDArray[Any]) -> NDArray[np.int64]:
        return self.total(messages.astype(np.uint64).sum(keepdims=True))

    def answers(self, seen: NDArray[np.int64]) -> Floats:
        return seen.astype(np.float64)

    def loss(self, seen: NDArray[np.int64]) -> Floats:
        law = self.both(self.people)
        zero, one = (_look_up(law, seen[:, 0] - held + len(law) // 2) for held in self.inputs[:2])
        return _log_ratio(zero, one)

    def alone(self, subject: Messaged, trials: int, source: Source, generator: np.random.Generator) -> list[Finding]:
        """Every share by itself must be uniform, whatever its sender holds: by its upper and by its
        lower bits, in every place.
        """
        bits = self.judged.own["share_bits"]
        size = min(SHARE_BINS, 1 << bits)
        rows = self.rows(subject.send(np.full(SHARE_BINS * trials, self.law.k - 1), source)).astype(np.int64)
        tests = []
        for column in rows.T:
            for part in (column * size >> bits, column % size):
                tests.append(multinomial(np.bincount(part, minlength=size), np.full(size, 1.0 / size))[0])
        p, which = least(tests)
        return [("shares", "shares are not uniform: one says something by itself", p, f"share {which // 2}")]


VIEWS: tuple[type[MessageView], ...] = (AmongFakes, AmongDummies, AmongNodes, SignedView, SplitView)


def view_of(law: Any, people: int) -> MessageView:
    """How the messages of a law are read, with so many people."""
    try:
        view = next(view for view in VIEWS if view.among == law.hidden_by)
        return view(law, documented(law_of(law)), people)
    except (InvalidInput, StopIteration, AttributeError):
        rule, got = "the audit must know how to read messages", f"{type(law).__name__} of {people} people"
        raise InvalidInput(Refusal(rule, got, "Write a Subject.")) from None


def _log_ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(above, TINY)) - np.log(np.maximum(below, TINY)))


def _look_up(law: Floats, places: NDArray[np.int64]) -> Floats:
    inside = (places >= 0) & (places < len(law))
    return np.asarray(np.where(inside, law[np.clip(places, 0, len(law) - 1)], 0.0))


def _binomial(trials: int, chance: float) -> Floats:
    from scipy.stats import binom  # large, and needed by audits only

    return np.asarray(binom.pmf(np.arange(trials + 1), trials, chance))


class Messaged(Subject):
    """A law of several messages, with ``n`` people: each sends a report, and the shuffler mixes the
    messages of all, or does more if the law says so.
    """

    decode: Callable[[NDArray[Any]], tuple[Floats, Floats]] | None = None

    def __init__(self, law: Any, n: int, *, name: str | None = None) -> None:
        words = ", ".join(f"{key} = {value}" for key, value in law.describe().items())
        self.law: Any = law.realised
        self.n, self.name = n, name or f"{words}; {n} people"
        self.view = view_of(self.law, n)

    def certified(self, delta: float) -> float:
        return shuffle(self.law, n=self.n).epsilon_at_most(delta=delta)

    def send(self, values: NDArray[Any], source: Source) -> NDArray[Any]:
        """What people send who hold these inputs: one report each."""
        return np.asarray(self.law.randomize(values, rng=source))

    def mix(self, messages: NDArray[Any], source: Source) -> NDArray[Any]:
        """What the shuffler hands on of all messages of one run."""
        return Bag({}, self.law.mixed_messages(messages, rng=source)).rows

    def play(self, which: int, runs: int, source: Source) -> Play:
        values = np.full(self.n, self.view.inputs[2])
        values[self.n // 2] = self.view.inputs[which]
        rows = self.view.rows(self.send(np.tile(values, runs), source)).reshape(runs, -1)
        seen = [self.view.seen(self.view.messages(self.mix(run, source))) for run in rows]
        loss = np.clip(self.view.loss(np.array(seen)), -LOUDEST, LOUDEST)
        return Play(np.exp(loss)[:, None], np.ones((runs, 1)))

    def bench(self) -> Bench:
        def alone(trials: int, source: Source, generator: np.random.Generator) -> list[Finding]:
            return self.view.alone(self, trials, source, generator)

        parts = Bench(self.n, Beside.of(self.view), self.send, decode=self.decode, more=alone)
        if self.law.mixes:  # what comes out is not what went in
            return parts
        tokens = self.send(np.arange(self.n) % self.law.k, source_of(None)).ravel()
        return replace(parts, shuffle=lambda each: self.view.messages(self.mix(each, source_of(None))), tokens=tokens)


def _counts(seen: NDArray[np.int64], first: int, law: Floats) -> float:
    """The p-value of independent counts whose law begins at ``first``."""
    places = seen - first
    if int(places.min()) < 0 or int(places.max()) >= len(law):
        return 0.0
    return multinomial(np.bincount(places, minlength=len(law)), law)[0]


def _placed(released: list[NDArray[Any]], given: int, generator: np.random.Generator) -> Finding:
    """Where the messages that were handed in lie among the others, against the same in another
    order: given what was released, either is as likely to be farther to the front.
    """
    signs = []
    for messages in released:
        places = np.flatnonzero(messages == given).sum()
        signs.append(np.sign(places - np.flatnonzero(generator.permutation(messages) == given).sum()))
    before, after = (int(np.count_nonzero(np.array(signs) == sign)) for sign in (-1, 1))
    p = float(binomial(before, before + after, 0.5))
    return "shuffling", "the order of the release says which messages are dummies", p, "over all places"
