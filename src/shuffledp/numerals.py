"""Numbers in words, as page and terminal say them. A bound is rounded to the safe side, an interval
outward.
"""

from __future__ import annotations

import decimal
import math
import re
from datetime import datetime

from shuffledp import wording
from shuffledp.wording import rounded

__all__ = [
    "between",
    "count",
    "decimals_for",
    "exact",
    "factor_of",
    "fixed",
    "grouped",
    "level",
    "many",
    "margin",
    "meaning",
    "moment",
    "percent",
    "power",
    "predicted",
    "rounded",
    "scientific",
    "sentence",
    "tied",
    "times",
]

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS, SPACE = "\u2212", "\u00a0"  # the sign, and the space that is no place to break a line
MOST_DECIMALS = 9
LARGEST_EXPONENT = 700.0
TIES = re.compile(r" (?=[=≤%])|(?<=[=≤±]) ")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def count(value: int) -> str:
    """A whole number, in groups of three."""
    return f"{value:,}".replace("-", MINUS)


def many(number: int, one: str, more: str | None = None) -> str:
    """A number and what it counts.

    >>> many(1, "person", "people"), many(1200, "round")
    ('1 person', '1,200 rounds')
    """
    return f"{count(number)} {one if number == 1 else more or one + 's'}"


def power(text: str) -> str:
    r"""A number with its exponent as people write it.

    >>> power("9.985e-9"), power("1e-8"), power("0.25"), power("1.2e+7")
    ('9.985\xa0×\xa010⁻⁹', '10⁻⁸', '0.25', '1.2\xa0×\xa010⁷')
    """
    digits, e, exponent = text.partition("e")
    if not e:
        return text.replace("-", MINUS)
    ten = "10" + str(int(exponent)).translate(SUPERSCRIPTS)
    return ten if digits == "1" else f"{digits.replace('-', MINUS)}{SPACE}×{SPACE}{ten}"


def scientific(value: float, *, up: bool, digits: int = 4) -> str:
    """A bound in a few digits, rounded to the safe side."""
    return power(rounded(value, up=up, digits=digits))


def exact(value: float) -> str:
    """A number that somebody chose: in full, without an idle .0.

    >>> exact(1.0), exact(1e-06), exact(9.6877)
    ('1', '10⁻⁶', '9.6877')
    """
    return power(repr(float(value)).removesuffix(".0"))


def grouped(value: float) -> str:
    """The same as ``exact``, with whole numbers in groups of three, as an axis has them.

    >>> grouped(360000.0), grouped(0.5)
    ('360,000', '0.5')
    """
    return exact(value) if value % 1.0 else fixed(value, 0)


def decimals_for(margin: float) -> int:
    """So many decimals that two digits of the margin can be seen.

    >>> decimals_for(31.0), decimals_for(2.2), decimals_for(0.081)
    (0, 1, 3)
    """
    return min(max(0, 1 - math.floor(math.log10(margin))), MOST_DECIMALS) if 0.0 < margin < math.inf else 0


def fixed(value: float, decimals: int, *, up: bool | None = None) -> str:
    """``value`` with so many decimals, to the nearest, or up, or down.

    >>> fixed(-5.5077, 1, up=False), fixed(300177.2, 0, up=True), fixed(-0.04, 1)
    ('−5.6', '300,178', '0.0')
    """
    short = _short(value, decimals, up=up)
    return f"{abs(short) if short == 0 else short:,f}".replace("-", MINUS)


def between(low: float, high: float, decimals: int) -> str:
    """An interval, rounded outward."""
    return f"{fixed(low, decimals, up=False)} to {fixed(high, decimals, up=True)}"


def margin(value: float, low: float, high: float, decimals: int) -> decimal.Decimal:
    """How far the farther end of an interval is from its estimate, all three as they are shown.

    >>> margin(1964.6, 1939.8, 1989.4, 0)
    Decimal('26')
    """
    shown = _short(value, decimals, up=None)
    return max(shown - _short(low, decimals, up=False), _short(high, decimals, up=True) - shown)


def _short(value: float, decimals: int, *, up: bool | None) -> decimal.Decimal:
    direction = {None: decimal.ROUND_HALF_EVEN, True: decimal.ROUND_CEILING, False: decimal.ROUND_FLOOR}[up]
    one = decimal.Decimal(1).scaleb(-decimals)
    return decimal.Decimal(value).quantize(one, rounding=direction, context=decimal.Context(prec=400))


def percent(share: float) -> str:
    r"""A share, in hundredths of a percent where it is small.

    >>> percent(0.300146), percent(0.00004), percent(1.0)
    ('30.01\xa0%', '0.00\xa0%', '100.00\xa0%')
    """
    return f"{fixed(100.0 * share, 2)}{SPACE}%"


def times(ratio: float) -> str:
    """How many times, without more digits than anybody wants."""
    return fixed(ratio, 0 if ratio >= 9.95 else 1)


def predicted(error: float) -> str:
    """A standard error in three digits, rounded up.

    >>> predicted(2189.3), predicted(10.667), predicted(0.0474031)
    ('2,190', '10.7', '0.0475')
    """
    return fixed(error, min(decimals_for(error) + (error < 100.0), MOST_DECIMALS), up=True)


def sentence(words: str) -> str:
    """A remark of the accounting, as a sentence."""
    return (words[:1].upper() + words[1:]).removesuffix(".").replace("'", "’") + "."


def tied(words: str) -> str:
    """Words in which no line ends between a sign and its number."""
    return TIES.sub(SPACE, words)


def level(chance: float) -> str:
    """How sure intervals are."""
    return f"{exact(round(100.0 * chance, 6))}{SPACE}%"


def factor_of(epsilon: float) -> str:
    """e to the epsilon, rounded up."""
    return scientific(math.exp(epsilon), up=True, digits=3) if epsilon < LARGEST_EXPONENT else "more than 10³⁰⁰"


def meaning(epsilon: float, delta: float) -> str:
    """What (epsilon, delta) says, for those who have not read a paper about it."""
    return wording.meaning(factor_of(epsilon), exact(delta)).replace("'", "’")


def moment(when: str) -> str:
    """A time, for people.

    >>> moment("2026-11-15T15:13:40+00:00")
    '15 November 2026, 15:13 UTC'
    """
    try:
        at = datetime.fromisoformat(when)
    except ValueError:
        return when
    zone = at.strftime("%Z")
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}, {at:%H:%M}" + (f" {zone}" if zone else "")
