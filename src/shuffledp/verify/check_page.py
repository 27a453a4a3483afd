"""What a page shows, against the facts inside it: letter by letter."""

from __future__ import annotations

import html as entities
import re

from shuffledp.page import html, plain
from shuffledp.record import Record
from shuffledp.verify.outcomes import Check, holds, unchecked

__all__ = ["check_page"]

PIECES = re.compile(r"<[^>]*>|[^<]+")
AROUND = 60  # letters shown of a difference


def check_page(text: str, record: Record) -> list[Check]:
    """First of all: does the page show what its own facts say?"""
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return [unchecked("the page", "none", "this is the JSON; page.html shows it")]
    shown, written = plain(text), html(record)
    if shown == written:
        how = "written again from the facts, letter by letter"
        return [holds("the page", "what its facts say", "the same", how, True)]
    return [_difference(shown, written)]


def _difference(shown: str, written: str) -> Check:
    """The first place where a page and its facts differ, as a reader sees it."""
    theirs, ours = PIECES.findall(shown), PIECES.findall(written)
    place = next(
        (at for at, (one, other) in enumerate(zip(theirs, ours, strict=False)) if one != other),
        min(len(theirs), len(ours)),
    )
    here, there = (pieces[place] if place < len(pieces) else "nothing more" for pieces in (theirs, ours))
    where = _before(ours[:place])
    words = not here.startswith("<") and not there.startswith("<")
    how = (
        f"the page shows one, its record says the other{where}"
        if words
        else f"the page is marked up in another way than shuffledp writes it{where}"
    )
    return Check("the page", *_apart(entities.unescape(here), entities.unescape(there)), how, "FAIL")


def _before(pieces: list[str]) -> str:
    """The heading or term that a reader finds the difference after."""
    last = next(
        (
            each.strip()
            for each in reversed(pieces)
            if not each.startswith("<") and any(letter.isalpha() for letter in each)
        ),
        "",
    )
    return f", after {entities.unescape(last)[-AROUND:]!r}" if last and len(last) < 2000 else ""


def _apart(one: str, other: str) -> tuple[str, str]:
    """Two texts from shortly before they differ."""
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    start = max(0, same - AROUND // 3)
    return one[start : start + AROUND], other[start : start + AROUND]
