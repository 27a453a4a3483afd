"""What a page shows, against the facts inside it: letter by letter where its edition is known, else
at least the numbers that it claims.
"""

from __future__ import annotations

import html as entities
import math
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from html.parser import HTMLParser

from shuffledp.collection.page import html, plain
from shuffledp.collection.record import EDITION, Record
from shuffledp.collection.verify.outcomes import Check, holds, unchecked, vital

__all__ = ["check_page"]

PIECES = re.compile(r"<[^>]*>|[^<]+")
AROUND = 60  # letters shown of a difference
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−\u00a0", "-0123456789- ")
NUMBER = r"(10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|−?[\d,]*\.?\d+(?:\s?×\s?10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)"
CLAIM = re.compile(r"(ε₀|ε|δ)\s*(≤|=|<)\s*" + NUMBER)  # also of e to the ε
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f]")
RUNNING = {
    "script",
    "iframe",
    "object",
    "embed",
    "link",
    "base",
    "form",
    "img",
    "image",
    "use",
    "a",
    "video",
    "audio",
    "foreignobject",
    "template",
}
LOADING = {"src", "href", "srcset", "xlink:href", "action", "style", "data", "poster", "background"}


def check_page(text: str, record: Record) -> list[Check]:
    """First of all: does the page show what its own facts say?"""
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return [unchecked("the page", "none", "this is the JSON; page.html shows it")]
    if not record.known:
        return _foreign(text, record)
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
        else f"the page is marked up in another way than its edition writes it{where}"
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


class _Reading(HTMLParser):
    """What a reader sees of a page, and what in it could run or load something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.active: list[str] = []
        self.quiet = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.quiet += tag in {"style", "script"}
        if tag in RUNNING and not (tag == "script" and dict(attrs).get("type") == "application/json"):
            self.active.append(tag)
        self.active += [name for name, _ in attrs if name.startswith("on") or name in LOADING]
        self.words.append(" " if tag in {"p", "div", "td", "th", "li", "dt", "dd", "text", "title"} else "")

    def handle_endtag(self, tag: str) -> None:
        self.quiet -= tag in {"style", "script"}

    def handle_data(self, data: str) -> None:
        if not self.quiet:
            self.words.append(data)


def _foreign(text: str, record: Record) -> list[Check]:
    """A page of an edition that is not known here: its words may say anything, but no number beside
    an epsilon or delta may be foreign to its facts.
    """
    page = _Reading(text)
    words = "".join(page.words)
    wrong = next(_unfounded(words, record), None)
    found = "something in the facts" if wrong is None else f"nothing in the facts is {wrong}"
    turned = TURNING.search(words)
    return [
        holds(
            "epsilon and delta on the page",
            wrong or "all of them",
            found,
            "every number after a sign, rounded as it is shown",
            wrong is None,
        ),
        holds(
            "what the page runs or loads",
            page.active[0] if page.active else "nothing",
            "nothing",
            "its elements",
            not page.active,
        ),
        holds(
            "signs that turn text around",
            "some" if turned else "none",
            "none",
            "the letters of the page",
            turned is None,
        ),
        vital(
            unchecked(
                "THE WORDS OF THE PAGE",
                f"edition {record.edition}",
                f"this version knows editions 1 to {EDITION}: whatever the page says around its numbers was not read; "
                f"use the version that made it",
            )
        ),
    ]


def _unfounded(words: str, record: Record) -> Iterator[str]:
    """Every claim about epsilon or delta that no fact bears out."""
    certificate, ledger = record.certificate, record.ledger
    bound, curve = certificate.epsilon, certificate.curve
    upper = [bound.upper, curve.epsilon[-1]]
    deltas = [bound.delta, curve.upper[0], curve.upper[-1]]
    if ledger is not None:
        upper += [ledger.total.upper, ledger.limit.epsilon]
        deltas.append(ledger.limit.delta)
    epsilons = [0.0, bound.lower, math.exp(bound.upper), *upper]
    if record.design.epsilon is not None:
        epsilons.append(record.design.epsilon)
    if certificate.delta is not None:
        deltas += [certificate.delta.lower, certificate.delta.upper]
    perhaps = (certificate.alone, *(row.epsilon0 for row in record.comparison))
    alone = [each for each in perhaps if each is not None]
    for sign, relation, number in CLAIM.findall(words):
        value, step = _number(number)
        known_ones = {"ε₀": alone, "ε": epsilons if relation == "=" else upper, "δ": deltas}[sign]
        if not any(abs(value - Decimal(each)) <= step for each in known_ones):
            yield f"{sign} {relation} {number}"


def _number(text: str) -> tuple[Decimal, Decimal]:
    """A number as it is shown, and one unit of its last digit."""
    plainly = text.translate(SUPERSCRIPTS).replace(",", "").replace(" ", "")
    if plainly.startswith("10") and text[2:3] and text[2] in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹":
        plainly = f"1.000×10{plainly[2:]}"  # a power of ten by itself is shown where nothing was rounded
    digits, _, power = plainly.partition("×10")
    try:
        value = Decimal(digits).scaleb(int(power or 0))
    except (InvalidOperation, ValueError):
        return Decimal("NaN"), Decimal(0)
    return value, Decimal(1).scaleb(value.as_tuple().exponent if isinstance(value.as_tuple().exponent, int) else 0)  # type: ignore[arg-type]
