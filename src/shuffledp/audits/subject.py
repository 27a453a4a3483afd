"""What is attacked: the protocols of this package, with reports of one message, and in gradient
descent.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from shuffledp.accounting.curves import Envelope
from shuffledp.accounting.guarantee import check_users
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.inversion import meets
from shuffledp.accounting.shuffled import shuffle
from shuffledp.audits.joint import gaussian_noise, joint_of, vote_law
from shuffledp.audits.messaged import Messaged, Polled, check_one_round
from shuffledp.audits.reading import Misread, Reading, reading_of, votes_for
from shuffledp.audits.trial import Bench, Play, Subject
from shuffledp.domain import Bins, Cells, Domain, Grid, Labels, Prefixes
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.shuffler import Bag, Reports
from shuffledp.poll import Poll
from shuffledp.questions.mean.statistical_query import StatisticalQuery
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.randomizer import Atoms, Floats, Randomizer
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.sampling import Source
from shuffledp.training.descent import STEPS, ShuffledSGD

__all__ = ["Finite", "Surveyed", "subject_of"]

TINY = 1e-300
WIDTHS, MOST_CLASSES = (1e-9, 0.01, 0.05, 0.25, 2.0), 300
MOST_DECODED = 1 << 12  # values whose votes are counted one by one
ENDLESS = 400.0  # an epsilon this large protects nobody


class Finite(Subject):
    """A subject whose reports have finitely many classes; subclasses say how it runs."""

    def __init__(self, name: str, n: int, reading: Reading) -> None:
        self.name, self.n, self.reading = name, n, reading
        self._hold(len(reading.inputs) - 1)

    @property
    def target(self) -> int:
        """The target's place among the users."""
        return self.n // 2

    @abstractmethod
    def release(self, values: list[Any], runs: int, source: Source) -> NDArray[Any]:
        """The reports of ``runs`` runs of n users, one after the other, each in the order of
        release; ``values`` are the users' inputs.
        """

    def play(self, which: int, runs: int, source: Source) -> Play:
        values = [self.reading.inputs[self.holder]] * self.n
        values[self.target] = self.reading.inputs[which]
        classes = self.reading.read(self.release(values, runs, source), runs * self.n).reshape(runs, self.n)
        return Play(self._u, self._v, classes.astype(np.min_scalar_type(len(self._u) - 1)))

    def choose(self, delta: float) -> float | None:
        """The others hold what gives the target away most, among the inputs of the reading."""
        found = [self._attainable(holder, delta) for holder in range(len(self.reading.inputs))]
        self._hold(int(np.argmax(found)))
        return max(found)

    def _hold(self, holder: int) -> None:
        self.holder = holder
        first, second, hay = self.reading.laws[0], self.reading.laws[1], self.reading.laws[holder]
        self.hay, self.needles = hay, (first, second)
        self._u, self._v = (np.maximum(law, TINY) / np.maximum(hay, TINY) for law in (first, second))

    def _attainable(self, holder: int, delta: float) -> float:
        pair = Haystack.of(_merged(self.reading.laws[holder], self.reading.laws[0], self.reading.laws[1]), self.n)
        curve = Envelope([pair, pair.swapped()], "lower", np.inf)
        found = meets(lambda epsilon, gap: float(curve(np.array([epsilon]), gap)[0]), delta, np.inf, end="lower")
        return found if found < ENDLESS else np.inf


def _merged(hay: Floats, first: Floats, second: Floats) -> Atoms:
    """Classes whose likelihood ratios agree in one: exactly if they are few, else roughly, which
    gives away no more.
    """
    masses = np.stack([hay, first, second])
    logs = np.log(np.maximum(masses, TINY))
    ratios = logs[1:] - logs[0]
    for width in WIDTHS:
        _, place = np.unique(np.rint(ratios / width), axis=1, return_inverse=True)
        if place.max() < MOST_CLASSES:
            break
    merged = np.zeros((3, int(place.max()) + 1))
    np.add.at(merged.T, place.ravel(), masses.T)
    return Atoms("", *merged)


class Behind(Finite):
    """A randomizer behind a shuffler that sorts."""

    def __init__(self, randomizer: Randomizer, n: int) -> None:
        if not randomizer.known:
            raise InvalidInput(
                f"an audit must have something to run, got {type(randomizer).__name__}. Name the randomizer, such as "
                f"KRR(k=4, epsilon0=1.0)."
            )
        self.randomizer = randomizer.realised
        words = ", ".join(f"{name} = {value}" for name, value in self.randomizer.describe().items())
        super().__init__(f"{words}; {n} users", n, reading_of(self.randomizer))

    def certified(self, delta: float) -> float:
        return shuffle(self.randomizer, n=self.n).epsilon_at_most(delta=delta)

    def release(self, values: list[Any], runs: int, source: Source) -> NDArray[Any]:
        rows = self.randomizer.randomize(np.tile(np.array(values), runs), rng=source)
        return np.concatenate([self._shuffle(rows[start : start + self.n]) for start in range(0, len(rows), self.n)])

    def bench(self) -> Bench:
        return Bench(
            self.n,
            joint_of(self.randomizer),
            lambda inputs, source: self.randomizer.randomize(inputs, rng=source),
            self.randomizer,
            self._shuffle,
        )

    def _shuffle(self, rows: NDArray[Any]) -> NDArray[Any]:
        return Bag({}, rows).rows


class Surveyed(Finite):
    """A poll of one message each: encode, shuffle, and the bag that comes out."""

    def __init__(self, poll: Poll, *, name: str | None = None) -> None:
        check_one_round(poll)
        if isinstance(poll.question, StatisticalQuery):  # records are their own answers: nobody knows the extreme ones
            asked = replace(poll.question, query=float)
            poll = Poll(asked, n=poll.n, randomizer=poll.randomizer, delta=poll.delta, honest=poll.honest)
        self.poll, self.description = poll, poll.describe()
        super().__init__(name or f"{poll.question}, {poll.n} users", poll.n, reading_of(poll.randomizer))

    def certified(self, delta: float) -> float:
        return self.poll.guarantee.epsilon_at_most(delta=delta)

    def release(self, values: list[Any], runs: int, source: Source) -> NDArray[Any]:
        reports = self.encode(np.tile(self._values(np.array(values)), runs), source)
        rows = self.reading.checked(reports.rows, runs * self.n)
        return np.concatenate([self._shuffled(rows[start : start + self.n]) for start in range(0, len(rows), self.n)])

    def encode(self, values: NDArray[Any], source: Source) -> Reports:
        """What users send: one report each, of whole runs one after the other. Which word counts as
        which place is no secret, and nothing is drawn for it.
        """
        if isinstance(self.domain, Prefixes):
            return Reports(self.description, self.poll.randomizer.randomize(values, rng=source), source.secure)
        return self.poll.encode(values, rng=source)

    @property
    def domain(self) -> Domain:
        """How a value becomes a place."""
        return self.poll.question.domain(self.poll.randomizer.k)

    def shuffle(self, reports: Reports) -> NDArray[Any]:
        """What the analyst sees."""
        return self.poll.shuffle(reports).rows

    def analyse(self, bag: Bag) -> Floats:
        """What the analyst says: the unbiased estimates."""
        return np.asarray(self.poll.analyse(bag).values)

    def bench(self) -> Bench:
        randomizer, halves = self.poll.randomizer, self.domain.rounded
        return Bench(
            self.n,
            joint_of(randomizer, halves=halves),
            lambda inputs, source: self.encode(self._values(inputs), source).rows,
            randomizer,
            self._shuffled,
            self._decoded if self._decodable else None,
        )

    def _shuffled(self, rows: NDArray[Any]) -> NDArray[Any]:
        try:
            return self.shuffle(Reports(self.description, rows))
        except InvalidInput as error:
            raise Misread(f"the shuffler refused the reports: {error}") from error

    @property
    def _decodable(self) -> bool:
        """Whether votes for single values can be counted one by one."""
        randomizer = self.poll.randomizer
        return not (randomizer.blocks or randomizer.k > MOST_DECODED or isinstance(randomizer, OneLevel))

    def _decoded(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """What the analyst says of a bag, and what follows from the accounted law."""
        question, randomizer = self.poll.question, self.poll.randomizer
        said = self.analyse(Bag(self.description, rows))
        votes = np.array(
            [np.count_nonzero(votes_for(randomizer, rows, np.full(len(rows), x))) for x in range(randomizer.k)]
        )
        hit, miss = vote_law(randomizer)
        held = (votes - len(rows) * miss) / (hit - miss)
        by, plus = question.scaling(len(rows))
        return said, by * np.asarray(question.workload(randomizer.k).apply(held)) + plus

    def _values(self, indices: NDArray[Any]) -> NDArray[Any]:
        """The values that the poll encodes as these inputs of its randomizer."""
        match self.domain:
            case Grid() as grid:
                return np.asarray(grid.lower + (grid.upper - grid.lower) * indices / grid.steps)
            case Bins(cuts=cuts):
                return np.asarray((np.array(cuts)[indices] + np.array(cuts)[indices + 1]) / 2.0)
            case Cells(columns=columns):
                return np.asarray(_objects(list(product(*(column.listed for column in columns))))[indices])
            case Labels(labels=tuple(labels)):
                plain = len({type(label) for label in labels}) == 1 and isinstance(labels[0], str | int)
                return np.asarray((np.array(labels) if plain else _objects(labels))[indices])
        return indices


def _objects(labels: Any) -> NDArray[Any]:
    """Labels of any kind, tuples included, in a vector."""
    table = np.empty(len(labels), dtype=object)
    for place, label in enumerate(labels):
        table[place] = label
    return table


class Descended(Subject):
    """Noisy gradient descent: the others' gradients are 0, the target's is as long as allowed, in
    one direction or the other; all reports are seen. Of allocated data the target's is as long as
    allowed, or is missing. If batches add the noise, the target is a batch.
    """

    def __init__(self, training: ShuffledSGD) -> None:
        self.training, self.n, self.name = training, training.n, f"ShuffledSGD ({training.order}), {training.n} users"
        self.rows = training.batch if training.noise_from == "batch" else 1

    def certified(self, delta: float) -> float:
        if delta != self.training.delta:
            raise InvalidInput(
                f"delta must be the training's own, {self.training.delta:g}, got {delta:g}. It was promised for that "
                f"one."
            )
        return self.training.privacy.epsilon

    def play(self, which: int, runs: int, source: Source) -> Play:
        training, vectors = self.training, np.zeros((self.n, self.training.dimension))
        allocated = training.order == "allocated"
        first = self.n // 2 // self.rows * self.rows
        vectors[first : first + self.rows, 0] = training.clip * (1.0 - (1.0 if allocated else 2.0) * which)
        reports = training.updates if allocated else training.elements
        pulled = np.empty((runs, training.epochs * reports))
        for run in range(runs):
            steps = training.steps(vectors, np.zeros(self.n), gradient=lambda _weights, rows, _labels: rows, rng=source)
            pulled[run] = np.concatenate([step.reports[:, 0] for step in steps])
        scaled = pulled * training.clip / training.sigma**2
        half = 0.5 * (training.clip / training.sigma) ** 2
        secret = allocated or (training.order == "permuted" and training.epochs > 1)

        def ratios(sign: float) -> Floats:
            losses = (sign * scaled - half).reshape(runs, training.epochs, reports)
            if secret:  # in every epoch the target is in one report, and the attack does not know in which
                losses = logsumexp(losses, axis=2, keepdims=True) - np.log(reports)
            return np.asarray(np.exp(np.clip(losses.sum(axis=1), -600.0, 600.0)))

        return Play(ratios(1.0), np.ones((runs, 1)) if allocated else ratios(-1.0))

    def bench(self) -> Bench:
        """The noise of all coordinates in units of sigma, with gradients of 0; and in which order
        users (or batches) were taken in the first epoch, by their labels.
        """
        training, zeros = self.training, np.zeros((self.n, self.training.dimension))
        size = training.randomize(zeros).size

        def noise(drawn: NDArray[Any], source: Source) -> NDArray[Any]:
            passes = [training.randomize(zeros, rng=source).ravel() / training.sigma for _ in range(len(drawn) // size)]
            return np.concatenate(passes)

        def taken(labels: NDArray[Any]) -> NDArray[Any]:
            order: list[Floats] = []

            def gradient(_weights: Floats, rows: Floats, labels: Floats) -> Floats:
                order.append(labels[:: self.rows])
                return rows

            every = np.repeat(labels, self.rows)[: self.n]
            for _ in islice(training.steps(zeros, every, gradient=gradient), training.updates):
                pass
            return np.concatenate(order)

        shuffle = taken if training.order == "permuted" else None
        return Bench(
            size,
            gaussian_noise(STEPS),
            noise,
            shuffle=shuffle,
            tokens=np.arange(float(training.elements)),
            most=max(1 << 20, size),
        )


def subject_of(what: Poll | Randomizer | ShuffledSGD | Subject, n: int | None = None) -> Subject:
    """What to attack: a poll, noisy gradient descent, or a randomizer with ``n`` users behind a
    shuffler.
    """
    if isinstance(what, Subject):
        return what
    if isinstance(what, Randomizer):
        users, _ = check_users(n)
        if users < 2:
            raise InvalidInput(
                f"n must be at least 2 to be audited, got {users}. With one user there is nothing to shuffle."
            )
        return Messaged(what, users) if isinstance(what, MessageLaw) else Behind(what, users)
    if isinstance(what, Poll):
        return Polled(what) if isinstance(what.randomizer, MessageLaw) else Surveyed(what)
    if isinstance(what, ShuffledSGD):
        return Descended(what)
    raise InvalidInput(
        f"what is audited must be a poll or a randomizer, got {type(what).__name__}. Pass one of those, or write a "
        f"Subject for it."
    )
