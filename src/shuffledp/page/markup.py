"""HTML in which nothing can be left unescaped: whatever is not markup already becomes harmless
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["Markup", "element", "join", "label"]

ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\r": "&#13;"})
# Not allowed in HTML or not in UTF-8; and the signs that turn the direction of text, with which a
# name could look like another.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
VOID = {"meta", "br", "hr"}

Content = object  # text, a number, Markup, None for nothing, or an iterable of those


class Markup(str):
    """HTML that is known to be safe: it came out of ``element``."""

    __slots__ = ()


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
    return Markup(f"<{name}{written}>" if name in VOID else f"<{name}{written}>{join(content)}</{name}>")


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


def _escaped(text: str) -> str:
    return UNPRINTABLE.sub("\ufffd", text).translate(ESCAPES)
