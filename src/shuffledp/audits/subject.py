"""What is attacked: polls, randomizers behind a shuffler, and gradient descent."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
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
from shuffledp.audits.messages import Messaged
from shuffledp.audits.reports import Misread, Votes, gaussian_noise, joint_of, reading_of
from shuffledp.audits.trial import Bench, Play, Subject
from shuffledp.errors import InvalidInput, Refusal
from shuffledp.mechanisms.shuffler import Bag, Reports
from shuffledp.poll import Poll
from shuffledp.randomizers.randomizer import Atoms, Floats, Randomizer
from shuffledp.sampling import Source
from shuffledp.training.descent import STEPS, ShuffledSGD

TINY = 1e-300
WIDTHS, MOST_CLASSES = (1e-9, 0.01, 0.05, 0.25, 2.0), 300
MOST_DECODED = 1 << 12  # values whose votes are counted one by one
ENDLESS = 400.0  # an epsilon this large protects nobody


class Finite(Subject):
    """A subject whose reports have finitely many classes; subclasses say how it runs."""

    halves = False  # whether people may hold what is half-way between two inputs
    decode: Callable[[NDArray[Any]], tuple[Floats, Floats]] | None = None

    def __init__(self, name: str, n: int, randomizer: Any) -> None:
        self.name, self.n, self.randomizer, self.reading = name, n, randomizer, reading_of(randomizer)
        self._hold(len(self.reading.inputs) - 1)

    @abstractmethod
    def sent(self, inputs: NDArray[Any], source: Source) -> NDArray[Any]:
        """The reports of people who hold these inputs, whole runs one after the other."""

    @abstractmethod
    def released(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The reports of one run, as the shuffler hands them on."""

    def play(self, which: int, runs: int, source: Source) -> Play:
        inputs = [self.reading.inputs[self.holder]] * self.n
        inputs[self.n // 2] = self.reading.inputs[which]
        rows = self.reading.checked(self.sent(np.tile(np.array(inputs), runs), source), runs * self.n)
        shuffled = [self.released(rows[start : start + self.n]) for start in range(0, len(rows), self.n)]
        classes = self.reading.read(np.concatenate(shuffled), runs * self.n).reshape(runs, self.n)
        return Play(self._u, self._v, classes.astype(np.min_scalar_type(len(self._u) - 1)))

    def choose(self, delta: float) -> float | None:
        """The others hold what gives the target away most, among the inputs of the reading."""
        found = [self._attainable(holder, delta) for holder in range(len(self.reading.inputs))]
        self._hold(int(np.argmax(found)))
        return max(found)

    def bench(self) -> Bench:
        joint = joint_of(self.randomizer, halves=self.halves)
        return Bench(self.n, joint, self.sent, self.randomizer, self.released, self.decode)

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
            remedy = "Name the randomizer, such as KRR(k=4, epsilon0=1.0)."
            raise InvalidInput(Refusal("an audit must have something to run", type(randomizer).__name__, remedy))
        words = ", ".join(f"{name} = {value}" for name, value in randomizer.realised.describe().items())
        super().__init__(f"{words}; {n} users", n, randomizer.realised)

    def certified(self, delta: float) -> float:
        return shuffle(self.randomizer, n=self.n).epsilon_at_most(delta=delta)

    def sent(self, inputs: NDArray[Any], source: Source) -> NDArray[Any]:
        return np.asarray(self.randomizer.randomize(inputs, rng=source))

    def released(self, rows: NDArray[Any]) -> NDArray[Any]:
        return Bag({}, rows).rows


class Surveyed(Finite):
    """A poll with reports of one message: encode, shuffle, and the bag that comes out."""

    def __init__(self, poll: Poll, *, name: str | None = None) -> None:
        question: Any = poll.question
        if hasattr(question, "query"):  # records are their own answers: nobody knows which are the extreme ones
            asked = replace(question, query=float)
            poll = Poll(asked, n=poll.n, randomizer=poll.randomizer, delta=poll.delta, honest=poll.honest)
        self.poll, self.description, self.domain = poll, poll.describe(), _domain(poll)
        usual = _name(poll)
        super().__init__(name or usual, poll.n, poll.randomizer)
        self.votes, self.halves = Votes.of(self.randomizer), self.domain is not None and self.domain.rounded
        if self.votes is not None and not self.randomizer.blocks and self.randomizer.k <= MOST_DECODED:
            self.decode = self._decoded

    def certified(self, delta: float) -> float:
        return float(self.poll.guarantee.epsilon_at_most(delta=delta))

    def sent(self, inputs: NDArray[Any], source: Source) -> NDArray[Any]:
        return self.encode(self._values(inputs), source).rows

    def encode(self, values: NDArray[Any], source: Source) -> Reports:
        """What users send: one report each, of whole runs one after the other. Where values cannot
        be made up, those are places already.
        """
        if self.domain is None:
            return Reports(self.description, self.poll.randomizer.randomize(values, rng=source), source.secure)
        reports: Reports = self.poll.encode(values, rng=source)
        return reports

    def shuffle(self, reports: Reports) -> NDArray[Any]:
        """What the analyst sees."""
        return np.asarray(self.poll.shuffle(reports).rows)

    def analyse(self, bag: Bag) -> Floats:
        """What the analyst says: the unbiased estimates."""
        return np.asarray(self.poll.analyse(bag).unbiased)

    def released(self, rows: NDArray[Any]) -> NDArray[Any]:
        try:
            return self.shuffle(Reports(self.description, rows))
        except InvalidInput as error:
            raise Misread(f"the shuffler refused the reports: {error}") from error

    def _decoded(self, rows: NDArray[Any]) -> tuple[Floats, Floats]:
        """What the analyst says of a bag, and what follows from the votes, counted one by one."""
        votes = self.votes
        assert votes is not None
        voted = [np.count_nonzero(votes.supports(rows, np.full(len(rows), x))) for x in range(votes.k)]
        held = (np.array(voted) - len(rows) * votes.miss) / (votes.hit - votes.miss)
        right = _answers(self.poll, held, len(rows))
        return self.analyse(Bag(self.description, rows))[: len(right)], right

    def _values(self, places: NDArray[Any]) -> NDArray[Any]:
        """Values that count as these places, and as what is half-way between two of a grid."""
        domain = self.domain
        if domain is None:
            return places
        if domain.rounded:
            low, high = domain.bounds
            return np.asarray(low + (high - low) * places / domain.steps)
        if domain.bounds is not None:
            cuts = np.array(domain.cuts)
            return np.asarray((cuts[places] + cuts[places + 1]) / 2.0)
        labels = domain.listed if domain.column_names is None else [*product(*(each.listed for each in domain.columns))]
        if isinstance(labels, range):
            return places
        same = len({type(label) for label in labels}) == 1 and isinstance(labels[0], str | int)
        table: NDArray[Any] = np.array(labels) if same else np.empty(len(labels), dtype=object)
        if not same:  # tuples included
            table[:] = labels
        return np.asarray(table[places])


class Polled(Messaged):
    """A poll whose people send several messages, or whose shuffler adds some."""

    def __init__(self, poll: Poll) -> None:
        self.poll = poll
        super().__init__(poll.randomizer, poll.n, name=_name(poll))

    def certified(self, delta: float) -> float:
        return float(self.poll.guarantee.epsilon_at_most(delta=delta))

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
        held = self.view.answers(self.view.seen(self.view.messages(bag.rows)))
        right = _answers(self.poll, held, self.n)
        return np.asarray(self.poll.analyse(bag).unbiased)[: len(right)], right

    def _bag(self, rows: NDArray[Any], source: Source | None) -> Bag:
        people = rows[:, 0] if self.law.messages == 1 and rows.ndim == 2 else rows
        bag: Bag = self.poll.shuffle(Reports(self.poll.describe(), people), rng=source)
        return bag


def _name(poll: Poll) -> str:
    """What is attacked, if it can be."""
    if poll.rounds != 1:
        remedy = "Audit one round; composition is a theorem about any such round."
        raise InvalidInput(Refusal("rounds must be 1 to be audited", str(poll.rounds), remedy))
    return f"{poll.question}, {poll.n} people"


def _domain(poll: Poll) -> Any:
    """How values become places; None where an auditor cannot make values up: which word counts as
    which place is no secret.
    """
    domain = poll.question.domain(poll.randomizer.k)
    return domain if domain.bounds or domain.column_names or hasattr(domain, "listed") else None


def _answers(poll: Poll, held: NDArray[Any], people: int) -> Floats:
    """What the analyst must say if so many people hold each place, or of what all places add up to,
    in steps; but no sums of cells.
    """
    workload, (by, plus) = poll.question.workload(poll.randomizer.k), poll.question.scaling(people)
    if len(held) == 1:
        rows = held / (poll.randomizer.k - 1)
    else:
        rows = workload.apply(held)
        if workload.counts:  # a group of more than half of the places is counted by the others
            large = 2.0 * workload.apply(np.ones(len(held))) > len(held)
            rows = np.where(large, people - held.sum() + rows, rows)
    return np.asarray((by * rows + plus)[: len(held)])


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
            rule = f"delta must be the training's own, {self.training.delta:g}"
            raise InvalidInput(Refusal(rule, f"{delta:g}", "It was promised for that one."))
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
        tokens = np.arange(float(training.elements))
        return Bench(size, gaussian_noise(STEPS), noise, shuffle=shuffle, tokens=tokens, most=max(1 << 20, size))


def subject_of(what: Poll | Randomizer | ShuffledSGD | Subject, n: int | None = None) -> Subject:
    """What to attack: a poll, noisy gradient descent, or a randomizer with ``n`` users behind a
    shuffler.
    """
    if isinstance(what, Subject):
        return what
    if isinstance(what, ShuffledSGD):
        return Descended(what)
    if isinstance(what, Poll):
        return Polled(what) if hasattr(what.randomizer, "mixed_messages") else Surveyed(what)
    if not hasattr(what, "randomize"):
        rule, remedy = "what is audited must be a poll or a randomizer", "Pass one of those, or write a Subject for it."
        raise InvalidInput(Refusal(rule, type(what).__name__, remedy))
    users, _ = check_users(n)
    if users < 2:
        remedy = "With one user there is nothing to shuffle."
        raise InvalidInput(Refusal("n must be at least 2 to be audited", str(users), remedy))
    return Messaged(what, users) if hasattr(what, "mixed_messages") else Behind(what, users)
