"""What is asked of many people: plain data, which says nothing of privacy and loads no NumPy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from shuffledp.domain import REMEDY, Stored
from shuffledp.errors import InvalidInput, check_needed
from shuffledp.questions import kind_of
from shuffledp.questions.table import Table, Told
from shuffledp.schema import RELEASE, File, Label, Part, part, rules_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp._types import Floats
    from shuffledp.design import Design, Law
    from shuffledp.mechanisms.estimate import Estimate
    from shuffledp.mechanisms.mechanism import Mechanism
    from shuffledp.mechanisms.results import Tally
    from shuffledp.sampling import Source
    from shuffledp.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What a plan says of the errors of a question. ``places`` says what a domain has many of,
    and is None where there is no domain. ``worst`` is None where the ``error`` is that of the worst
    data already.
    """

    error: str
    worst: str | None = None
    crowded: str = "a value that everybody holds"  # data for which it is the worst
    places: str | None = None
    columns: bool = False  # whether the domain has several


COUNTED: dict[str, Any] = {
    "error": "standard error of a value's count, root mean square over values",
    "worst": "largest standard error that the count of any one value can have, whatever the data",
}
LISTED = ("blocks", "digest")  # what the record of a question that counts people has


@part
class Question(Part):
    """A question that many people answer. Its fields are what a design stores of it; the first,
    ``type``, is its name.

    ``unit`` is what its estimates count, or "mean", and ``estimated`` what one of them is.
    ``mechanisms`` are the families of laws that answer it, and ``choices`` those that a user may
    name, the usual one first.
    """

    unit: ClassVar[str]
    estimated: ClassVar[str] = "one count"
    counts: ClassVar[bool] = False  # whether it is people that are counted, place by place
    ordered: ClassVar[bool] = False  # whether runs of its places say something, as those of bins do
    clipped: ClassVar[str | None] = None  # what is estimated where values were moved to the ends of the range
    to_be_clipped: ClassVar[str] = ""  # what to know before they are
    alone: ClassVar[bool] = True  # whether its answer is a release by itself
    mechanisms: ClassVar[tuple[str, ...]]
    choices: ClassVar[tuple[str, ...]] = ()
    compared: ClassVar[tuple[str, ...] | None] = None  # fields that reports must agree in; None: all
    planned: ClassVar[Planned | None] = None
    recorded: ClassVar[tuple[str, ...]] = ()  # fields of its record that not every question has

    type: Any

    def __str__(self) -> str:
        return str(self.type)

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """All that it asks, but for its type, in the order in which it is written."""
        return tuple(name for name in rules_of(cls) if name != "type")

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """The question that a user of Python asks, with what is usually left out."""
        check_needed(cls, fields)
        return cls(**fields).checked()

    @classmethod
    def of_domain(cls, domain: Any) -> Self:
        """The question of a plan, about a domain as it is given there."""
        return cls.of()

    @property
    def rivals(self) -> list[tuple[Question, str]]:
        """The mechanisms that a plan compares, each with the question that it answers."""
        return [(self, name) for name in self.choices or self.mechanisms]

    @abstractmethod
    def checked(self) -> Self:
        """The same, if it can be written down and asked again; refused otherwise."""

    @abstractmethod
    def domain(self, size: int) -> Stored:
        """How a value becomes a place, in a mechanism of so many places."""

    def places(self, values: Any, size: int, source: Source) -> NDArray[Any]:
        """The places of people's values, as Python has them; ``source`` draws, where something is
        rounded.
        """
        return self.domain(size).places(values, source)

    @abstractmethod
    def workload(self, size: int) -> Workload:
        """Which sums of people are estimated, in a mechanism of so many places."""

    def weighed(self, size: int) -> Workload:
        """The rows whose errors are compared before anybody reports."""
        return self.workload(size)

    def scaling(self, people: int) -> tuple[float, float]:
        """What a row is multiplied by, and what is added, where so many people report."""
        return 1.0, 0.0

    def estimate(self, mechanism: Mechanism, tally: Tally, *, notes: tuple[str, ...] = ()) -> Estimate:
        """What is estimated of a tally; how it is read may be chosen by further arguments."""
        return mechanism.estimate(tally, self.workload(mechanism.size), notes=notes)

    def derive(self, mechanism: Mechanism, tally: Tally, estimate: Estimate, by: str | None = None) -> dict[str, Any]:
        """What else the same tally says, by name: an ``Estimate`` of other rows, or a function of
        the level at which limits hold. ``by`` is the column within whose groups shares are asked.
        """
        return {}

    def expected_stderr(self, mechanism: Mechanism, n: int, values: Any = None) -> float:
        """The standard error to expect: the root mean square over the rows, if ``n`` people are
        spread evenly, or for people's ``values``.
        """
        import numpy as np

        size = mechanism.size
        held = np.full(size, n / size) if values is None else self.held(values, size)
        return self.summed_up(mechanism.predicted(self.weighed(size), held))

    def summed_up(self, errors: Floats) -> float:
        """The errors of all rows in one."""
        import numpy as np

        return float(np.sqrt(np.mean(errors**2)))

    def held(self, values: Any, size: int) -> NDArray[Any]:
        """How many of the people are in each place."""
        import numpy as np

        from shuffledp.sampling import source_of

        return np.bincount(self.places(values, size, source_of(None)), minlength=size)

    @property
    def size(self) -> int | None:
        """How many places there are, if the question says so."""
        return None

    @property
    def listed(self) -> Sequence[Label]:
        """All that is counted and listed by name; nothing, where a number is estimated."""
        return ()

    def algorithm(self, law: Law) -> str:
        """The published algorithm that runs where reports have this law, if it is one."""
        return ""

    @abstractmethod
    def scale(self, n: int) -> float:
        """How large an answer of ``n`` people can be at most, or how far apart two can be: an error
        above it says nothing.
        """

    def tables(self, poll: Any, tally: Any, estimate: Any, *, clips: bool, by: str | None, level: float) -> list[Table]:
        """The tables that answer it beside the estimates: other readings of the same reports.
        ``clips`` says that values may have been clipped, ``by`` within which groups shares are
        asked.
        """
        return []

    def told(self, record: Any) -> list[Told]:
        """What the tables beside the estimates say, in words, as far as readers look for it."""
        return []

    def misled(self, record: Any) -> Told | None:
        """Where values that do not add up would be without false reports: without one, and without
        1 % of all reports.
        """
        return None

    def clipping(self, record: Any) -> list[str]:
        """What nobody must overlook where values were moved to the ends of the range."""
        return []

    def remarks(self, record: Any) -> list[str]:
        """What the tables call for beside the notes of the estimate."""
        return []

    def followed(self, record: Any, tables: Sequence[Table]) -> list[tuple[Table, list[int]]]:
        """What a series follows from week to week, of the tables of a record at some level, by
        names of their own, and the rank of each row: a lower one says more of what was asked.
        People are shares of those who reported.
        """
        return [(tables[0].of_people(record.counted.reports), [1] * len(tables[0].label))]


def read(stored: Part, file: File = RELEASE) -> Question:
    """The question that a design stores, by the code that knows its type; its form is checked, and
    no more.
    """
    written = stored.as_json()
    return kind_of(written["type"]).read(written, file, "design.question." if file is RELEASE else "question.")


def resolved(design: Design) -> Question:
    """The question of a design, if the mechanism answers it, and its places are the stored ones."""
    from shuffledp.design import DESIGN

    question = read(design.question, DESIGN).checked()
    if design.mechanism.inside.type not in question.mechanisms:
        raise InvalidInput(
            f"the mechanism of a {question} must be one of {', '.join(question.mechanisms)}, got "
            f"{design.mechanism.type}. {REMEDY}"
        )
    domain: Any = question.domain(design.mechanism.values)
    if domain != design.domain:
        raise InvalidInput(
            f"the domain of a design must be that of its {question}, places in order, got another. {REMEDY}"
        )
    return question
