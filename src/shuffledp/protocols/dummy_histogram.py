"""Counts per category with noise that does not depend on how many categories there are: true values
among fakes, which users send or the shuffler adds.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.protocols.bag import Reports
from shuffledp.protocols.categories import Categories
from shuffledp.protocols.estimate import Estimate, Noise
from shuffledp.protocols.fake_votes import FakedSupports, check_fakes, fake_votes
from shuffledp.protocols.histogram import check_held
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.least_noise import fewest_dummies, fewest_fakes
from shuffledp.protocols.message_protocol import MessageProtocol
from shuffledp.protocols.tasks import HistogramTask
from shuffledp.randomizers.messages import MessageLaw, ShufflerDummies, UserFakes
from shuffledp.randomizers.messages.faked_values import FakedValues, check_light
from shuffledp.randomizers.messages.shuffler_dummies import DummiesKind, check_dummies_kind, check_keep
from shuffledp.randomizers.messages.user_fakes import FakesKind, check_fakes_kind, check_slots
from shuffledp.sampling import Rng, source_of

__all__ = ["DummyHistogram", "FakedHistogram", "FakesHistogram", "from_votes"]


@dataclass(frozen=True, kw_only=True, eq=False)
class FakedHistogram(MessageProtocol):
    """Counts per category, from true values among fakes."""

    makes: ClassVar[type[FakedValues]]

    categories: Iterable[Hashable]
    other: Hashable | None = None
    randomizer: FakedValues = settled()
    light_epsilon0: float | None = None
    _known: Categories = field(init=False, repr=False)

    def _prepare(self) -> None:
        known = Categories.of(self.categories, self.other)
        self._set(categories=known.labels, _known=known)
        if self.light_epsilon0 is not None:
            self._set(light_epsilon0=check_light(self.light_epsilon0))
        super()._prepare()

    @property
    def _light(self) -> float:
        return math.inf if self.light_epsilon0 is None else self.light_epsilon0

    def _promised(self) -> tuple[float, float, int]:
        assert self.epsilon is not None
        assert self.delta is not None
        return self.epsilon, self.delta, self.rounds

    def _answers(self, law: MessageLaw) -> bool:
        return isinstance(law, self.makes) and law.k == len(self._known)

    @property
    def task(self) -> HistogramTask:
        """The question, for a design."""
        return HistogramTask(self._known.written, self.other)  # type: ignore[arg-type]

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "categories": self.categories}

    def encode(self, values: Iterable[Hashable], *, rng: Rng = None) -> Reports:
        """One report per value; unknown values count as ``other``, or are refused."""
        source, places = source_of(rng), self._known.indices(values)
        return Reports(self.describe(), self.randomizer.randomize(places, rng=source), source.secure)

    def check_noise(self, counts: ArrayLike) -> None:
        people, _, votes = self.randomizer.opened(np.asarray(counts))
        assert self.least is not None
        check_fakes(self.randomizer, people, votes, self.least)

    def analyse_counts(self, counts: ArrayLike, *, secure: bool = True, notes: tuple[str, ...] = ()) -> Estimate:
        """Estimated counts from the tally of a bag: unbiased, and perhaps negative."""
        law, tally = self.randomizer, np.asarray(counts)
        if tally.shape != (law.tally_size,) or tally.dtype.kind not in "iu":
            raise InvalidInput(
                f"counts must be the {law.tally_size} whole numbers of tally(...), got shape {tally.shape}. Add up the "
                f"tallies of a bag."
            )
        people, _, votes = law.opened(tally)
        self._check_most(people)
        self.check_noise(tally)
        values, noise = from_votes(votes, people, law)
        stderr = noise.stderr(np.clip(values, 0.0, people))
        return Estimate(tuple(self._known.labels), values, stderr, people, values, noise, secure, notes)

    def predicted_stderr(self) -> float:
        """The standard error of a count that a k-th of all n users hold; the mean square over the
        categories is the same for all data.
        """
        return self.randomizer.expected_stderr(self.n)

    def predicted_stderrs(self, counts: ArrayLike) -> Floats:
        """The standard error of each category's estimated count if ``counts`` users hold it:
        exact.
        """
        held = check_held(counts)
        people = round(float(held.sum()))
        deviations: Floats = np.sqrt(self.randomizer.group_law(1, people).variance(held, people))
        return deviations


def from_votes(votes: Any, people: int, law: FakedValues, size: int = 1) -> tuple[Floats, Noise]:
    """From the votes for groups of ``size`` values each to how many of ``people`` hold one of
    them: unbiased, with its noise.
    """
    group = law.group_law(size, people)
    values: Floats = group.estimate(votes.astype(np.float64), people)
    base = np.full_like(values, group.variance(0, people))
    slope = np.full_like(values, group.variance(1, people) - group.variance(0, people))
    exact = FakedSupports(votes, people, group.hit, miss=group.miss, fakes=fake_votes(law, size, people))
    return values, Noise(base, slope, np.zeros_like(values), 1.0 / group.contrast, exact)


@dataclass(frozen=True, kw_only=True, eq=False)
class FakesHistogram(FakedHistogram):
    """Users send their true category, and some of them a uniformly random one beside it.

    It needs more trust than ``Histogram``: messages must be sealed to the analyst, since a true one
    says what its sender holds. ``light_epsilon0`` has the true category randomized a little before
    it is sent, so that even whoever links a message to its sender learns no more than that allows.

    >>> from shuffledp import UserFakes
    >>> law = UserFakes(k=3, slots=1, chance=0.25)
    >>> poll = FakesHistogram(categories=["tea", "coffee", "water"], n=1000, randomizer=law)
    >>> sent = poll.encode(["tea"] * 600 + ["coffee"] * 400, rng=np.random.default_rng(7))
    >>> sent.rows.shape
    (1000, 2)
    >>> estimate = poll.analyse(poll.shuffle(sent))
    >>> bool(abs(estimate["tea"] - 600) < 6 * estimate.stderr[0])
    True
    """

    makes: ClassVar[type[FakedValues]] = UserFakes

    slots: int | None = None
    kind: FakesKind | None = None

    def _prepare(self) -> None:
        if self.slots is not None:
            self._set(slots=check_slots(self.slots))
        if self.kind is not None:
            self._set(kind=check_fakes_kind(self.kind))
        if self.kind == "poisson" and self.light_epsilon0 is not None:
            raise InvalidInput(
                "kind of fakes must be bernoulli beside light_epsilon0, got poisson. What a Poisson number of them "
                "hides of randomized values is not known closely enough; leave out one of the two."
            )
        super()._prepare()

    def _calibrated(self) -> UserFakes:
        terms = (len(self._known), self._crowd(self.least), *self._promised())
        return fewest_fakes(*terms, slots=self.slots, kind=self.kind or "bernoulli", epsilon0=self._light)


@dataclass(frozen=True, kw_only=True, eq=False)
class DummyHistogram(FakedHistogram):
    """Users send their true category, and the shuffler adds dummies before it hands messages on.

    It needs the most trust: messages must be sealed to the analyst, and the shuffler must add its
    dummies, which nobody else can do. In return the noise is as small as a curator's.

    >>> from shuffledp import ShufflerDummies
    >>> law = ShufflerDummies(k=3, center=28, left=0.6, right=0.6)
    >>> poll = DummyHistogram(categories=["tea", "coffee", "water"], n=1000, randomizer=law)
    >>> sent = poll.encode(["tea"] * 600 + ["coffee"] * 400)
    >>> estimate = poll.analyse(poll.shuffle(sent, rng=np.random.default_rng(7)))
    >>> estimate.values.round(1).tolist(), float(estimate.stderr.round(2)[0])
    ([599.0, 404.0, -1.0], 2.74)
    """

    makes: ClassVar[type[FakedValues]] = ShufflerDummies

    keep: float | None = None
    kind: DummiesKind | None = None

    def _prepare(self) -> None:
        if self.keep is not None:
            self._set(keep=check_keep(self.keep))
        if self.kind is not None:
            self._set(kind=check_dummies_kind(self.kind))
        super()._prepare()

    def _calibrated(self) -> ShufflerDummies:
        terms = (len(self._known), self._crowd(self.least), *self._promised())
        kind, keep = self.kind or "geometric", 1.0 if self.keep is None else self.keep
        return fewest_dummies(*terms, keep=keep, kind=kind, epsilon0=self._light)
