"""``ShuffledSGD``: noisy, clipped stochastic gradient descent over shuffled data, in two models of
trust, with its batches and its noise.

*Allocated* (recommended): the trainer is trusted. Every user's data goes into one step of each
epoch, chosen at random (``BallsAndBins``). The gradients of a step are clipped to length L, added
up, and noise N(0, sigma^2 I) is added to the sum; sums may be published, step by step. Accounted as
random allocation, to a fraction of a percent; a neighboring dataset lacks a user's data, so the
sensitivity is L.

*Permuted* (Feldman et al. 2020, section 5.2, Algorithm 2): every user is taken once in each epoch,
in a fresh, secret, uniformly random order. The clipped gradient gets its noise before anything else
sees it: a local randomizer with sensitivity 2L, chosen adaptively from the reports before. All
reports may be published, and no trainer is trusted; who draws the order must keep it secret.
``noise_from`` says what gets noise. "user": every user's own gradient. A batch averages reports
made at the same weights; that is post-processing, so batches cost no privacy. "batch": every batch
of consecutive rows is one element of the data, whose owner sees all its rows and adds noise once,
to the mean of their clipped gradients. Elements are permuted instead of users, and a neighboring
dataset may differ in a whole batch.

*Batches* (``BallsAndBins``). Every record goes into steps of its own, whatever the others do. A
batch has the expected size, and no more than that is sure: some are larger, some may be empty. A
step whose batch is empty still adds its noise and counts as a step: leaving it out would tell that
nobody was there.

*Noise.* It runs as integers: what a report adds is exactly a rounded Gaussian, up to a counted
1e-24. Floating-point Gaussians betray what they hide by their last bits (Mironov 2012). Here
vectors lie on a grid of sigma / 256 and the noise is a whole number of grid steps, drawn from a
table. Its law is that of a real Gaussian rounded to the grid, so privacy is at least the Gaussian
mechanism's: rounding happens after the noise. What the table leaves out is ``FLAW``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from shuffledp._types import Floats
from shuffledp.errors import (
    InvalidInput,
    check_count,
    check_delta,
    check_epsilon,
    check_positive,
    check_rounds,
    check_users,
)
from shuffledp.randomizers.parameters import check_fields, checked
from shuffledp.sampling import Rng, Source, Table, source_of, uniform
from shuffledp.sampling.draws import permutation
from shuffledp.sampling.tables import rounded_gaussian
from shuffledp.training import passes
from shuffledp.training.data import Labelled
from shuffledp.training.passes import Allocation

MOST_STEPS = 1 << 32


def counted(name: str, remedy: str, most: float = math.inf) -> dict[str, Any]:
    """The metadata of a field that is a whole number of at least 1."""
    return checked(partial(check_count, name, least=1, most=most, remedy=remedy))


@dataclass(frozen=True, kw_only=True)
class BallsAndBins:
    """The batches of one epoch: each of ``records`` is in ``participations`` of ``steps`` batches,
    chosen uniformly and independently of all others.

    This is the sampler that ``RandomAllocation`` accounts for. Every iteration is a fresh epoch: a
    list of indices for every step, some of them perhaps empty. It has what PyTorch asks of a
    ``batch_sampler``, and needs no PyTorch. ``rng`` left out is cryptographic; whoever can guess
    the batches has no use for the certificate's promise, so a seeded generator is for experiments.

    >>> sampler = BallsAndBins(records=10, steps=3)
    >>> epoch = list(sampler)
    >>> len(epoch) == len(sampler) == 3, sorted(i for batch in epoch for i in batch)
    (True, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """

    records: int = field(metadata=counted("records", "It counts the rows to train on."))
    steps: int = field(metadata=counted("steps", "It counts the batches of an epoch.", MOST_STEPS))
    participations: int = field(default=1, metadata=counted("participations", "It counts the batches with a record."))
    rng: Rng = None

    def __post_init__(self) -> None:
        check_fields(self)
        remedy = "A record is in a batch once or not at all."
        check_count("participations", self.participations, least=1, most=self.steps, remedy=remedy)
        source_of(self.rng)

    def __len__(self) -> int:
        """The number of batches of an epoch."""
        return self.steps

    def __iter__(self) -> Iterator[list[int]]:
        """A fresh epoch, batch by batch, as lists of indices."""
        for batch in self.epoch():
            yield batch.tolist()

    def epoch(self) -> list[NDArray[np.intp]]:
        """A fresh epoch as arrays of indices, one for every step."""
        chosen = self._chosen(source_of(self.rng))
        order = np.argsort(chosen.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(chosen.ravel(), minlength=self.steps))
        return np.split(order // self.participations, ends[:-1])

    def _chosen(self, source: Source) -> NDArray[np.int64]:
        """The steps of every record, a row each: every set of ``participations`` is equally likely.

        The j-th is one of the steps - j that are left, counted in order: stepping over those taken,
        the smallest first, finds it.
        """
        taken = np.empty((self.records, 0), dtype=np.int64)
        for drawn in range(self.participations):
            place = uniform(source, self.steps - drawn, self.records).astype(np.int64)
            for column in range(drawn):
                place += place >= taken[:, column]
            taken = np.sort(np.column_stack([taken, place]), axis=1)
        return taken


STEPS = 256  # to one standard deviation
REACH = 2663  # the table ends at 10.4 deviations
FLAW = 1e-24  # bounds the total variation distance of one coordinate from a rounded Gaussian; it is 2.4e-25


def grid_noise(source: Source, size: int) -> Floats:
    """``size`` independent draws of a Gaussian with deviation 256, rounded to whole numbers."""
    drawn = _table().draw(source, size)
    return (drawn - REACH).astype(np.float64)


def weights() -> list[int]:
    """The law of the noise: -REACH, ..., REACH have these probabilities times 2^128."""
    return rounded_gaussian(STEPS, REACH, 128)


@cache
def _table() -> Table:
    return Table(weights())


Order = Literal["allocated", "permuted", "given"]
Gradient = Callable[[Floats, Floats, Floats], Floats]
ORDERS: tuple[Order, ...] = ("allocated", "permuted", "given")
CLIP = "It bounds the length of a gradient; 1 is usual."
INWARDS = 1.0 - 1e-12  # clipping in floating point may err by a few units in the last place
FINEST = 1e-100  # so that products and squares stay in the range of floats
LEAST = 8.0  # times the flaw of the noise: below, no amount of noise reaches delta


class Step(NamedTuple):
    """One update: the reports it was made of, one row per user or, if a trainer or a batch adds the
    noise, one row for the step; and the weights after it.
    """

    reports: Floats
    weights: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """The averaged weights of a training; not for release unless ``secure``."""

    weights: Floats
    secure: bool

    def predict(self, features: ArrayLike) -> Floats:
        """0 or 1 for every row."""
        return (np.asarray(features) @ self.weights > 0.0).astype(np.float64)

    def accuracy(self, data: Labelled) -> float:
        """The share of rows whose label is predicted."""
        return float(np.mean(self.predict(data.features) == data.labels))


@dataclass(frozen=True, kw_only=True)
class ShuffledSGD:
    """``n`` users, weights of ``dimension`` numbers, and either a promise (``epsilon``, ``delta``)
    or the ``noise`` in units of the ``sensitivity``.

    ``order`` says who is trusted and what amplifies. "allocated": a trainer adds noise to the sum
    of every step, and users are spread over the steps at random, in each of ``epochs``; this is
    what to use where there is a trainer to trust. "permuted": every user adds noise, and the order
    is secret, fresh in every epoch. "given", for comparison: a user's own noise is all there is.
    With ``noise_from="batch"`` a batch of consecutive rows takes the place of a user.

    >>> training = ShuffledSGD(n=20_000, dimension=10, epsilon=0.5, delta=1e-6, batch=50)
    >>> (
    ...     round(training.noise, 2),
    ...     round(training.privacy.epsilon, 2),
    ...     round(training.local_epsilon, 1),
    ... )
    (0.64, 0.5, 8.2)
    >>> trusted = ShuffledSGD(
    ...     n=20_000, dimension=10, epsilon=0.5, delta=1e-6, order="allocated"
    ... )
    >>> trusted.noise < 0.7
    True
    """

    n: int = field(metadata=checked(lambda value: check_users(value)[0]))
    dimension: int = field(metadata=counted("dimension", "It counts the weights."))
    delta: float = field(metadata=checked(check_delta))
    epsilon: float | None = None
    noise: float = field(default=0.0)
    clip: float = field(default=1.0, metadata=checked(partial(check_positive, "clip", remedy=CLIP)))
    batch: int = field(default=1, metadata=counted("batch", "It counts the people of one update."))
    order: Order = "permuted"
    epochs: int = field(default=1, metadata=checked(check_rounds))
    noise_from: Literal["user", "batch"] = "user"

    def __post_init__(self) -> None:
        check_fields(self)
        self._set(batch=min(self.batch, self.n))
        if self.order not in ORDERS:
            raise InvalidInput(
                f'order must be one of {", ".join(ORDERS)}, got {self.order!r}. "permuted" trusts no trainer.'
            )
        if self.noise_from not in (("user",) if self.order == "allocated" else ("user", "batch")):
            raise InvalidInput(
                f'noise_from must be "user" or, unless allocated, "batch", got {self.noise_from!r}. Leave it out.'
            )
        if self.delta < LEAST * self._flaw:
            raise InvalidInput(
                f"delta must be at least {LEAST * self._flaw:g} here, got {self.delta!r}. It covers rounding."
            )
        if (self.epsilon is None) == (self.noise == 0.0):
            given = "neither" if self.epsilon is None else "both"
            raise InvalidInput(f"exactly one of epsilon and noise must be given, got {given}. epsilon is a promise.")
        if self.epsilon is None:
            self._set(noise=passes.check_noise(self.noise))
        else:
            self._set(
                epsilon=check_positive(
                    "epsilon", check_epsilon(self.epsilon), remedy="No useful training has epsilon = 0; allow a little."
                )
            )
            self._set(noise=self._calibrated(self.epsilon))
        for name in ("noise", "clip"):
            if not FINEST <= getattr(self, name) <= 1.0 / FINEST:
                raise InvalidInput(
                    f"{name} must lie in [{FINEST:g}, {1 / FINEST:g}], got {getattr(self, name)!r}. Change the unit."
                )
        self._set(privacy=self._account())

    privacy: passes.Account = field(init=False, repr=False, compare=False)

    @property
    def sensitivity(self) -> float:
        """How far one user's data (or one batch's) can move what gets noise: 2 ``clip`` if they
        are replaced; the ``clip`` if the order is "allocated", where a neighbor lacks them.
        """
        return self.clip if self.order == "allocated" else 2.0 * self.clip

    @property
    def sigma(self) -> float:
        """The deviation of the noise in every coordinate of a report."""
        return self.noise * self.sensitivity

    @property
    def updates(self) -> int:
        """The number of steps of an epoch."""
        return math.ceil(self.n / self.batch)

    @property
    def elements(self) -> int:
        """How many reports of an epoch hide each other: one of each user, or of each batch."""
        return self.updates if self.noise_from == "batch" else self.n

    @property
    def local_epsilon(self) -> float:
        """Also if the order is known: one Gaussian mechanism per person or batch and epoch."""
        return passes.local_epsilon(noise=self.noise / math.sqrt(self.epochs), delta=self.delta, flaw=self._flaw)

    @property
    def sampled_epsilon(self) -> float:
        """What the same noise would give if each report came from a user (or batch) drawn at
        random, with replacement: for comparison, not what runs here.
        """
        return passes.sampled_epsilon(noise=self.noise, **self._passes)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must hold for the promise to hold."""
        if self.order == "allocated":
            return self._allocation(self.noise).assumptions
        one, owner = (
            (f"batch of {self.batch} consecutive rows", "the batch; its owner sees them and adds the noise")
            if self.noise_from == "batch"
            else ("person", "the person, row by row")
        )
        secret = "the parties that see the reports do not know the order, which is drawn afresh in every epoch"
        return (
            f"replace-one adjacency: neighboring datasets differ in the data of one {one}",
            *((secret,) if self.order == "permuted" else ()),
            f"every {one} is taken once in every epoch, and its gradients depend on the current weights and on the "
            f"data of {owner}",
            "every report's noise is fresh; reports may be published one by one, and later questions may depend on "
            "them",
        )

    def randomize(self, gradients: ArrayLike, *, rng: Rng = None) -> Floats:
        """One report per row: clipped, cut to the grid of sigma / 256 towards zero, which lengthens
        no vector, plus noise on that grid. If the order is "allocated", one report for the step:
        the sum of the rows plus noise; of a batch that adds its noise, their mean plus noise.
        """
        rows, source = self._rows("gradients", gradients), source_of(rng)
        largest = np.max(np.abs(rows), axis=1, keepdims=True)
        scaled = rows / np.where(largest > 0.0, largest, 1.0)  # so that no square leaves the range of floats
        lengths = np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1.0)
        unit = self.sigma / STEPS
        clipped = scaled * (INWARDS * np.minimum(largest, self.clip / lengths))
        whole = np.trunc(clipped / unit)
        if self.order == "allocated" or self.noise_from == "batch":
            whole = whole.sum(axis=0, keepdims=True)
        if self.noise_from == "batch":
            whole = np.trunc(whole / len(rows))
        return np.asarray(unit * (whole + grid_noise(source, whole.size).reshape(whole.shape)))

    def steps(
        self,
        features: ArrayLike,
        labels: ArrayLike,
        *,
        rate: float | None = None,
        radius: float = 10.0,
        gradient: Gradient | None = None,
        rng: Rng = None,
    ) -> Iterator[Step]:
        """The updates: w <- w - rate * (mean report of the batch), kept in a ball of ``radius``.

        ``gradient(weights, features, labels)`` is given the rows of a batch. Row i of its answer
        may depend on row i and the weights only: the account relies on it, and cannot see it.
        """
        rows, targets, source = self._rows("features", features), self._labels(labels), source_of(rng)
        if len(rows) != self.n:
            raise InvalidInput(f"features must have n = {self.n} rows, got {len(rows)}. Build ShuffledSGD with this n.")
        radius = check_positive("radius", radius, remedy="It bounds the length of the weights.")
        speed = (
            self._rate(radius)
            if rate is None
            else check_positive("rate", rate, remedy="It is the length of a step; leave it out for the usual one.")
        )
        return self._pass(rows, targets, speed, radius, gradient or logistic_gradient, source)

    def _pass(
        self, rows: Floats, targets: Floats, speed: float, radius: float, slope: Gradient, source: Source
    ) -> Iterator[Step]:
        weights = np.zeros(self.dimension)
        for users in self._batches(source):
            gradients = self._gradients(slope, weights, rows[users], targets[users])
            reports = self.randomize(gradients, rng=source)
            weights = weights - speed * reports.sum(axis=0) / (1 if self.noise_from == "batch" else self.batch)
            weights = weights * min(1.0, radius / max(float(np.linalg.norm(weights)), 1e-300))
            yield Step(reports, weights)

    def _gradients(self, slope: Gradient, weights: Floats, rows: Floats, targets: Floats) -> Floats:
        """One row per user; of an empty batch, a user who moves nothing."""
        if not len(rows):
            return np.zeros((1, self.dimension))
        gradients = self._rows("gradients", slope(weights, rows, targets))
        if len(gradients) != len(rows):
            raise InvalidInput(
                f"gradient must return a row for each of {len(rows)} people, got {len(gradients)}. Do not sum them."
            )
        return gradients

    def fit(
        self,
        features: ArrayLike,
        labels: ArrayLike,
        *,
        rate: float | None = None,
        radius: float = 10.0,
        gradient: Gradient | None = None,
        rng: Rng = None,
    ) -> Trained:
        """All steps; averages their second half. By default a logistic regression, labels 0, 1."""
        if gradient is None and not np.all(np.isin(self._labels(labels), (0, 1))):
            raise InvalidInput(
                "labels must be 0 or 1 for a logistic regression, got others. Recode them, or pass a gradient."
            )
        path = [
            step.weights for step in self.steps(features, labels, rate=rate, radius=radius, gradient=gradient, rng=rng)
        ]
        return Trained(np.mean(path[len(path) // 2 :], axis=0), source_of(rng).secure)

    @property
    def _noisy(self) -> int:
        """How many reports are counted for one user, or for one batch."""
        return self.epochs * (self.updates if self.order == "allocated" else 1)

    @property
    def _flaw(self) -> float:
        return self.dimension * FLAW * self._noisy

    def _allocation(self, noise: float) -> Allocation:
        return Allocation(noise, self.updates, self.epochs, self._flaw)

    def _calibrated(self, epsilon: float) -> float:
        if self.order == "allocated":
            return passes.least_noise(lambda noise: self._allocation(noise).fits(epsilon, self.delta))
        if self.order == "permuted":
            return passes.calibrated(epsilon=epsilon, **self._passes)
        alone = passes.least_noise(
            lambda noise: passes.local_epsilon(noise=noise, delta=self.delta, flaw=self._flaw) <= epsilon
        )
        return alone * math.sqrt(self.epochs) / INWARDS

    def _account(self) -> passes.Account:
        if self.order == "allocated":
            return self._allocation(self.noise).account(self.delta, self.local_epsilon)
        if self.order == "permuted":
            return passes.permuted(noise=self.noise, hint=self.epsilon, **self._passes)
        return passes.Account(self.local_epsilon, self.delta, self.local_epsilon)

    @property
    def _passes(self) -> dict[str, Any]:
        return {"n": self.elements, "delta": self.delta, "epochs": self.epochs, "flaw": self.dimension * FLAW}

    def _batches(self, source: Source) -> Iterator[NDArray[np.intp]]:
        """Who takes part in each update, one after the other."""
        if self.order == "allocated":
            sampler = BallsAndBins(records=self.n, steps=self.updates, rng=source)
            return (batch for _ in range(self.epochs) for batch in sampler.epoch())
        return (batch for _ in range(self.epochs) for batch in self._taken(source))

    def _taken(self, source: Source) -> Iterator[NDArray[np.intp]]:
        """The batches of one epoch."""
        places = permutation(source, self.elements) if self.order == "permuted" else np.arange(self.elements)
        if self.noise_from == "batch":
            return (np.arange(place * self.batch, min((place + 1) * self.batch, self.n)) for place in places)
        return (places[start : start + self.batch] for start in range(0, self.n, self.batch))

    def _rate(self, radius: float) -> float:
        """radius / (G sqrt(steps)), G^2 the mean square length of a report: the usual choice."""
        averaged = self.batch if self.order == "allocated" else math.sqrt(self.batch)
        noise = self.sigma / (1.0 if self.noise_from == "batch" else averaged)
        length = math.hypot(self.clip, math.sqrt(self.dimension) * noise)
        return radius / (length * math.sqrt(self.updates * self.epochs))

    def _rows(self, name: str, values: ArrayLike) -> Floats:
        remedy = f"Give one row of {self.dimension} numbers per person."
        try:
            rows = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"{name} must be a table of numbers, got something else. {remedy}") from None
        if rows.ndim != 2 or rows.shape[1] != self.dimension or not len(rows):
            raise InvalidInput(f"{name} must have rows of {self.dimension} numbers, got shape {rows.shape}. {remedy}")
        if not np.all(np.isfinite(rows)):
            raise InvalidInput(f"{name} must be finite, got NaN or infinity. Leave out missing numbers.")
        return rows

    def _labels(self, values: ArrayLike) -> Floats:
        try:
            labels = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput("labels must be numbers, got something else. Recode them, one per person.") from None
        if labels.shape != (self.n,):
            raise InvalidInput(
                f"labels must be n = {self.n} numbers, got shape {labels.shape}. Build ShuffledSGD with this n."
            )
        if not np.all(np.isfinite(labels)):
            raise InvalidInput("labels must be finite, got NaN or infinity. Leave out people without a label.")
        return labels

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def logistic_gradient(weights: Floats, features: Floats, labels: Floats) -> Floats:
    """Each row's gradient of the logistic loss; at most as long as the row."""
    return np.asarray((expit(features @ weights) - labels)[:, None] * features)
