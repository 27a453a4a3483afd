"""How many users hold each category, from one noisy report of each, shuffled and counted: k-ary
randomized response (Balle et al. 2019, Algorithm 1), or, where categories are very many, an
encoding whose reports stay short or whose errors stay small (Feldman et al. 2020, 5.1).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from shuffledp._types import View
from shuffledp.accounting.views import VIEWS
from shuffledp.domain import Labels
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.estimate import Estimate, likelihood, simplex
from shuffledp.protocols.bag import Bag, Reports, SummedBag, notes_of
from shuffledp.protocols.message_protocol import DummiesOfShuffler, FakesOfUsers
from shuffledp.protocols.protocol import FOUND, Family, Protocol, ShuffledProtocol
from shuffledp.questions.histogram.question import HistogramQuestion
from shuffledp.randomizers import KRR, OLH, OUE, RAPPOR, Hadamard, SubsetSelection
from shuffledp.randomizers.family import family_of
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.randomizers.unary import UnaryEncoding
from shuffledp.randomizers.wrappers.check_in import answering
from shuffledp.sampling import Source
from shuffledp.workload import Each

__all__ = [
    "ENCODERS",
    "ESTIMATORS",
    "Categorized",
    "DummyHistogram",
    "Estimator",
    "FakesHistogram",
    "Histogram",
    "Mechanism",
    "RandomizedResponse",
    "check_estimator",
]

Estimator = Literal["inversion", "simplex", "likelihood"]
ESTIMATORS: tuple[Estimator, ...] = ("inversion", "simplex", "likelihood")
Mechanism = Literal["krr", "hadamard", "hash", "subset", "oue"]
ENCODERS: dict[Mechanism, Family] = {
    "krr": KRR,
    "hadamard": Hadamard,
    "hash": OLH,
    "subset": SubsetSelection,
    "oue": OUE,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Categorized(Protocol):
    """The question of a histogram, whatever hides the answers."""

    categories: int | Iterable[Hashable]
    other: Hashable | None = None
    _known: Labels = field(init=False, repr=False)

    def _ask(self) -> None:
        """Check the question."""
        known = Labels.of(self.categories, self.other)
        self._set(categories=known.listed, _known=known)

    @property
    def _size(self) -> int:
        return self._known.size

    def workload(self) -> Each:
        return Each(tuple(self._known.listed))

    def _asked(self) -> dict[str, object]:
        return {"categories": self.categories}

    def _places(self, values: Iterable[Hashable], source: Source) -> NDArray[Any]:
        """Unknown values count as ``other``, or are refused."""
        return self._known.indices(values)

    @property
    def question(self) -> Any:
        """The question, for a design."""
        return HistogramQuestion(categories=self._known.labels, other=self.other)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomizedResponse(Categorized, ShuffledProtocol):
    """Each user sends their own category, or with probability gamma a uniformly random one.

    Any other ``randomizer`` whose reports vote, or that has a matrix, may take the place of k-ary
    randomized response; its noise is then given, and neither epsilon nor epsilon0 is.
    """

    randomizer: VotingRandomizer = FOUND

    def _family(self) -> tuple[Family, dict[str, int]]:
        return KRR, {"k": self._known.size}

    def analyse(
        self, bag: Bag, *, values: Iterable[Hashable] | None = None, estimator: Estimator = "inversion"
    ) -> Estimate:
        """Estimated counts of the listed ``values``, by default of all.

        "inversion" is unbiased, and may be negative. "simplex" is the nearest non-negative
        histogram with the right total; "likelihood", where a report names one category, the one
        under which the reports are most probable. Both of these are biased where a category is
        rare, and carry the standard errors of the unbiased estimate.
        """
        how: dict[str, Any] = {"values": values, "estimator": estimator}
        return self.analyse_counts(self._counts(bag), secure=bag.secure, notes=notes_of(bag, self.n), **how)

    def _counts(self, bag: Bag) -> ArrayLike:
        """What is known of the votes."""
        return self.tally(self._open(bag))

    def analyse_counts(
        self,
        counts: ArrayLike,
        *,
        values: Iterable[Hashable] | None = None,
        estimator: Estimator = "inversion",
        secure: bool = True,
        notes: tuple[str, ...] = (),
    ) -> Estimate:
        """The same from ``tally``: all that the bag says."""
        check_estimator(estimator, ESTIMATORS if self.randomizer.single else ("inversion", "simplex"))
        tally, law = self._opened(counts), self.randomizer
        estimate = self.hiding.estimate(tally, self.workload(), secure=secure, notes=notes)
        if estimator != "inversion":
            simple = estimator == "simplex"
            found = simplex(estimate.values, tally.people) if simple else likelihood(tally.votes, law.hit, law.miss)
            said = f'standard errors and intervals are those of the unbiased estimate, not of "{estimator}"'
            estimate = replace(estimate, estimated=found, notes=(said, *notes))
        return estimate if values is None else estimate.at(self._known.indices(values))


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram(RandomizedResponse):
    """Counts per category through a shuffler, from one noisy message of each user.

    ``mechanism`` is how a message hides its sender. "krr", the usual one: it names the user's own
    category or a random one. "hadamard": one column of a Hadamard matrix, decoded by a fast
    Walsh-Hadamard transform. "hash": optimal local hashing; decoding looks at every pair of report
    and value. "subset" and "oue" err least or nearly so among many categories, but their reports
    grow with the number of categories. With "oue" and ``view="sums"``, ``shuffle`` adds up the
    bits, flipped as in ``RAPPOR``, and hands on no report: that reveals much less, so the same
    promise needs less noise.

    >>> import numpy as np
    >>> poll = Histogram(categories=["tea", "coffee", "water"], n=1000, epsilon0=3.0)
    >>> bag = poll.shuffle(
    ...     poll.encode(["tea"] * 600 + ["coffee"] * 400, rng=np.random.default_rng(7))
    ... )
    >>> estimate = poll.analyse(bag)
    >>> bool(abs(estimate["tea"] - 600) < 4 * estimate.stderr[0]), estimate.secure
    (True, False)
    >>> round(poll.guarantee.epsilon(delta=1e-6).upper, 2)
    0.8
    >>> words = Histogram(categories=1000, mechanism="hadamard", n=5000, epsilon0=4.0)
    >>> words.bits
    11
    >>> bag = words.shuffle(words.encode(np.full(5000, 42), rng=np.random.default_rng(7)))
    >>> bool(abs(words.analyse(bag, values=[42]).value - 5000) < 5 * words.predicted_stderr())
    True
    """

    mechanism: Mechanism | None = None
    view: View = "reports"

    def _ask(self) -> None:
        super()._ask()
        if self.view not in VIEWS:
            raise InvalidInput(
                f'view must be one of {", ".join(VIEWS)}, got {self.view!r}. "reports" are whole reports, shuffled.'
            )
        if self.mechanism not in (None, *ENCODERS):  # a tuple, as what was given may not be hashable
            raise InvalidInput(
                f'mechanism must be one of {", ".join(ENCODERS)}, got {self.mechanism!r}. "krr" is the usual one, '
                f'"hadamard" has short reports about many categories.'
            )
        given = "randomizer" not in self._found
        if given and self.mechanism is not None:
            raise InvalidInput(
                f"mechanism must be left out with a randomizer, got {self.mechanism!r}. The randomizer says how a "
                f"report hides its sender."
            )
        if self.view == "sums" and not given and self.mechanism != "oue":
            raise InvalidInput(
                f'the view "sums" must be of the mechanism oue, got {self.mechanism or "krr"}. Its reports are bits, '
                f"one for each category; others are not added up."
            )

    def _check_randomizer(self, given: object) -> VotingRandomizer:
        """One whose reports add up, where only sums are handed on."""
        randomizer = super()._check_randomizer(given)
        if self.view == "sums" and not isinstance(randomizer, UnaryEncoding):
            raise InvalidInput(
                f'the view "sums" must be of reports that are bits, one for each category, got {given!r}. Use OUE, '
                f"RAPPOR or Unary."
            )
        return randomizer

    def _family(self) -> tuple[Family, dict[str, int]]:
        # Sums of any two encodings that leak alike err alike for rare values. Symmetric bits err no
        # more for common ones, and those of ``OUE`` do.
        return RAPPOR if self.view == "sums" else ENCODERS[self.mechanism or "krr"], {"k": self._known.size}

    @property
    def question(self) -> HistogramQuestion:
        """The question, for a design."""
        if self.view != "reports":
            raise InvalidInput(
                f'a histogram must be of the view "reports" to be written down, got {self.view!r}. Files hold whole '
                f"reports; leave view out."
            )
        family = None if "randomizer" in self._found else family_of(answering(self.randomizer))
        if family is not None and family.law not in ENCODERS:
            raise InvalidInput(
                f"the randomizer must be that of a mechanism to be written down, got {self.randomizer!r}. Name its "
                f"mechanism instead, if it is one of {', '.join(ENCODERS)}."
            )
        question: HistogramQuestion = super().question
        return question

    def describe(self) -> dict[str, object]:
        return super().describe() | ({} if self.view == "reports" else {"view": self.view})

    @property
    def _released(self) -> View:
        return self.view

    def shuffle(self, reports: Reports | Iterable[Reports] | ArrayLike, *, colluding: int = 0) -> Bag:
        """Forget who sent what; in the view "sums", all but the number of reports and how often
        each bit was set. See ``Protocol.shuffle``.
        """
        bag = super().shuffle(reports, colluding=colluding)
        return bag if self.view == "reports" else SummedBag(bag.description, self.tally(bag.rows), bag.secure)

    def _counts(self, bag: Bag) -> ArrayLike:
        """What is known of the votes."""
        if self.view == "reports":
            return super()._counts(bag)
        if not isinstance(bag, SummedBag):
            raise InvalidInput(
                f'the bag must hold sums only where view="sums" is promised, got {type(bag).__name__}. Take the one '
                f"that shuffle(...) of this protocol makes."
            )
        self._check_same(bag)
        return bag.rows


@dataclass(frozen=True, kw_only=True, eq=False)
class FakesHistogram(Categorized, FakesOfUsers):
    """Users send their true category, and some of them a uniformly random one beside it; see
    ``FakesOfUsers`` for the trust that this takes.

    >>> import numpy as np
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


@dataclass(frozen=True, kw_only=True, eq=False)
class DummyHistogram(Categorized, DummiesOfShuffler):
    """Users send their true category, and the shuffler adds dummies; see ``DummiesOfShuffler``.

    >>> import numpy as np
    >>> from shuffledp import ShufflerDummies
    >>> law = ShufflerDummies(k=3, center=28, left=0.6, right=0.6)
    >>> poll = DummyHistogram(categories=["tea", "coffee", "water"], n=1000, randomizer=law)
    >>> sent = poll.encode(["tea"] * 600 + ["coffee"] * 400)
    >>> estimate = poll.analyse(poll.shuffle(sent, rng=np.random.default_rng(7)))
    >>> estimate.values.round(1).tolist(), float(estimate.stderr.round(2)[0])
    ([599.0, 404.0, -1.0], 2.74)
    """


def check_estimator(estimator: str, known: tuple[str, ...]) -> None:
    """Refuse an estimator that the protocol does not have."""
    if estimator not in known:
        raise InvalidInput(
            f'estimator must be one of {", ".join(known)}, got {estimator!r}. "inversion" is the unbiased one.'
        )
