"""How many people hold each of some values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from shuffledp.domain import ENCODINGS, NAMING, REMEDY, Labels, Named
from shuffledp.errors import InvalidInput
from shuffledp.questions.question import COUNTED, LISTED, Planned, Question
from shuffledp.schema import NEEDED, Label, part
from shuffledp.wording import short
from shuffledp.workload import Each

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.design import Law
    from shuffledp.mechanisms.estimate import Estimate
    from shuffledp.mechanisms.mechanism import Mechanism
    from shuffledp.mechanisms.results import Tally
    from shuffledp.sampling import Source

ESTIMATORS = ("inversion", "simplex", "likelihood")


@part
class HistogramQuestion(Question):
    """How many people hold each category; all others count as the category ``other``.

    >>> HistogramQuestion(categories=("tea", "coffee")).as_json()
    {'type': 'histogram', 'categories': ['tea', 'coffee'], 'other': None}
    """

    unit = "people"
    counts = True
    mechanisms = (*NAMING, *ENCODINGS)
    choices: ClassVar[tuple[str, ...]] = ("krr", *ENCODINGS, "fakes", "dummies")
    compared = ("categories",)
    planned = Planned(places="values", **COUNTED)
    recorded = LISTED

    type: Annotated[Literal["histogram"], NEEDED] = "histogram"
    categories: Named
    other: Annotated[Label | None, NEEDED] = None

    @classmethod
    def of(cls, *, categories: Any, other: Any = None) -> Self:  # type: ignore[override]
        """The categories may be anything hashable, or a number k for 0, ..., k - 1."""
        return cls(categories=Labels.of(categories, other).labels, other=other)

    @classmethod
    def of_domain(cls, domain: Any) -> Self:
        return cls.of(categories=domain)

    def checked(self) -> Self:
        """The same, if there are at least two distinct categories, printable text or whole numbers,
        and ``other`` is one of them.
        """
        check_labels(self.categories, self.other, "categories")
        return self

    def domain(self, size: int) -> Labels:
        return labels_of(self.categories, self.other)

    def places(self, values: Any, size: int, source: Source) -> NDArray[Any]:
        """Unknown values count as ``other``, or are refused."""
        return self.domain(size).indices(values)

    def workload(self, size: int) -> Each:
        return Each(tuple(self.listed))

    def estimate(
        self,
        mechanism: Mechanism,
        tally: Tally,
        *,
        values: Any = None,
        estimator: str = "inversion",
        notes: tuple[str, ...] = (),
    ) -> Estimate:
        """Estimated counts of the listed ``values``, by default of all.

        "inversion" is unbiased, and may be negative. "simplex" is the nearest non-negative
        histogram with the right total; "likelihood", where a report names one category, the one
        under which the reports are most probable. Both of these are biased where a category is
        rare, and carry the standard errors of the unbiased estimate.
        """
        from shuffledp.mechanisms.estimate import likelihood, simplex

        known = ESTIMATORS if mechanism.law.single else ESTIMATORS[:2]
        if estimator not in known:
            raise InvalidInput(
                f'estimator must be one of {", ".join(known)}, got {estimator!r}. "inversion" is the unbiased one.'
            )
        found = super().estimate(mechanism, tally, notes=notes)
        if estimator != "inversion":
            if estimator == "likelihood":
                estimated = likelihood(tally.votes / len(tally.rounds), mechanism.law.hit, mechanism.law.miss)
            else:
                estimated = simplex(found.values, tally.people)
            said = f'standard errors and intervals are those of the unbiased estimate, not of "{estimator}"'
            found = replace(found, estimated=estimated, notes=(said, *notes))
        return found if values is None else found.at(self.domain(0).indices(values))

    @property
    def size(self) -> int:
        return self.categories if isinstance(self.categories, int) else len(self.categories)

    @property
    def listed(self) -> Sequence[Label]:
        return range(self.categories) if isinstance(self.categories, int) else self.categories

    def algorithm(self, law: Law) -> str:
        return algorithm_1(law)

    def scale(self, n: int) -> float:
        return n


def check_labels(labels: Any, other: object, called: str) -> None:
    """Refuse labels that a design cannot hold."""
    Labels(labels=labels).checked(called)
    if other is None:
        return
    if isinstance(labels, int):
        raise InvalidInput(
            f"other must be left out when {called} is a number, got {other!r}. List the categories to declare one."
        )
    if type(other) not in (str, int) or other not in labels:
        raise InvalidInput(f"other must be one of the {called}, got {other!r}. {REMEDY}")


def labels_of(labels: Any, other: object) -> Labels:
    """A place for each of the labels, that of all others included."""
    return Labels(labels=labels, other=None if other is None else labels.index(other))


def algorithm_1(law: Law) -> str:
    """That of Balle et al. 2019, if it runs."""
    if law.type != "krr":
        return ""
    gamma = short(int(law.integers[0]) / 2**64)
    return f"Algorithm 1 of Balle et al. 2019 (k-ary randomized response, k = {law.k}, gamma = {gamma})"


QUESTION = HistogramQuestion
