"""What is drawn, in words and in a few digits."""

from __future__ import annotations

import decimal
import math

from shuffledp.errors import InvalidInput
from shuffledp.guarantee import Guarantee
from shuffledp.mechanism import Rounds, Shuffled

__all__ = ["describe", "parts", "rounded"]


def describe(guarantee: Guarantee) -> str:
    """What is shuffled, in a line.

    >>> from shuffledp import KRR, shuffle
    >>> describe(shuffle(KRR(k=16, epsilon0=4.0), n=10_000).compose(30))
    'krr, k = 16, epsilon0 = 4; 10,000 users; 30 rounds'
    """
    words = []
    for part, rounds in parts(guarantee):
        facts = dict(part.randomizer.describe())
        law = [str(facts.pop("randomizer")), *(f"{key} = {value:.6g}" if isinstance(value, float) else f"{key} = {value}" for key, value in facts.items())]
        users = f"{part.n:,} user{'s' * (part.n > 1)}" + ("" if part.honest == part.n else f", {part.honest:,} of them honest")
        view = [] if part.adversary == "shuffled" else [f"{part.adversary} adversary"]
        words.append("; ".join([", ".join(law), users, *view, *([f"{rounds:,} rounds"] if rounds > 1 else [])]))
    return " + ".join(words)


def rounded(value: float, *, up: bool, digits: int = 4) -> str:
    """``value`` in a few digits, rounded to the safe side: up for an upper end, down for a lower one.

    >>> rounded(0.361590001, up=True), rounded(0.36158999, up=False), rounded(2.5e-07, up=True), rounded(12345678.9, up=True)
    ('0.3616', '0.3615', '2.500e-7', '1.235e+7')
    """
    if not math.isfinite(value):
        return "infinite"
    direction = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR
    short = float(decimal.Context(prec=digits, rounding=direction).create_decimal_from_float(value))
    return f"{short:#.{digits}g}".removesuffix(".").replace("e-0", "e-").replace("e+0", "e+")


def parts(guarantee: Guarantee) -> tuple[tuple[Shuffled, int], ...]:
    """The mechanisms in a guarantee, each with the number of its rounds."""
    if isinstance(guarantee, Rounds):
        return guarantee.parts
    if isinstance(guarantee, Shuffled):
        return ((guarantee, 1),)
    raise InvalidInput(f"guarantee must come from shuffle(...) or compose(...), got {guarantee!r}. Pass one of those; of an Accountant, its total.")
