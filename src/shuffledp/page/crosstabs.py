"""What was learned of several columns at once: a map of the cells with their sums, then all of it
in numbers, and shares within groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from shuffledp.page import phrases
from shuffledp.page.answers import COUNTED, draw_values, estimate_table
from shuffledp.page.charts import MapRow, cell_map
from shuffledp.page.margins import decimals_of, ends_of, margins_of, together
from shuffledp.page.markup import Markup, element, join, label
from shuffledp.page.numerals import count, fixed, level, many, percent
from shuffledp.page.parts import details, figure, gloss, section
from shuffledp.page.shown_answer import Drawn, ShownPeople
from shuffledp.protocols.tasks.crossing import ALL, CROSS
from shuffledp.record import Record

__all__ = ["Grid", "ShownCells", "grid_of"]

ACROSS, DOWN = 8, 60  # cells of a map that can still be read


@dataclass(frozen=True, slots=True)
class Grid:
    """A crosstab on paper: one column across, the others down, and where each number stands in the
    estimates; the sums over a row are the last of it, and the last row has those over the others.
    """

    down: list[str]
    across: list[str]
    places: list[list[int | None]]

    @property
    def readable(self) -> bool:
        """Whether it is small enough to be drawn."""
        return len(self.across) <= ACROSS and len(self.down) <= DOWN


def grid_of(record: Record) -> Grid:
    """The crosstab of a record with its last column across, or, of two columns, the shorter one."""
    listed = record.design.crossed
    place = {name: at for at, name in enumerate(record.estimates.label)}
    first = len(listed) == 2 and len(listed[0]) < len(listed[1])
    across, others = (listed[0], [listed[1]]) if first else (listed[-1], listed[:-1])

    def at(down: tuple[str, ...], name: str) -> int | None:
        return place.get(CROSS.join((name, *down) if first else (*down, name)))

    rows = [*product(*others), (ALL,) * len(others)]
    names = [*across, ALL]
    return Grid(
        [CROSS.join(row) for row in rows[:-1]],
        list(across),
        [[at(row, name) for name in names] for row in rows],
    )


class ShownCells(ShownPeople):
    """How many people hold each combination of several columns."""

    column = "Columns"

    def kind(self, record: Record) -> str:
        return "how many people hold each combination"

    def section(self, record: Record) -> Markup:
        return section("estimates", "The estimates", _content(record))

    def drawn(self, record: Record) -> Drawn:
        """The map; of a crosstab that is too large for one, its largest estimates."""
        grid = grid_of(record)
        return _map(record, grid) if grid.readable else draw_values(record.estimates)

    def told_apart(self, record: Record) -> str:
        sizes = " × ".join(count(len(each)) for each in record.design.crossed)
        return f"{sizes} categories, {many(record.design.values, 'cell')}"


def _content(record: Record) -> list[Markup | None]:
    found, reports, grid = record.estimates, record.counted.reports, grid_of(record)
    drawn = _map(record, grid) if grid.readable else None
    cells = record.design.values
    decimals, margins, ends = decimals_of(found), margins_of(found), ends_of(found)
    sums = list(range(cells, len(found.value)))
    return [
        None if drawn is None else figure(drawn.chart, drawn.caption),
        estimate_table(found, range(cells), reports, decimals, ends, margins),
        element("h3", "Sums over columns"),
        estimate_table(found, sums, reports, decimals, ends, margins),
        gloss(phrases.MARGIN.format(level=level(found.level)), phrases.COVERAGE, phrases.SUMS_AGREE),
        _shares(record),
        details(
            phrases.ALL_AT_ONCE,
            gloss(phrases.TOGETHER),
            estimate_table(found, range(len(found.value)), reports, decimals, (found.all_lower, found.all_upper)),
        )
        if not together(found)
        else None,
    ]


def _map(record: Record, grid: Grid) -> Drawn:
    values, reports = record.estimates.value, record.counted.reports
    decimals = decimals_of(record.estimates)
    rows = []
    for name, places in zip([*grid.down, ALL], grid.places, strict=True):
        numbers = [float(reports) if place is None else values[place] for place in places]
        rows.append(MapRow(name, [fixed(number, decimals) for number in numbers], numbers))
    return Drawn(cell_map("The estimates as a map.", [*grid.across, ALL], rows), phrases.MAP)


def _shares(record: Record) -> Markup | None:
    """Shares within the groups of one column, if somebody asked for them."""
    found, by, columns = record.estimates, record.asked.by, record.design.columns
    if found.shares is None or by is None or columns is None:
        return None
    axis, shares = columns.index(by), found.shares
    names = list(product(*record.design.crossed))
    body = []
    for at in sorted(range(len(names)), key=lambda at: record.design.crossed[axis].index(names[at][axis])):
        group, rest = names[at][axis], CROSS.join(name for place, name in enumerate(names[at]) if place != axis)
        share, words = shares.value[at], [phrases.TOO_FEW, None, None]
        if share is not None:
            own, at_once = (shares.lower[at], shares.upper[at]), (shares.all_lower[at], shares.all_upper[at])
            words = [percent(share), _ends(*own), _ends(*at_once)]
        heads = [element("th", label(each), scope="row") for each in (group, rest)]
        body.append(element("tr", heads, [element("td", each) for each in words]))
    sure = level(found.level)
    titles = [label(by), COUNTED, "Share", f"{sure} interval", "for all at once"]
    head = element("thead", element("tr", [element("th", title, scope="col") for title in titles]))
    table = element("table", head, element("tbody", join(body, "\n")))
    return join(
        [
            element("h3", join(["Shares within ", label(by)])),
            element("div", table, class_="wide", role="region", aria_label="Shares", tabindex="0"),
            gloss(phrases.SHARES.format(silent=count(sum(each is None for each in shares.value)))),
        ]
    )


def _ends(low: float | None, high: float | None) -> Markup | None:
    """An interval of shares, rounded outwards."""
    if low is None or high is None:
        return None
    least, most = (fixed(100.0 * each, 1, up=up) for each, up in ((low, False), (high, True)))
    return join([element("span", least, " to"), " ", element("span", most, "\u00a0%")])
