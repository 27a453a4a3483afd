"""Pieces that several sections are made of."""

from __future__ import annotations

from collections.abc import Iterable

from shuffledp.collection.page.markup import Markup, element, join
from shuffledp.collection.page.words import tied

__all__ = ["details", "facts_list", "figure", "gloss", "section"]

LONG = 400  # rows that are not printed unless they are opened


def section(name: str, title: str, *content: object, keep: bool = False) -> Markup:
    """A part of the report under its heading; ``keep`` it on one page of paper."""
    return element(
        "section", element("h2", title, id=name), content, class_="keep" if keep else None, aria_labelledby=name
    )


def facts_list(rows: Iterable[tuple[str, object]], *, class_: str = "facts") -> Markup:
    """Terms and what they are."""
    return element(
        "dl", [element("div", element("dt", term), element("dd", _tied(words))) for term, words in rows], class_=class_
    )


def gloss(*words: str) -> Markup:
    """An explanation in smaller type."""
    return element("p", tied("".join(words)), class_="gloss")


def figure(drawn: Markup, caption: str | None = None) -> Markup:
    """A drawing and what it shows."""
    return element("figure", drawn, None if caption is None else element("figcaption", tied(caption)))


def details(summary: str, *content: object, rows: int = 0) -> Markup:
    """What is folded away on a screen, and printed unless it is long."""
    long = rows > LONG
    note = (
        element("p", f"{summary}: not printed, being long; open the file to see them.", class_="print-only")
        if long
        else None
    )
    return join([element("details", element("summary", summary), content, class_="long" if long else None), note])


def _tied(words: object) -> object:
    return tied(words) if isinstance(words, str) and not isinstance(words, Markup) else words
