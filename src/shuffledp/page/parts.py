"""Pieces that several sections are made of."""

from __future__ import annotations

from collections.abc import Iterable

from shuffledp.page.markup import Markup, element, join
from shuffledp.page.numerals import tied

__all__ = ["details", "facts_list", "figure", "gloss", "section"]


def section(name: str, title: str, *content: object, keep: bool = False) -> Markup:
    """A part of the page under its heading; ``keep`` it on one sheet of paper."""
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


def details(summary: str, *content: object, unprinted: str | None = None) -> Markup:
    """What is folded away on a screen and unfolded on paper, unless it is too long: there,
    ``unprinted`` says so.
    """
    note = None if unprinted is None else element("p", unprinted, class_="print-only")
    class_ = None if unprinted is None else "long"
    return join([element("details", element("summary", summary), content, class_=class_), note])


def _tied(words: object) -> object:
    return tied(words) if isinstance(words, str) and not isinstance(words, Markup) else words
