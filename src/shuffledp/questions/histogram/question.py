"""How many people hold each of some values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from shuffledp.domain import ENCODINGS, NAMING, REMEDY, Labels, Named
from shuffledp.errors import InvalidInput
from shuffledp.questions.question import Question
from shuffledp.schema import NEEDED, Label, part
from shuffledp.wording import short

if TYPE_CHECKING:
    from shuffledp.design import Law

__all__ = ["QUESTION", "HistogramQuestion", "algorithm_1", "check_labels", "labels_of"]


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

    type: Annotated[Literal["histogram"], NEEDED] = "histogram"
    categories: Named
    other: Annotated[Label | None, NEEDED] = None

    def checked(self) -> Self:
        """The same, if there are at least two distinct categories, printable text or whole numbers,
        and ``other`` is one of them.
        """
        check_labels(self.categories, self.other, "categories")
        return self

    def domain(self, size: int) -> Labels:
        return labels_of(self.categories, self.other)

    @property
    def size(self) -> int:
        return self.categories if isinstance(self.categories, int) else len(self.categories)

    @property
    def listed(self) -> Sequence[Label]:
        return self.domain(0).listed

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
