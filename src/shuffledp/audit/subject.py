"""What is attacked: code that runs, on two datasets that differ in the target's value, with the law and the guarantee that were promised for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp.audit.reading import Reading, reading_of
from shuffledp.errors import InvalidInput
from shuffledp.guarantee import check_users
from shuffledp.haystack import Haystack
from shuffledp.mechanism import shuffle
from shuffledp.profile import Envelope, meets
from shuffledp.protocols.base import Bag, Protocol, Reports, ShuffledProtocol
from shuffledp.protocols.baselines import CentralHistogram, CentralMean, CentralSum
from shuffledp.protocols.frequency import Frequency
from shuffledp.protocols.histogram import Histogram, LocalHistogram
from shuffledp.protocols.sgd import ShuffledSGD
from shuffledp.protocols.summation import LocalMean, StatisticalQuery, Summation
from shuffledp.randomizers import AnyLDP
from shuffledp.randomizers.base import Atoms, Floats, Randomizer
from shuffledp.sampling import Source

__all__ = ["Finite", "Play", "Subject", "Surveyed", "subject_of"]

TINY = 1e-300
AT_ONCE = 1 << 20  # items looked up at once
WIDTHS, MOST_CLASSES = (1e-9, 0.01, 0.05, 0.25, 2.0), 300
ENDLESS = 400.0  # an epsilon this large protects nobody


class Play(NamedTuple):
    """Many runs on one dataset, item by item in the order of release.

    ``u`` and ``v`` are the likelihood ratios of the target's two inputs to what the others hold: of each item, or, if there are finitely many ``classes``
    of items, of each class, to be looked up; classes are kept in few bytes.
    """

    u: Floats
    v: Floats
    classes: NDArray[np.integer] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs, and items in each."""
        return self.u.shape if self.classes is None else self.classes.shape

    def totals(self) -> tuple[Floats, Floats]:
        """The sums of u and of v over each run, a bounded number of items at a time."""
        step = max(1, AT_ONCE // self.shape[1])
        parts = [self._part(slice(start, start + step)) for start in range(0, self.shape[0], step)]
        return np.concatenate([u for u, _ in parts]), np.concatenate([v for _, v in parts])

    def ratios(self, places: int | slice) -> Floats:
        """The log of u over v in some places of every run."""
        logs = np.log(self.u) - np.log(self.v) if self.classes is not None else np.log(self.u[:, places]) - np.log(self.v[:, places])
        return np.asarray(logs if self.classes is None else logs[self.classes[:, places]])

    def _part(self, runs: slice) -> tuple[Floats, Floats]:
        u, v = (self.u[runs], self.v[runs]) if self.classes is None else (self.u[self.classes[runs]], self.v[self.classes[runs]])
        return u.sum(axis=1), v.sum(axis=1)


class Subject(ABC):
    """A protocol under attack, with ``n`` users."""

    name: str
    n: int
    hay: Floats | None = None
    needles: tuple[Floats, Floats] | None = None

    @abstractmethod
    def certified(self, delta: float) -> float:
        """The epsilon that was promised at ``delta``."""

    @abstractmethod
    def play(self, which: int, runs: int, source: Source) -> Play:
        """Run the code ``runs`` times on dataset 0 or 1."""

    def choose(self, delta: float) -> float | None:
        """Settle what the other users hold, and return the epsilon of that pair of datasets if it is known: no attack on them can do better."""
        return None


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
        """The reports of ``runs`` runs of n users, one after the other, each in the order of release; ``values`` are the users' inputs."""

    def play(self, which: int, runs: int, source: Source) -> Play:
        values = [self.reading.inputs[self.holder]] * self.n
        values[self.target] = self.reading.inputs[which]
        classes = self.reading.classify(self.release(values, runs, source)).reshape(runs, self.n)
        if classes.min() < 0 or classes.max() >= len(self._u):
            raise InvalidInput(f"reports must be of the {len(self._u)} classes of the account, got another. The sampler does not send what is documented.")
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
    """Classes whose likelihood ratios agree in one: exactly if they are few, else roughly, which gives away no more."""
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
        if isinstance(randomizer, AnyLDP):
            raise InvalidInput("an audit must have something to run, got AnyLDP. Name the randomizer, such as KRR(k=4, epsilon0=1.0).")
        self.randomizer = randomizer.realised
        words = ", ".join(f"{name} = {value}" for name, value in self.randomizer.describe().items())
        super().__init__(f"{words}; {n} users", n, reading_of(self.randomizer))

    def certified(self, delta: float) -> float:
        return shuffle(self.randomizer, n=self.n).epsilon(delta=delta).upper

    def release(self, values: list[Any], runs: int, source: Source) -> NDArray[Any]:
        rows = self.randomizer.randomize(np.tile(np.array(values), runs), rng=source)
        return np.concatenate([Bag({}, rows[start : start + self.n]).rows for start in range(0, len(rows), self.n)])


class Surveyed(Finite):
    """A protocol of this package: encode, shuffle, and the bag that comes out; without a shuffler, the reports as they come."""

    def __init__(self, protocol: ShuffledProtocol, *, name: str | None = None) -> None:
        if protocol.rounds != 1:
            raise InvalidInput(f"rounds must be 1 to be audited, got {protocol.rounds}. Audit one round; composition is a theorem about any such round.")
        self.protocol = protocol
        self.shuffled = not isinstance(protocol, LocalHistogram | LocalMean)
        super().__init__(name or f"{type(protocol).__name__}, {protocol.n} users", protocol.n, reading_of(protocol.randomizer))

    def certified(self, delta: float) -> float:
        return self.protocol.guarantee.epsilon(delta=delta).upper

    def choose(self, delta: float) -> float | None:
        found = super().choose(delta)
        return found if self.shuffled else None

    def release(self, values: list[Any], runs: int, source: Source) -> NDArray[Any]:
        meant = [self._value(index) for index in values]
        reports = self.encode(meant * runs, source)
        parts = [Reports(reports.description, reports.rows[start : start + self.n], reports.secure) for start in range(0, len(reports), self.n)]
        return np.concatenate([self.shuffle(part) for part in parts])

    def encode(self, values: list[Any], source: Source) -> Reports:
        """What users send."""
        return self.protocol.encode(values, rng=source)

    def shuffle(self, reports: Reports) -> NDArray[Any]:
        """What the analyst sees."""
        return self.protocol.shuffle(reports).rows if self.shuffled else reports.rows

    def _value(self, index: int) -> Any:
        """The value that the protocol encodes as input ``index`` of its randomizer."""
        protocol = self.protocol
        if isinstance(protocol, Summation):
            return protocol.lower + (protocol.upper - protocol.lower) * index / (protocol.randomizer.k - 1)
        labels: Any = protocol.domain if isinstance(protocol, Frequency) else protocol.categories  # type: ignore[attr-defined]
        return labels[index]


class Curated(Subject):
    """A trusted curator with Gaussian noise: the answer is a vector, and the likelihood ratio is that of two Gaussians."""

    def __init__(self, protocol: CentralHistogram | CentralMean | CentralSum) -> None:
        self.protocol, self.n, self.name = protocol, protocol.n, f"{type(protocol).__name__}, {protocol.n} users"
        low, high = protocol.categories[:2] if isinstance(protocol, CentralHistogram) else (protocol.lower, protocol.upper)  # type: ignore[index]
        self.data = [[low] * (self.n - 1) + [each] for each in (low, high)]
        self.divisor = float(self.n) if isinstance(protocol, CentralMean) else 1.0

    def certified(self, delta: float) -> float:
        return self.protocol.guarantee.epsilon(delta=delta).upper

    def choose(self, delta: float) -> float | None:
        return self.protocol.guarantee.epsilon(delta=delta).lower

    def play(self, which: int, runs: int, source: Source) -> Play:
        bag = self.protocol.shuffle(self.protocol.encode(self.data[which], rng=source))
        answers = np.array([self.protocol.analyse(bag, rng=source).values for _ in range(runs)]) * self.divisor
        zero, one = self._exact(0), self._exact(1)
        loss = ((answers - one) ** 2 - (answers - zero) ** 2).sum(axis=1) / (2.0 * self.protocol.sigma**2)
        return Play(np.exp(np.clip(loss, -600.0, 600.0))[:, None], np.ones((runs, 1)))

    def _exact(self, which: int) -> Floats:
        values = self.data[which]
        if isinstance(self.protocol, CentralHistogram):
            labels: Any = self.protocol.categories
            return np.array([values.count(label) for label in labels], dtype=np.float64)
        return np.array([sum(values)], dtype=np.float64)


class Descended(Subject):
    """Noisy gradient descent: the others' gradients are 0, the target's is as long as allowed, in one direction or the other; all reports are seen."""

    def __init__(self, training: ShuffledSGD) -> None:
        self.training, self.n, self.name = training, training.n, f"ShuffledSGD ({training.order}), {training.n} users"

    def certified(self, delta: float) -> float:
        if delta != self.training.delta:
            raise InvalidInput(f"delta must be the training's own, {self.training.delta:g}, got {delta:g}. It was promised for that one.")
        return self.training.privacy.epsilon

    def play(self, which: int, runs: int, source: Source) -> Play:
        training, vectors = self.training, np.zeros((self.n, self.training.dimension))
        vectors[self.n // 2, 0] = training.clip * (1.0 - 2.0 * which)
        pulled = np.empty((runs, self.n))
        for run in range(runs):
            steps = training.steps(vectors, np.zeros(self.n), gradient=lambda _weights, rows, _labels: rows, rng=source)
            pulled[run] = np.concatenate([step.reports[:, 0] for step in steps])
        scaled = pulled * training.clip / training.sigma**2
        half = 0.5 * (training.clip / training.sigma) ** 2
        return Play(np.exp(np.clip(scaled - half, -600.0, 600.0)), np.exp(np.clip(-scaled - half, -600.0, 600.0)))


def subject_of(what: Protocol | Randomizer | ShuffledSGD | Subject, n: int | None = None) -> Subject:
    """What to attack: a protocol, noisy gradient descent, or a randomizer with ``n`` users behind a shuffler."""
    if isinstance(what, Subject):
        return what
    if isinstance(what, Randomizer):
        users, _ = check_users(n)
        if users < 2:
            raise InvalidInput(f"n must be at least 2 to be audited, got {users}. With one user there is nothing to shuffle.")
        return Behind(what, users)
    makers: list[tuple[Any, Callable[[Any], Subject]]] = [
        (StatisticalQuery, lambda protocol: Surveyed(_identity(protocol), name=f"StatisticalQuery, {protocol.n} users")),
        (Histogram | LocalHistogram | Summation | Frequency, Surveyed),
        (CentralHistogram | CentralMean | CentralSum, Curated),
        (ShuffledSGD, Descended),
    ]
    for kind, maker in makers:
        if isinstance(what, kind):
            return maker(what)
    raise InvalidInput(f"what is audited must be a protocol or a randomizer, got {type(what).__name__}. Or write a Subject for it.")


def _identity(asked: StatisticalQuery) -> StatisticalQuery:
    """The same with records that are their own answers: an audit does not know which records have the extreme ones."""
    grid = {"k": asked.k, "lower": asked.lower, "upper": asked.upper}
    return StatisticalQuery(query=float, n=asked.n, epsilon0=asked.epsilon0, delta=asked.delta, least=asked.least, rounds=asked.rounds, **grid)  # type: ignore[arg-type]
