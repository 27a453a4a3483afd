"""Axes, ticks and shapes, in markup that leaves nothing unescaped. Across, places are shares of the
width and texts keep their size: the same drawing fits a phone, a desk and a sheet of paper.

A figure alone, which a notebook shows and a browser opens, brings its own style and is white, so
that it can be read on a light and on a dark page.
"""

from __future__ import annotations

import math
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from textwrap import wrap

from shuffledp.errors import InvalidInput
from shuffledp.storage.files import replace_file

ACROSS = 1000.0  # units of a window's width
WIDE = {"W", "F"}  # East Asian letters, twice as wide as others
ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\r": "&#13;"})
# Not allowed in HTML or not in UTF-8; and the signs that turn the direction of text, with which a
# name could look like another.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
WIDTH, EDGE, LINE = 720.0, 24.0, 20.0
COLUMNS, TITLE = 92, 56  # letters of a line, and of the title, which has one
# What a chart draws beyond its box: on the left, on the right, above and below.
BEYOND = {"bars": (0.0, 0.0, 0.0, 0.0), "scale": (8.0, 8.0, 8.0, 0.0), "curve": (56.0, 12.0, 12.0, 32.0)}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', Arial, sans-serif"

Content = object  # text, a number, Markup, None for nothing, or an iterable of those


class Markup(str):
    """HTML that is known to be safe: it came out of ``element``."""

    __slots__ = ()

    def __html__(self) -> str:
        """For templates, which escape anything else."""
        return self


def element(name: str, /, *content: Content, **attributes: object) -> Markup:
    """An element around ``content``. ``class_`` means class, ``font_size`` font-size, True an
    attribute without value, None or False none at all.

    >>> element("p", "a < b ", element("b", 'c"'), class_="note", hidden=True, id=None)
    '<p class="note" hidden>a &lt; b <b>c&quot;</b></p>'
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{_escaped(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Markup(f"<{name}{written}>{join(content)}</{name}>")


def join(content: Iterable[Content], between: str = "") -> Markup:
    """All of ``content``, one after the other."""
    return Markup(between.join(_one(each) for each in content if each is not None))


def label(text: object) -> Markup:
    """Words that are not ours: isolated, so that a right-to-left name does not reverse the line
    that it stands in.
    """
    return element("bdi", str(text), class_="given")


def _one(content: Content) -> str:
    if isinstance(content, Markup):
        return content
    if isinstance(content, Iterable) and not isinstance(content, str):
        return join(content)
    return _escaped(str(content))


def printable(text: str) -> str:
    """``text`` with a visible sign in place of each letter that cannot be shown."""
    return UNPRINTABLE.sub("\ufffd", text)


def _escaped(text: str) -> str:
    return printable(text).translate(ESCAPES)


@dataclass(frozen=True, slots=True)
class Scale:
    """Where values stand between two ends, in either direction, as a share; beyond an end they
    stand at that end.
    """

    low: float
    high: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low
        return min(max((value - self.low) / span, 0.0), 1.0) if span else 0.5


def linear_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most so many.

    >>> linear_ticks(0.0, 1.7), linear_ticks(0.0, 0.0)
    ([0.0, 0.5, 1.0, 1.5], [0.0])
    """
    if not low < high:
        return [low]
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * each for each in (1.0, 2.0, 5.0, 10.0) if unit * each >= rough)
    return [each * step for each in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: int, high: int, most: int = 8) -> list[int]:
    """Exponents from ``low`` to ``high``, evenly spaced down from the top.

    >>> log_ticks(-15, 0), log_ticks(-2, 0)
    ([0, -2, -4, -6, -8, -10, -12, -14], [0, -1, -2])
    """
    step = max(1, math.ceil((high - low + 1) / most))
    return list(range(high, low - 1, -step))


def decades(values: Sequence[float], least: float) -> tuple[int, int]:
    """Exponents of ten that enclose the positive values not below ``least``; two different ones.

    >>> decades([0.0, 3e-9, 0.07], 1e-16), decades([0.0], 1e-16), decades([1.0], 1e-16)
    ((-9, -1), (-16, 0), (-1, 0))
    """
    seen = [value for value in values if value >= least]
    if not seen:
        return math.floor(math.log10(least)), 0
    high = math.ceil(math.log10(max(seen)))
    return min(math.floor(math.log10(min(seen))), high - 1), high


class Chart(Markup):
    """A drawing of one ``kind``, as high as it says and as wide as the place where it stands."""

    height: float
    kind: str


def chart(title: str, height: float, *content: object, kind: str) -> Chart:
    """A drawing with its meaning in words for those who do not see it."""
    inside = (element("title", title), *content)
    drawn = Chart(element("svg", *inside, role="img", width="100%", height=_short(height), class_=f"chart {kind}"))
    drawn.height, drawn.kind = height, kind
    return drawn


def window(height: float, *content: object) -> Markup:
    """Inside, places across are numbers and not shares, as the shapes of ``ribbon`` need them;
    lines keep their thickness nevertheless.
    """
    box = {"viewBox": f"0 0 {_short(ACROSS)} {_short(height)}", "preserveAspectRatio": "none"}
    return element("svg", *content, width="100%", height=_short(height), **box)


def ribbon(upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]] = (), *, class_: str) -> Markup:
    """A line through points, or the area between two."""
    points = [*upper, *reversed(lower)]
    path = "M" + "L".join(f"{_short(ACROSS * x)} {_short(y)}" for x, y in points) + ("Z" if lower else "")
    return element("path", d=path, class_=class_, vector_effect="non-scaling-stroke")


def line(x1: float, y1: float, x2: float, y2: float, *, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=_share(x1), y1=_short(y1), x2=_share(x2), y2=_short(y2), class_=class_)


def rect(x1: float, y: float, x2: float, height: float, *, class_: str, strength: float | None = None) -> Markup:
    """A bar from ``x1`` to ``x2``, in full color or some of it."""
    return element(
        "rect",
        x=_share(x1),
        y=_short(y),
        width=_share(max(x2 - x1, 0.0)),
        height=_short(height),
        class_=class_,
        fill_opacity=None if strength is None else _short(strength),
    )


def disc(x: float, y: float, radius: float, *, class_: str) -> Markup:
    """A dot."""
    return element("circle", cx=_share(x), cy=_short(y), r=_short(radius), class_=class_)


def text(
    x: float, y: float, words: object, *, anchor: str = "start", class_: str | None = None, dx: float | None = None
) -> Markup:
    """Words, ``dx`` pixels beside a place."""
    return element(
        "text",
        words,
        x=_share(x),
        y=_short(y),
        dx=None if dx is None else _short(dx),
        text_anchor=anchor,
        class_=class_,
    )


def shortened(words: str, columns: int) -> str:
    """``words`` if they fit into so many columns, else their beginning. The table beside the
    drawing has them in full.

    >>> shortened("Lisbon", 10), shortened("Llanfairpwllgwyngyll", 10)
    ('Lisbon', 'Llanfairp…')
    """
    words, used = " ".join(words.split()), 0
    for place, each in enumerate(words):
        used += 2 if unicodedata.east_asian_width(each) in WIDE else 1
        if used > columns or (used == columns and place + 1 < len(words)):
            return words[:place].rstrip() + "…"
    return words


def _share(value: float) -> str:
    return f"{_short(100.0 * value)}%"


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


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


def sheet(name: str) -> str:
    """A style sheet of the page: ``charts``, or ``style`` for all else and the colors."""
    return files(__package__).joinpath(f"{name}.css").read_text(encoding="utf-8")


@cache
def _colors() -> dict[str, str]:
    """The colors of a page in the light."""
    return dict(re.findall(r"--([a-z-]+): ([^;]+);", sheet("style").partition("@media")[0]))


@cache
def _style() -> Markup:
    """The rules of charts without variables, which few programs but browsers know."""
    return Markup(re.sub(r"var\(--([a-z-]+)\)", lambda found: _colors()[found[1]], sheet("charts")))
