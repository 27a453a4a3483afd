"""How numbers are distributed: shares below cut points, and quantiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from shuffledp.domain import MOST_BINS, NAMING, REMEDY, Bins, as_list, is_bound
from shuffledp.errors import Argument, InvalidInput, Refusal, check_count, check_finite
from shuffledp.numerals import exact
from shuffledp.questions.quantile import words
from shuffledp.questions.quantile.cuts import plainly
from shuffledp.questions.question import Planned, Question
from shuffledp.questions.table import Table, Told
from shuffledp.schema import NEEDED, Chance, Floats, Limits, Number, part
from shuffledp.workload import Ranges, below

if TYPE_CHECKING:
    from shuffledp.mechanisms.estimate import Estimate
    from shuffledp.mechanisms.mechanism import Mechanism
    from shuffledp.mechanisms.results import Tally
    from shuffledp.questions.quantile.quantile_rows import QuantileRow

MOST_ASKED = 100


@part
class QuantileQuestion(Question):
    """How many people are below each of some cut points, and so every share between two of them,
    and every quantile.

    ``cuts`` are the ends of the bins, from the smallest possible number to the largest: a bin holds
    the numbers from its lower end to below its upper one, the last one its upper end too. ``at``
    are the quantiles that are asked for, ``ranges`` pairs of cut points.

    >>> asked = QuantileQuestion(cuts=(0.0, 10.0, 20.0), at=(0.5,), ranges=((0.0, 10.0),))
    >>> asked.size, QuantileQuestion.read(asked.as_json()) == asked
    (2, True)
    """

    unit = "people"
    estimated = "the count below a cut point"
    ordered = True
    to_be_clipped = (
        "Values outside the range were counted in its first or last bin. A quantile in one of these bins is at the end "
        "of the range or beyond it, and the reports do not say how far."
    )
    mechanisms = (*NAMING, "one of", "tree")
    choices: ClassVar[tuple[str, ...]] = NAMING
    compared = ("cuts",)
    planned = Planned(
        error="largest standard error of the count below any cut point, with people spread evenly over the bins",
        worst="largest standard error that the count below any cut point can have, whatever the data",
        crowded="people crowded in few bins",
        places="bins",
    )

    type: Annotated[Literal["quantile"], NEEDED] = "quantile"
    cuts: Floats
    at: tuple[Chance, ...]
    ranges: Annotated[tuple[tuple[Number, Number], ...], Limits(0, MOST_ASKED), NEEDED] = ()

    @classmethod
    def of(cls, *, cuts: Any, at: Any = (0.5,), ranges: Any = ()) -> Self:  # type: ignore[override]
        ends = as_list("ranges", ranges, remedy="Pass a list of pairs of cut points.")
        return cls(
            cuts=_numbers("cuts", cuts),
            at=_numbers("at", at),
            ranges=tuple(_numbers("ranges", pair, "Pass pairs of cut points.") for pair in ends),  # type: ignore[misc]
        ).checked()

    @classmethod
    def of_domain(cls, domain: Any) -> Self:
        bins = check_count("domain", domain, least=2, remedy="It counts the bins.")
        if bins > MOST_BINS:
            raise InvalidInput(f"domain must be at most {MOST_BINS:,} bins, got {bins:,}. Choose wider ones.")
        return cls.of(cuts=range(bins + 1))

    def workload(self, size: int) -> Ranges:
        """How many people are below each inner cut point."""
        return below(tuple(f"below {plainly(cut)}" for cut in self.cuts[1:-1]))

    def derive(self, mechanism: Mechanism, tally: Tally, estimate: Estimate, by: str | None = None) -> dict[str, Any]:
        """The ``quantiles`` that were asked for, and how many people are in each of the
        ``ranges``.
        """
        places = {cut: place for place, cut in enumerate(self.cuts)}
        labels = tuple(f"{plainly(low)} to {plainly(high)}" for low, high in self.ranges)
        ranges = Ranges(labels, tuple((places[low], places[high]) for low, high in self.ranges))
        return {"quantiles": partial(self.quantiles, estimate), "ranges": mechanism.estimate(tally, ranges)}

    def quantiles(self, estimate: Estimate, level: float = 0.95) -> list[QuantileRow]:
        """The quantiles of an estimate: each interval covers the bin of its quantile with
        probability ``level`` at least, up to the normal approximation.
        """
        from shuffledp.questions.quantile.quantile_rows import quantile_rows

        return quantile_rows(self.at, self.cuts, estimate.unbiased, estimate.interval(level), estimate.n)

    def moved_quantiles(self, estimate: Estimate, far: Any) -> list[tuple[float, float]]:
        """Between which values each quantile would have been estimated if malicious people, who
        moved each count ``far`` at most, had reported honestly: no quantile rises where counts do.
        """
        from shuffledp.questions.quantile.quantile_rows import quantiles_of

        moved = (estimate.unbiased + far, estimate.unbiased - far)
        low, high = (quantiles_of(self.at, self.cuts, values, estimate.n) for values in moved)
        return list(zip(low, high, strict=True))

    def summed_up(self, errors: Any) -> float:
        """The largest standard error of the count below any cut point."""
        return float(errors.max())

    def domain(self, size: int) -> Bins:
        return Bins(cuts=self.cuts)

    @property
    def size(self) -> int:
        return len(self.cuts) - 1

    def checked(self) -> Self:
        """The same, if the cut points make bins, and quantiles and ranges could be answered."""
        self.domain(0).checked()
        self._check_at()
        if not isinstance(self.ranges, tuple):
            raise InvalidInput(f"ranges must be a list of pairs of cut points, got {self.ranges!r}. {REMEDY}")
        for pair in self.ranges:
            self._check_range(pair)
        return self

    def _check_at(self) -> None:
        if not _listed(self.at, _is_share):
            raise InvalidInput(
                f"the quantiles must be numbers between 0 and 1, got {str(self.at)[:60]}. The median "
                f"is 0.5; the smallest and the largest value are nobody's business."
            )
        if len(set(self.at)) < len(self.at) or len(self.at) > MOST_ASKED:
            raise InvalidInput(
                f"the quantiles must be distinct, and at most {MOST_ASKED}, got {', '.join(map(str, self.at))[:60]}. "
                f"Give each once."
            )

    def _check_range(self, pair: object) -> None:
        if not _listed(pair, is_bound, 2) or len(self.ranges) > MOST_ASKED:
            raise InvalidInput(
                f"a range must be two cut points, and at most {MOST_ASKED} may be asked, got {str(pair)[:60]}. {REMEDY}"
            )
        assert isinstance(pair, tuple)
        low, high = pair
        for end in pair:
            if end not in self.cuts:
                nearest = min(self.cuts, key=lambda cut: abs(cut - end))
                raise InvalidInput(
                    f"the ends of a range must be cut points, got {end:.15g}. The nearest one is {nearest:.15g}; or "
                    f"choose other bins."
                )
        if not low < high or (low, high) == (self.cuts[0], self.cuts[-1]):
            rule = "a range must hold some of the bins, and not all"
            remedy = "Give the lower end first, such as 18:65."
            raise InvalidInput(Refusal(rule, f"{low:.15g} to {high:.15g}", remedy))

    def scale(self, n: int) -> float:
        return n

    def tables(self, poll: Any, tally: Any, estimate: Any, *, clips: bool, by: str | None, level: float) -> list[Table]:
        """The quantiles and the ranges that were asked for, and how far malicious people could have
        moved the quantiles: one, or 1 %.
        """
        found = []
        if self.at:
            at, value, lower, upper, *_ = zip(*self.quantiles(estimate, level), strict=True)
            moved: dict[str, Any] = {}
            for who, people in (("one", 1), ("some", -(-estimate.n // 100))):
                ends = zip(*self.moved_quantiles(estimate, people * poll.influence(estimate)), strict=True)
                moved |= dict(zip((f"{who}_lower", f"{who}_upper"), ends, strict=True))
            own = {"value": value, "lower": lower, "upper": upper, **moved}
            found.append(Table.made("quantiles", map(plainly, at), unit=self.type, level=level, **own))
        if self.ranges:
            counts = poll.derive(tally)["ranges"]
            columns = (counts.values, counts.stderr, *counts.interval(level))
            own = dict(zip(("value", "stderr", "lower", "upper"), columns, strict=True))
            found.append(Table.made("ranges", counts.labels, unit="people", level=level, **own))
        return found

    def told(self, record: Any) -> list[Told]:
        return words.told(self, record)

    def misled(self, record: Any) -> Told | None:
        return words.misled(self, record)

    def clipping(self, record: Any) -> list[str]:
        return [self.to_be_clipped] if record.asked.clips else []

    def followed(self, record: Any, tables: Sequence[Table]) -> list[tuple[Table, list[int]]]:
        clipped = " of the clipped values" if record.asked.clips else ""
        names = {
            "quantiles": [f"{words.name_of(plainly(at))}{clipped}" for at in self.at],
            "ranges": [f"from {exact(low)} to {exact(high)}" for low, high in self.ranges],
        }
        named = [replace(each, label=tuple(names[each.name])) for each in tables if each.name in names]
        people = record.counted.reports
        found = [(each.of_people(people), [1] * len(each.label)) for each in named]
        return found or super().followed(record, tables)


def _numbers(name: str, values: object, remedy: str = "Pass a list of numbers.") -> tuple[float, ...]:
    found, listed = [], list[Any](as_list(name, values, remedy=remedy))
    for each in listed:
        try:
            found.append(float(each))
        except (TypeError, ValueError):
            raise InvalidInput(f"{name} must be numbers, got {each!r}. Pass a list of them.") from None
    return tuple(check_finite(("each of ", Argument(name)), each, remedy=remedy) for each in found)


def _is_share(value: object) -> bool:
    return isinstance(value, float) and 0.0 < value < 1.0


def _listed(values: object, test: Callable[[object], bool], many: int | None = None) -> bool:
    """Whether these are a list of what passes the test, and so many."""
    return isinstance(values, tuple) and many in (None, len(values)) and all(map(test, values))


QUESTION = QuantileQuestion
