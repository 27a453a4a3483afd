"""How many users hold each of very many values: reports stay short, or errors small, where
randomized response would drown (Feldman et al. 2020, 5.1).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInput
from shuffledp.protocols.categories import Categories
from shuffledp.protocols.estimate import Estimate, Noise
from shuffledp.protocols.estimators import inversion, signed, simplex
from shuffledp.protocols.histogram import check_estimator, check_held
from shuffledp.protocols.protocol import Bag, Family, Reports, ShuffledProtocol, notes_of
from shuffledp.protocols.tasks import FrequencyTask
from shuffledp.randomizers import OLH, OUE, Hadamard, SubsetSelection
from shuffledp.randomizers.randomizer import Floats
from shuffledp.sampling import Rng, source_of

__all__ = ["METHODS", "Frequency", "Method"]

Method = Literal["hadamard", "hashing", "subset", "unary"]
METHODS: dict[Method, Family] = {"hadamard": Hadamard, "hashing": OLH, "subset": SubsetSelection, "unary": OUE}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Frequency(ShuffledProtocol):
    """Counts of each value of a large ``domain``: a number k, for 0, ..., k - 1, or a list of
    categories.

    "hadamard": one column of a Hadamard matrix, decoded by a fast Walsh-Hadamard transform.
    "hashing": optimal local hashing; decoding looks at every pair of report and value. "subset" and
    "unary" err least or nearly so, but their reports grow with the domain.

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
    _known: Categories = field(init=False, repr=False)

    def _prepare(self) -> None:
        if self.method not in tuple(METHODS):  # a tuple, as what was given may not be hashable
            raise InvalidInput(
                f'method must be one of {", ".join(METHODS)}, got {self.method!r}. "hadamard" has short reports and '
                f"decodes fast."
            )
        known = Categories.of(self.domain, self.other)
        self._set(domain=known.labels, _known=known)
        super()._prepare()

    def _family(self) -> tuple[Family, dict[str, int]]:
        return METHODS[self.method], {"k": len(self._known)}

    @property
    def task(self) -> FrequencyTask:
        """The question, for a design."""
        return FrequencyTask(self._known.written, self.method, self.other)  # type: ignore[arg-type]

    def describe(self) -> dict[str, object]:
        return {"protocol": type(self).__name__, "n": self.n, "domain": self.domain, **self.randomizer.describe()}

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
            self.tally(self._open(bag)),
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
        seen = np.asarray(counts)
        head = 1 + self.randomizer.blocks
        if seen.shape != (head + len(self._known),) or seen.dtype.kind not in "iu" or not 1 <= seen[0] <= self.n:
            raise InvalidInput(
                f"counts must be what tally(...) adds up to for at most n = {self.n} reports, got shape {seen.shape}. "
                f"Add up the tallies of a bag."
            )
        n, blocks, votes = int(seen[0]), seen[1:head], seen[head:]
        chosen = slice(None) if values is None else self._known.indices(values)
        unbiased, noise, stderr = self._unbiased(n, blocks, votes)
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

    def tally(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """The number of reports, how many fell into each block of a Hadamard matrix, and the votes
        for each value.
        """
        randomizer = self.randomizer
        return np.concatenate([[len(rows)], randomizer.block_counts(rows), randomizer.supports(rows)])

    def _unbiased(self, n: int, blocks: NDArray[np.int64], votes: NDArray[np.int64]) -> tuple[Floats, Noise, Floats]:
        """The unbiased estimate, its noise and its standard error."""
        randomizer = self.randomizer
        if randomizer.blocks:
            return signed(votes, n, randomizer, blocks)
        values, noise = inversion(votes, n, randomizer.hit, randomizer.miss, randomizer.contrast)
        return values, noise, noise.stderr(np.clip(values, 0.0, n))

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
