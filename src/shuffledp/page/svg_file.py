"""The chart of an answer by itself: a notebook shows it, and a browser opens its file. It brings
its own style and is white, so that it can be read on a light and on a dark page.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import wrap

from shuffledp.errors import InvalidInput
from shuffledp.page.drawings import bars_of
from shuffledp.page.numerals import count, exact, scientific, tied
from shuffledp.page.page import ResultPage, caption_of, sheet
from shuffledp.page.svg import Chart, Markup, element, shortened
from shuffledp.record import Estimates, Record
from shuffledp.storage.files import replace_file

WIDTH, EDGE, LINE = 720.0, 24.0, 20.0
COLUMNS, TITLE = 92, 56  # letters of a line, and of the title, which has one
# What a chart draws beyond its box: on the left, on the right, above and below.
BEYOND = {"bars": (0.0, 0.0, 0.0, 0.0), "scale": (8.0, 8.0, 8.0, 0.0), "curve": (56.0, 12.0, 12.0, 32.0)}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', Arial, sans-serif"
SEEDED = ", not for release"


@dataclass(frozen=True, slots=True, repr=False)
class SvgFigure:
    """Charts, each below words of its own, between a ``title`` with the ``promise`` and a
    ``caption``.
    """

    title: str
    promise: str
    charts: Sequence[tuple[str, Chart]]
    caption: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write an .svg file and return its path. It appears whole or not at all."""
        path = Path(path)
        if path.suffix.lower() != ".svg":
            better = path.with_suffix(".svg") if path.name else Path("estimates.svg")
            raise InvalidInput(
                f"the figure of an answer must end in .svg, got {str(path)!r}. Write {str(better)!r}: a browser opens "
                f"it."
            )
        drawn = self._repr_svg_()
        replace_file(path, lambda temporary: temporary.write_text(drawn + "\n", encoding="utf-8"))
        return path

    def __repr__(self) -> str:
        """In a line: what it is of."""
        return f"<SvgFigure: {self.title}; {self.promise}>"

    def _repr_svg_(self) -> str:
        """For notebooks."""
        content: list[Markup] = []
        y = EDGE + LINE / 2.0

        def say(words: str, color: str, weight: int = 400, size: int = 14) -> None:
            nonlocal y
            for each in wrap(words, COLUMNS):
                look = {"fill": _colors()[color], "font_weight": weight, "font_size": size}
                content.append(element("text", each, x=EDGE, y=y, **look))
                y += LINE

        say(shortened(self.title, TITLE), "dark", 650, 18)
        say(self.promise, "soft")
        for words, chart in self.charts:
            left, right, above, below = BEYOND[chart.kind]
            y += LINE / 2.0
            say(words, "ink")
            width = WIDTH - 2.0 * EDGE - left - right
            place = {"x": EDGE + left, "y": y + above, "width": width, "height": chart.height}
            content.append(element("svg", chart, overflow="visible", **place))
            y += above + chart.height + below + LINE
        y += LINE / 2.0
        say(self.caption, "soft")
        size = {"width": WIDTH, "height": y + EDGE / 2.0}
        return element(
            "svg",
            element("title", self.title),
            element("desc", f"{self.promise}. {self.caption}"),
            element("style", _style()),
            element("rect", **size, fill=_colors()["paper"]),
            content,
            xmlns="http://www.w3.org/2000/svg",
            role="img",
            **size,
            viewBox=f"0 0 {size['width']} {size['height']}",
            font_family=FONT,
            font_size="16",
        )


def release_svg(record: Record) -> SvgFigure:
    """The answer of a release."""
    shown, bound = ResultPage(record), record.certificate.epsilon
    words = [
        f"{count(record.counted.people)} people",
        f"ε ≤ {scientific(bound.upper, up=True)} at δ = {exact(bound.delta)}{'' if record.secure else SEEDED}",
        *([f"accuracy {shown.said('accuracy')} ({shown.said('accuracy_of')})"] if record.estimates.value else ()),
    ]
    charts = [(shown.said("in_words"), chart)] if (chart := shown.chart) is not None else []
    return SvgFigure(shown.name, tied("; ".join(words)), charts, shown.said("caption"))


def estimates_svg(found: Estimates, reports: int, *, secure: bool) -> SvgFigure:
    """Estimates of which no more is known."""
    promise = f"{count(reports)} reports{'' if secure else SEEDED}"
    return SvgFigure("Estimates", promise, [("", bars_of(found))], caption_of(found))


@cache
def _colors() -> dict[str, str]:
    """The colors of a page in the light."""
    return dict(re.findall(r"--([a-z-]+): ([^;]+);", sheet("style").partition("@media")[0]))


@cache
def _style() -> Markup:
    """The rules of charts without variables, which few programs but browsers know."""
    return Markup(re.sub(r"var\(--([a-z-]+)\)", lambda found: _colors()[found[1]], sheet("charts")))
