"""How many users hold each of very many values: reports stay short, or errors small, where
randomized response would drown (Feldman et al. 2020, 5.1).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import Floats, View
from shuffledp.accounting.views import VIEWS
from shuffledp.errors import InvalidInput
from shuffledp.protocols.bag import Bag, Reports, SummedBag, notes_of
from shuffledp.protocols.categories import Categories
from shuffledp.protocols.estimate import Estimate
from shuffledp.protocols.estimators import debiased, opened, simplex
from shuffledp.protocols.histogram import check_estimator, check_held
from shuffledp.protocols.protocol import Family, ShuffledProtocol
from shuffledp.protocols.tasks import FAMILY_OF_METHOD, FrequencyTask
from shuffledp.randomizers import OLH, OUE, RAPPOR, Hadamard, SubsetSelection
from shuffledp.randomizers.family import family_of
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.randomizers.unary import UnaryEncoding
from shuffledp.randomizers.wrappers.check_in import answering
from shuffledp.sampling import Rng, source_of

__all__ = ["METHODS", "Frequency", "Method"]

Method = Literal["hadamard", "hashing", "subset", "unary"]
METHODS: dict[Method, Family] = {"hadamard": Hadamard, "hashing": OLH, "subset": SubsetSelection, "unary": OUE}


@dataclass(frozen=True, kw_only=True, eq=False)
class Frequency(ShuffledProtocol):
    """Counts of each value of a large ``domain``: a number k, for 0, ..., k - 1, or a list of
    categories.

    "hadamard": one column of a Hadamard matrix, decoded by a fast Walsh-Hadamard transform.
    "hashing": optimal local hashing; decoding looks at every pair of report and value. "subset" and
    "unary" err least or nearly so, but their reports grow with the domain. With the method "unary"
    and ``view="sums"``, ``shuffle`` adds up the bits, flipped as in ``RAPPOR``, and hands on no
    report: that gives away much less, so the same promise needs less noise.

    >>> words = Frequency(domain=1000, n=5000, epsilon0=4.0)
    >>> words.bits
    11
    >>> bag = words.shuffle(words.encode(np.full(5000, 42), rng=np.random.default_rng(7)))
    >>> bool(abs(words.analyse(bag, values=[42]).value - 5000) < 5 * words.predicted_stderr())
    True
    """

    domain: int | Iterable[Hashable]
    method: Method = "hadamard"
    other: Hashable | None = None
    view: View = "reports"
    _known: Categories = field(init=False, repr=False)

    def _prepare(self) -> None:
        if self.view not in VIEWS:
            raise InvalidInput(
                f'view must be one of {", ".join(VIEWS)}, got {self.view!r}. "reports" are whole reports, shuffled.'
            )
        if self.method not in tuple(METHODS):  # a tuple, as what was given may not be hashable
            raise InvalidInput(
                f'method must be one of {", ".join(METHODS)}, got {self.method!r}. "hadamard" has short reports and '
                f"decodes fast."
            )
        if self.view == "sums" and self.method != "unary":
            raise InvalidInput(
                f'the view "sums" must be of the method unary, got {self.method}. Its reports are bits, one for each '
                f"value; others are not added up."
            )
        known = Categories.of(self.domain, self.other)
        self._set(domain=known.labels, _known=known)
        super()._prepare()

    @property
    def _size(self) -> int:
        return len(self._known)

    def _check_randomizer(self, given: object) -> VotingRandomizer:
        """One vote from each report is what a histogram counts."""
        randomizer = super()._check_randomizer(given)
        if self.view == "sums" and not isinstance(randomizer, UnaryEncoding):
            raise InvalidInput(
                f'the view "sums" must be of reports that are bits, one for each value, got {given!r}. Use OUE, RAPPOR '
                f"or Unary."
            )
        if answering(randomizer).single:
            raise InvalidInput(
                f"the randomizer of a Frequency must vote for many values, got {given!r}. Use it in a Histogram."
            )
        return randomizer

    def _family(self) -> tuple[Family, dict[str, int]]:
        # Sums of any two encodings that leak alike err alike for rare values. Symmetric bits err no
        # more for common ones, and those of ``OUE`` do.
        return RAPPOR if self.view == "sums" else METHODS[self.method], {"k": len(self._known)}

    @property
    def task(self) -> FrequencyTask:
        """The question, for a design."""
        if self.view != "reports":
            raise InvalidInput(
                f'a frequency must be of the view "reports" to be written down, got {self.view!r}. Files hold whole '
                f"reports; leave view out."
            )
        family = None if "randomizer" in self._found else family_of(answering(self.randomizer))
        if family is not None and family.law != FAMILY_OF_METHOD[self.method]:
            raise InvalidInput(
                f"the randomizer must be that of the method {self.method} to be written down, got {self.randomizer!r}. "
                f"Name its method, if it is one of {', '.join(METHODS)}."
            )
        return FrequencyTask(self._known.written, self.method, self.other)  # type: ignore[arg-type]

    def describe(self) -> dict[str, object]:
        view = {} if self.view == "reports" else {"view": self.view}
        law = self.randomizer.describe()
        return {"protocol": type(self).__name__, "n": self.n, "domain": self.domain, **view, **law}

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
            return self.tally(self._open(bag))
        if not isinstance(bag, SummedBag):
            raise InvalidInput(
                f'the bag must hold sums only where view="sums" is promised, got {type(bag).__name__}. Take the one '
                f"that shuffle(...) of this protocol makes."
            )
        self._check_same(bag)
        return bag.rows

    def encode(self, values: Iterable[Hashable], *, rng: Rng = None) -> Reports:
        """One report per value; unknown values count as ``other``, or are refused."""
        source = source_of(rng)
        return Reports(
            self.describe(), self.randomizer.randomize(self._known.indices(values), rng=source), source.secure
        )

    def analyse(
        self,
        bag: Bag,
        *,
        values: Iterable[Hashable] | None = None,
        estimator: Literal["inversion", "simplex"] = "inversion",
    ) -> Estimate:
        """Estimated counts of the listed ``values``, by default of all.

        "inversion" is unbiased; "simplex" is the nearest histogram without negative counts, with
        the standard errors of the unbiased estimate.
        """
        return self.analyse_counts(
            self._counts(bag),
            values=values,
            estimator=estimator,
            secure=bag.secure,
            notes=notes_of(bag, self.n),
        )

    def analyse_counts(
        self,
        counts: ArrayLike,
        *,
        values: Iterable[Hashable] | None = None,
        estimator: Literal["inversion", "simplex"] = "inversion",
        secure: bool = True,
        notes: tuple[str, ...] = (),
    ) -> Estimate:
        """The same from ``tally``: all that the bag says."""
        check_estimator(estimator, ("inversion", "simplex"))
        n, blocks, votes = opened(counts, self.randomizer, self.n)
        chosen = slice(None) if values is None else self._known.indices(values)
        unbiased, noise, stderr = debiased(votes, n, self.randomizer, blocks)
        estimates = simplex(unbiased, n) if estimator == "simplex" else unbiased
        more = (
            ('standard errors and intervals are those of the unbiased estimate, not of "simplex"',)
            if estimator == "simplex"
            else ()
        )
        labels = (
            tuple(self._known.labels)
            if values is None
            else tuple(self._known.labels[place] for place in np.arange(len(self._known))[chosen])
        )
        return Estimate(
            labels, estimates[chosen], stderr[chosen], n, unbiased[chosen], noise.at(chosen), secure, (*more, *notes)
        )

    @property
    def bits(self) -> int:
        """A column, a seed and a hash value, a list of values, or one bit per value."""
        return self.randomizer.bits

    def predicted_stderr(self) -> float:
        """The root mean square over the values of the counts' standard errors, with all n users
        spread evenly over the domain.
        """
        return float(
            np.sqrt(np.mean(self.predicted_stderrs(np.full(len(self._known), self.n / len(self._known))) ** 2))
        )

    def predicted_stderrs(self, counts: ArrayLike) -> Floats:
        """The standard error of each value's estimated count if ``counts`` users hold it: exact."""
        deviations: Floats = np.sqrt(self.randomizer.count_variance(check_held(counts)))
        return deviations
