"""What a page draws of a release: each method is one figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod

from shuffledp.domain import ALL, CROSS
from shuffledp.numerals import between, exact, fixed, many, margin, predicted, scientific, tied
from shuffledp.page.charts import Bar, Dot, MapRow, bars, cell_map, curve, interval, narrow, steps
from shuffledp.page.facts import compared, decimals_of, ends_of, first_rows, possible, symmetric
from shuffledp.page.svg import Chart
from shuffledp.record import Record, Table

ACROSS, DOWN = 8, 60  # cells of a map that can still be read


def bars_of(found: Table, *, at_once: bool = False) -> Chart:
    """Estimates as bars, the largest of a long list, with intervals of each or for all of them."""
    decimals, (low, high) = decimals_of(found), ends_of(found, at_once=at_once)
    drawn = []
    even = symmetric(found, at_once=at_once)
    for at in first_rows(found):
        value = fixed(found.value[at], decimals)
        words, brief = tied(f"{value} ± {margin(found.value[at], low[at], high[at], decimals):,}"), None
        if not even:
            words, brief = f"{value} ({between(low[at], high[at], decimals)})", value
        drawn.append(Bar(found.label[at], words, found.value[at], low[at], high[at], brief=brief))
    return bars("The estimates as bars with their intervals.", drawn)


class Drawings:
    """The figures of one release; ``answer`` is the last one that was drawn of its answer."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.answer: Chart | None = None

    def bars(self, *, at_once: bool = False) -> Chart:
        """Estimates as bars, the largest of a long list."""
        return self._kept(bars_of(self.record.estimates, at_once=at_once))

    def number(self) -> Chart:
        """One estimate with its interval, on the scale of all that is possible."""
        found, decimals = self.record.estimates, decimals_of(self.record.estimates)
        value, low, high = found.value[0], found.lower[0], found.upper[0]
        title = f"The estimate, {fixed(value, decimals)}, and its interval, {between(low, high, decimals)}."
        return self._kept(interval(title, value, low, high, *possible(self.record)))

    @property
    def enlarged(self) -> bool:
        """Whether ``number`` shows the part around the estimate once more, enlarged."""
        return narrow(self.record.estimates.lower[0], self.record.estimates.upper[0], *possible(self.record))

    def distribution(self, quantiles: Table | None) -> Chart:
        """The distribution function with its band, and a dot for each of the quantiles."""
        found, cuts, people = self.record.estimates, self.record.question.cuts, self.record.counted.reports
        dots = [] if quantiles is None else [Dot(value, float(at)) for at, value, *_ in quantiles.rows()]
        columns = (found.value, found.all_lower, found.all_upper)
        value, low, high = ([each / people for each in column] for column in columns)
        title = "The share of people below each cut point, with its band."
        return self._kept(steps(title, cuts, value, low, high, dots))

    @property
    def mapped(self) -> bool:
        """Whether a crosstab is small enough for a map that can be read."""
        across, others, _ = self._axes()
        return len(across) <= ACROSS and prod(map(len, others)) <= DOWN

    def map(self) -> Chart:
        """A crosstab; the sums over a row are the last of it, and the last row has those over the
        others.
        """
        found, people = self.record.estimates, float(self.record.counted.reports)
        across, others, turned = self._axes()
        place, decimals = {name: at for at, name in enumerate(found.label)}, decimals_of(found)
        rows = []
        for down in [*product(*others), (ALL,) * len(others)]:
            names = [CROSS.join((name, *down) if turned else (*down, name)) for name in [*across, ALL]]
            numbers = [found.value[place[name]] if name in place else people for name in names]
            rows.append(MapRow(CROSS.join(down), [fixed(number, decimals) for number in numbers], numbers))
        rows[-1] = replace(rows[-1], label=ALL)
        return self._kept(cell_map("The estimates as a map.", [*across, ALL], rows))

    def _axes(self) -> tuple[Sequence[str], list[Sequence[str]], bool]:
        """The column that goes across, the others, and whether it is the first. It is the last one,
        or, of two columns, the shorter one.
        """
        listed = [column.names for column in self.record.question.cells.columns]
        if len(listed) == 2 and len(listed[0]) < len(listed[1]):
            return listed[0], [listed[1]], True
        return listed[-1], listed[:-1], False

    def trust(self) -> Chart:
        """The error to expect under each kind of trust."""
        unit = " people" if self.record.question.unit == "people" else ""
        names = ("No shuffler", "A shuffler: this release", "A trusted curator"), ("bar other", "bar", "bar other")
        drawn = [
            Bar(words, f"{predicted(each.stderr)}{unit}", each.stderr, class_=kind)
            for words, kind, each in zip(*names, compared(self.record), strict=True)
        ]
        said = "; ".join(f"{each.label}, {each.words}" for each in drawn)
        return bars(f"Predicted standard errors: {said}.", drawn)

    def spent(self) -> Chart | None:
        """What of a budget is spent."""
        ledger = self.record.ledger
        if ledger is None:
            return None
        words = tied(f"ε ≤ {scientific(ledger.total.upper, up=True)} of {exact(ledger.limit.epsilon)}")
        releases = many(ledger.releases, "release")
        spent = [Bar(f"Spent by {releases}", words, ledger.total.upper)]
        return bars(f"Spent: {words}.", spent, most=ledger.limit.epsilon)

    def curve(self) -> Chart:
        """Delta against epsilon, with the point that is claimed."""
        certified = self.record.certificate
        points, bound = certified.curve, certified.epsilon
        ends = [scientific(end, up=True, digits=2) for end in (points.upper[0], points.upper[-1])]
        last = scientific(points.epsilon[-1], up=True, digits=3)
        return curve(
            f"The bound on δ falls from {ends[0]} at ε = 0 to {ends[1]} at ε = {last}.",
            points.epsilon,
            points.lower if any(points.lower) else None,
            points.upper,
            promise=(bound.upper, bound.delta),
            alone=certified.alone,
        )

    def _kept(self, chart: Chart) -> Chart:
        self.answer = chart
        return chart
