"""What a page shows, against its own record: it is written again and compared, as source text. A
page of another version cannot be compared; it is at least searched for what no page has.
"""

from __future__ import annotations

import html as entities
import math
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from importlib.metadata import version

from shuffledp.errors import InvalidInput
from shuffledp.page import plain
from shuffledp.record import Record
from shuffledp.record.record import CLOSE, OPEN
from shuffledp.verify.outcomes import PAGE, Check, holds, parting, unchecked, vital
from shuffledp.verify.rechecks import Rechecker

FIGURE = "estimates.svg"
PIECES = re.compile(r"<[^>]*>|[^<]+")
AROUND = 60  # letters shown of a difference
# Searched for in the source, without parsing it: a browser and a parser may see different elements.
TAG = re.compile(r"""<[a-z/](?:"[^"]*"|'[^']*'|[^>"'])*>|<[a-z/][^>]*>""", re.IGNORECASE)
RUNNING = re.compile(
    r"</?(?:script|iframe|frame|object|embed|applet|link|base|form|input|button|img|image|use|a|area|video|audio|source"
    r"|track|foreignobject|template|portal|math|animate|set|noscript|plaintext|xmp|textarea)(?=[\s/>])"
    r"|<!(?!doctype html>)|<\?|<meta[^>]*refresh",
    re.IGNORECASE,
)
LOADING = re.compile(
    r"""[\s/"'](?:on\w+|src|srcset|srcdoc|href|xlink:href|action|formaction|style|data|poster|background|ping)\s*=""",
    re.IGNORECASE,
)
FETCHING = re.compile(r"url\s*\(|@import|image-set|javascript:", re.IGNORECASE)
BLOCK = re.compile(
    r"</?(?:p|div|li|ul|td|th|tr|dt|dd|h[1-6]|text|title|summary|figcaption|section)\b[^>]*>", re.IGNORECASE
)
TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−\u00a0", "-0123456789- ")
NUMBER = r"(10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|−?[\d,]*\.?\d+(?:\s?×\s?10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)"
CLAIM = re.compile(r"(ε₀|ε|δ)\s*(≤|=|<)\s*" + NUMBER)  # also of e to the ε


def check_page(text: str, asked: Rechecker) -> list[Check]:
    """First of all: does the page show what its own record says?"""
    record = asked.judge.record
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return [unchecked(PAGE, "none", "this is the JSON; page.html shows it")]
    try:
        found = compared(text, asked.said("page", str), record.made.shuffledp, "its record", asked.whose)
    except InvalidInput as error:
        if asked.ours:
            raise
        why = f"its question, {record.design.question.type!r:.60}, is not ours, and cannot be shown here: {error}"
        found = vital(unchecked(PAGE, "of another package", why))
    return [found] if found.outcome != "not checked" else [*_suspicious(text, record), found]


def check_figure(text: str, asked: Rechecker) -> Iterator[Check]:
    """The figure beside a page, drawn again and compared; one of another version runs nothing, and
    does not pass.
    """
    wrote, here = asked.judge.record.made.shuffledp, version("shuffledp")
    same = plain(text) == plain(asked.said("figure", str))
    if same or (asked.ours and wrote == here):
        yield holds(FIGURE, "a figure", "that of the page", "drawn again from the record and compared", same)
        return
    active = next(running(text, ""), None)
    yield holds(f"what {FIGURE} runs or loads", active or "nothing", "nothing", "its source text", active is None)
    why = f"shuffledp {wrote} drew it, says its record, and this is {here}"
    yield vital(unchecked(FIGURE, "another figure", why))  # whoever forged it chose the version, too


def compared(text: str, written: str, wrote: str, says: str, whose: str | None = None) -> Check:
    """A page against the same one as it is ``written`` now, and the version that ``wrote`` it; the
    page of a question that is another package's names that package, ``whose`` version may differ.
    """
    shown, ours = plain(text), plain(written)
    if shown == ours:
        return holds(PAGE, "what its record says", "the same", "written again from its record and compared", True)
    # Only now the versions, which a forger chooses: no name of a version makes a page pass.
    here, same = version("shuffledp"), whose is None or entities.escape(whose) in shown
    if wrote == here and same:
        return _difference(shown, ours)
    why = f"shuffledp {wrote} wrote it, says {says}, and this is shuffledp {here}"
    if not same:
        why = f"it does not name {whose}, whose question it shows"
    return vital(unchecked(PAGE, "of another version", why))


def _difference(shown: str, written: str) -> Check:
    """The first place where a page and its record differ, as a reader sees it."""
    theirs, ours = PIECES.findall(shown), PIECES.findall(written)
    place = parting(theirs, ours)
    here, there = (pieces[place] if place < len(pieces) else "nothing more" for pieces in (theirs, ours))
    where = _before(ours[:place])
    how = "the page is marked up in another way than shuffledp writes it"
    if not (here.startswith("<") or there.startswith("<")):
        how = "the page shows one, its record says the other"
    one, other = entities.unescape(here), entities.unescape(there)
    start = max(0, parting(one, other) - AROUND // 3)
    return Check(PAGE, one[start : start + AROUND], other[start : start + AROUND], how + where, "FAIL")


def _before(pieces: list[str]) -> str:
    """The heading or term that a reader finds the difference after."""
    texts = (each.strip() for each in reversed(pieces) if not each.startswith("<"))
    last = next((each for each in texts if any(letter.isalpha() for letter in each)), "")
    return f", after {entities.unescape(last)[-AROUND:]!r}" if last and len(last) < 2000 else ""


def _suspicious(text: str, record: Record) -> list[Check]:
    """What no page of any version has: its words may say anything, but it runs nothing, loads
    nothing, turns no text around, and states no epsilon or delta that is not in its record.
    """
    before, _, rest = text.partition(OPEN)
    data, _, after = rest.partition(CLOSE)
    source = before + after
    shown = BLOCK.sub(" ", re.sub(r"(?s)<style>.*?</style>", "", source, count=1))
    words = entities.unescape(re.sub(r"<[^>]*>", "", shown))
    turned, wrong = TURNING.search(entities.unescape(source)), next(_unfounded(words, record), None)
    known = "something in the record" if wrong is None else f"nothing in the record is {wrong}"
    active = next(running(source, data), None)
    signs, each = "epsilon and delta on the page", "each number after a sign"
    return [
        holds("what the page runs or loads", active or "nothing", "nothing", "its source text", active is None),
        holds("signs that turn text around", "some" if turned else "none", "none", "its letters", turned is None),
        holds(signs, wrong or "all of them", known, each, wrong is None),
    ]


def running(source: str, data: str) -> Iterator[str]:
    """What in the source could run or load something, or hide text from those who search it."""
    for found in (RUNNING.search(source), FETCHING.search(source)):
        if found is not None:
            yield found[0]
    for tag in TAG.findall(source):
        if found := LOADING.search(tag):
            yield found[0].strip()
    if "<" in data:
        yield "an element inside the record"


def _unfounded(words: str, record: Record) -> Iterator[str]:
    """Each claim about epsilon or delta that no number of the record bears out."""
    certificate, ledger = record.certificate, record.ledger
    bound, curve = certificate.epsilon, certificate.curve
    upper, deltas = [bound.upper, *curve.epsilon[-1:]], [bound.delta, *curve.upper[:1], *curve.upper[-1:]]
    if ledger is not None:
        upper += [ledger.total.upper, ledger.limit.epsilon]
        deltas.append(ledger.limit.delta)
    epsilons = [0.0, bound.lower, math.exp(bound.upper), *upper]
    if certificate.delta is not None:
        epsilons.append(certificate.delta.epsilon)
        deltas += [certificate.delta.lower, certificate.delta.upper]
    perhaps = (certificate.alone, *(row.epsilon0 for row in record.comparison))
    alone = [each for each in perhaps if each is not None]
    for sign, relation, number in CLAIM.findall(words):
        value, step = _number(number)
        known = {"ε₀": alone, "ε": epsilons if relation == "=" else upper, "δ": deltas}[sign]
        if not any(abs(value - Decimal(each)) <= step for each in known):
            yield f"{sign} {relation} {number}"


def _number(text: str) -> tuple[Decimal, Decimal]:
    """A number as it is shown, and one unit of its last digit."""
    plainly = text.translate(SUPERSCRIPTS).replace(",", "").replace(" ", "")
    if plainly.startswith("10") and text[2:3] in tuple("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"):
        plainly = f"1.000×10{plainly[2:]}"  # a power of ten alone is shown where nothing was rounded
    digits, _, power = plainly.partition("×10")
    try:
        value = Decimal(digits).scaleb(int(power or 0))
    except (InvalidOperation, ValueError):
        return Decimal("NaN"), Decimal(0)
    return value, Decimal(1).scaleb(int(value.as_tuple().exponent))
