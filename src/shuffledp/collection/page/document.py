"""The whole document. It depends on the facts alone: the same facts give the same bytes, so that a
changed page betrays itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from shuffledp.collection.page.answers import estimates
from shuffledp.collection.page.context import budget, checking, trust
from shuffledp.collection.page.embed import embed, embedded
from shuffledp.collection.page.head import head, name_of
from shuffledp.collection.page.markup import Markup, element, join
from shuffledp.collection.page.signing import certificate, profile

__all__ = ["html", "plain", "unchanged"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def html(facts: Mapping[str, Any]) -> str:
    """One HTML file that shows the facts of a release and holds them: no network, no script that
    runs, nothing beside it.
    """
    sections = [estimates(facts), certificate(facts), profile(facts), trust(facts), budget(facts), checking(facts)]
    footer = element(
        "footer",
        element(
            "p",
            f"Made by shuffledp {facts['made']['shuffledp']}. This file loads nothing and runs nothing: it can be "
            f"kept, sent and printed as it is.",
        ),
    )
    body = element("body", head(facts), element("main", join(sections, "\n")), footer, "\n", embed(facts), "\n")
    return f"<!DOCTYPE html>\n{element('html', _top(facts), body, lang='en')}\n"


def unchanged(text: str) -> bool:
    """Whether a report shows exactly what the facts inside it say, in the words of its edition."""
    return html(embedded(text)) == plain(text)


def plain(text: str) -> str:
    """A page without what mail and editors add: a mark at its beginning, other ends of lines, blank
    lines at its end.
    """
    return text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip() + "\n"


def _top(facts: Mapping[str, Any]) -> Markup:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{name_of(facts)} · shuffledp"),
        element("style", _style()),
    )


@cache
def _style() -> Markup:
    return Markup(files(__package__).joinpath("style.css").read_text(encoding="utf-8"))
