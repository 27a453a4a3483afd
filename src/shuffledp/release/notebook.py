"""A release in a notebook: a small table with error bars and what is certified. No script, no style
sheet, nothing loaded, and no word of the data that is not escaped.
"""

from __future__ import annotations

from shuffledp.page.svg import Markup, Scale, element, label
from shuffledp.record import Record
from shuffledp.release.files import EstimateTable
from shuffledp.release.released import certified, charged, headline, told, warned

WIDTH, HEIGHT, BAR = 160.0, 16.0, 8.0  # of the drawing beside a row, and of its bar
FRAME = "max-width: 56em; line-height: 1.45"
LEFT = "text-align: left; font-weight: normal; padding: 0.1em 1em 0.1em 0"
RIGHT = "text-align: right; font-variant-numeric: tabular-nums; padding: 0.1em 0 0.1em 1.5em"
QUIET = "opacity: 0.7; margin: 0.3em 0"


def release_html(record: Record, table: EstimateTable) -> str:
    """Everything that a reader of the answer needs beside it."""
    title = record.asked.title
    return element(
        "div",
        None if title is None else element("p", element("strong", label(title))),
        element("p", label(headline(record))),
        *(element("p", element("strong", words)) for words in warned(record)),
        *(element("p", label(words)) for words in told(record)),
        estimates_html(table, bounds=None if record.question.unit == "people" else record.design.domain.bounds),
        element("p", element("strong", certified(record))),
        None if record.ledger is None else element("p", f"{charged(record.ledger)}."),
        *(element("p", f"Note: {note}.", style=QUIET) for note in record.notes),
        style=FRAME,
    )


def estimates_html(table: EstimateTable, *, bounds: tuple[float, float] | None) -> Markup:
    """The rows that are shown, each with a bar from 0 and its interval; a mean stands between its
    ``bounds``.
    """
    places = table.shown()
    ends = [end for place in places for end in (*table.ends(place), 0.0)]
    scale = Scale(min(ends), max(ends)) if bounds is None else Scale(*bounds)
    head = element("tr", *(element("th", words, style=RIGHT) for words in ("", "", *table.heads)))
    rows = [
        element(
            "tr",
            element("th", label(table.label[place]), style=LEFT),
            element("td", _drawn(table, place, scale, bar=bounds is None)),
            *(element("td", words, style=RIGHT) for words in table.words(place)),
        )
        for place in places
    ]
    more = element("p", f"... and {len(table) - len(places):,} more", style=QUIET) if table.cut else None
    return element("div", element("table", element("thead", head), element("tbody", *rows)), more)


def _drawn(table: EstimateTable, place: int, scale: Scale, *, bar: bool) -> Markup:
    low, high = (WIDTH * scale(end) for end in table.ends(place))
    value, zero, middle = WIDTH * scale(float(table.estimate[place])), WIDTH * scale(0.0), HEIGHT / 2.0
    ink = {"stroke": "currentColor", "stroke_width": 1.5}
    return element(
        "svg",
        element("rect", x=0.0, y=middle, width=WIDTH, height=0.5, fill="currentColor", opacity=0.25),
        element(
            "rect",
            x=round(min(zero, value), 2),
            y=middle - BAR / 2.0,
            width=round(abs(value - zero), 2),
            height=BAR,
            fill="#6aa8e8",
        )
        if bar
        else None,
        element("line", x1=round(low, 2), x2=round(high, 2), y1=middle, y2=middle, **ink),
        element("line", x1=round(value, 2), x2=round(value, 2), y1=middle - 4.0, y2=middle + 4.0, **ink),
        width=WIDTH,
        height=HEIGHT,
        role="img",
        aria_label=" ".join(table.words(place)[::2]),
    )
