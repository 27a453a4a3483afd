"""Laws of several messages under attack: all that the shuffler hands on is read at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.shuffled import shuffle
from shuffledp.audits.census import Finding, binomial, least, multinomial
from shuffledp.audits.messages_seen import Among, Beside, SplitView, dummies_law, view_of
from shuffledp.audits.reading import Misread
from shuffledp.audits.trial import Bench, Play, Subject
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.shuffler import Bag, Reports
from shuffledp.poll import Poll
from shuffledp.randomizers.messages import MessageLaw, SplitShares
from shuffledp.randomizers.messages.dummies import AddedDummies
from shuffledp.sampling import Source, source_of

__all__ = ["Messaged", "Polled", "check_one_round"]

HELD = 3  # messages of one value that the shuffler is given, to see how many it keeps
SHARE_BINS = 64  # in which shares must be equally many
LOUDEST = 600.0


class Messaged(Subject):
    """A law of several messages, with ``n`` people: each sends a report, and the shuffler mixes the
    messages of all, or does more if the law says so.
    """

    decode: Callable[[NDArray[Any]], tuple[Floats, Floats]] | None = None

    def __init__(self, law: MessageLaw, n: int, *, name: str | None = None) -> None:
        words = ", ".join(f"{key} = {value}" for key, value in law.describe().items())
        realised: Any = law.realised
        self.law = realised
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
        adds = isinstance(self.law, AddedDummies)

        def mixed(messages: NDArray[Any]) -> NDArray[Any]:
            return self.view.messages(self.mix(messages, source_of(None)))

        return Bench(
            self.n,
            Beside.of(self.view),
            self.send,
            shuffle=None if adds else mixed,
            tokens=None if adds else self.send(np.arange(self.n) % self.law.k, source_of(None)).ravel(),
            decode=self.decode,
            more=self._dummies if adds else self._shares if isinstance(self.law, SplitShares) else None,
        )

    def _dummies(self, trials: int, source: Source, generator: np.random.Generator) -> list[Finding]:
        """The shuffler alone, given a few messages of one value: how many of those it keeps, how
        many dummies it adds, and where they lie.
        """
        view, law = self.view, self.law
        assert isinstance(view, Among)
        last = view.outputs - 1  # of what a message can name: in order they would come last
        given = np.full(HELD, last, dtype=law.message.dtype)
        out = [view.messages(self.mix(given, source)) for _ in range(trials)]
        seen = np.array([view.seen(each) for each in out])
        first, dummies = dummies_law(law)
        kept = np.convolve(dummies, np.array([_choose(HELD, kept, law.kept) for kept in range(HELD + 1)]))
        found = [_counts(seen[:, -1], first, kept), _counts(seen[:, :-1].ravel(), first, dummies)]
        p, which = least(found)
        where = ("messages that are kept", "dummies")[which]
        added: Finding = ("dummies", "the shuffler does not add dummies, or keep messages, by the law", p, where)
        ordered = [each for each in out if np.any(np.diff(each.astype(np.int64)) < 0)]
        return [added, *([_placed(ordered, last, generator)] if ordered else [])]

    def _shares(self, trials: int, source: Source, generator: np.random.Generator) -> list[Finding]:
        """Every share by itself must be uniform, whatever its sender holds: by its upper and by its
        lower bits, in every place.
        """
        assert isinstance(self.view, SplitView)
        bits, size = self.law.share_bits, min(SHARE_BINS, 1 << self.law.share_bits)
        rows = self.view.rows(self.send(np.full(SHARE_BINS * trials, self.law.k - 1), source)).astype(np.int64)
        tests = []
        for column in rows.T:
            for part in (column * size >> bits, column % size):
                tests.append(multinomial(np.bincount(part, minlength=size), np.full(size, 1.0 / size))[0])
        p, which = least(tests)
        return [("shares", "shares are not uniform: one says something by itself", p, f"share {which // 2}")]


class Polled(Messaged):
    """The same as a poll runs it."""

    def __init__(self, poll: Poll) -> None:
        check_one_round(poll)
        self.poll = poll
        super().__init__(poll.randomizer, poll.n, name=f"{poll.question} by {poll.law.type}, {poll.n} people")

    def certified(self, delta: float) -> float:
        return self.poll.guarantee.epsilon_at_most(delta=delta)

    def mix(self, messages: NDArray[Any], source: Source) -> NDArray[Any]:
        if len(messages) != self.n * self.law.messages:  # the shuffler tried alone
            return super().mix(messages, source)
        try:
            return self._bag(messages.reshape(self.n, -1), source).rows
        except InvalidInput as error:
            raise Misread(f"the shuffler refused the messages: {error}") from error

    def decode(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """What the analyst says of people's reports, and what follows from the messages."""
        bag = self._bag(rows, None)
        right = self.view.answers(self.view.seen(self.view.messages(bag.rows)))
        question, size = self.poll.question, self.law.k
        if question.size is None:  # a sum in steps of the grid
            by, plus = question.scaling(self.n)
            right = by * right / (size - 1) + plus
        elif len(right) == size:  # a group of more than half of the places is counted by the others
            workload = question.workload(size)
            mine, most = workload.apply(right), 2 * workload.apply(np.ones(size)) > size
            right = np.where(most, self.n - (right.sum() - mine), mine)
        return np.asarray(self.poll.analyse(bag).unbiased), right

    def _bag(self, rows: NDArray[Any], source: Source | None) -> Bag:
        people = rows[:, 0] if self.law.messages == 1 and rows.ndim == 2 else rows
        return self.poll.shuffle(Reports(self.poll.describe(), people), rng=source)


def check_one_round(poll: Poll) -> None:
    """Refuse several rounds."""
    if poll.rounds != 1:
        raise InvalidInput(
            f"rounds must be 1 to be audited, got {poll.rounds}. Audit one round; composition is a theorem about any "
            f"such round."
        )


def _choose(trials: int, hits: int, chance: float) -> float:
    return math.comb(trials, hits) * chance**hits * (1.0 - chance) ** (trials - hits)


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
