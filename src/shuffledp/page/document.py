"""The whole document. It depends on the facts alone: the same facts give the same bytes, so that a
changed page betrays itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files

from shuffledp.page import phrases
from shuffledp.page.collecting import collecting
from shuffledp.page.context import budget, checking, trust
from shuffledp.page.head import head, name_of
from shuffledp.page.markup import Markup, element, join
from shuffledp.page.poisoning import poisoning
from shuffledp.page.shown_by_task import answer
from shuffledp.page.signing import certificate, profile
from shuffledp.record import Record, data_block, read_record

__all__ = ["SECTIONS", "html", "plain", "sheet", "top", "unchanged"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

# What stands on the page below its head, from top to bottom; a section that has nothing to say is
# None.
SECTIONS: tuple[Callable[[Record], Markup | None], ...] = (
    answer,
    poisoning,
    certificate,
    profile,
    collecting,
    trust,
    budget,
    checking,
)


def html(record: Record) -> str:
    """One HTML file that shows a release and holds its record: no network, no script that runs,
    nothing beside it.
    """
    sections = [section(record) for section in SECTIONS]
    footer = element("footer", element("p", phrases.FOOTER.format(version=record.made.shuffledp)))
    data = Markup(data_block(record.as_json()))
    body = element("body", head(record), element("main", join(sections, "\n")), footer, "\n", data, "\n")
    return f"<!DOCTYPE html>\n{element('html', top(name_of(record)), body, lang='en')}\n"


def unchanged(text: str) -> bool:
    """Whether a page shows exactly what the record inside it says."""
    return html(read_record(text)) == plain(text)


def plain(text: str) -> str:
    """A page without what mail and editors add: a mark at its beginning, other ends of lines, blank
    lines at its end.
    """
    return text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip() + "\n"


def top(title: str) -> Markup:
    """The head of a page, which nobody sees: what it may load, which is nothing, and its style."""
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{title} · shuffledp"),
        element("style", _style()),
    )


@cache
def _style() -> Markup:
    return Markup(sheet("charts") + sheet("style"))


def sheet(name: str) -> str:
    """A style sheet of the page: ``charts``, or ``style`` for all else and the colors."""
    return files(__package__).joinpath(f"{name}.css").read_text(encoding="utf-8")
