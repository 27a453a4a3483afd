"""The first level of a search, of which the certificate speaks; and the law of those who count
what was found, where it is another: its integers, and that it shows no more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from shuffledp.judge.effort import Effort, TooLarge
from shuffledp.judge.laws import CountedLaw
from shuffledp.judge.oracle import Oracle
from shuffledp.record import Certificate, Record, Searched
from shuffledp.verify.outcomes import Check, equal, holds, unchecked, vital

__all__ = ["OUT_OF", "SHORT_GROUPS", "check_second_law", "fewest_of", "law_of_level", "most_of", "of_first_level"]

OUT_OF, SHORT_GROUPS = 1 << 32, 1e-3
NOISE = 1e-9  # relative: rounding of the oracle
WHAT = "delta of those who count"


def law_of_level(search: Searched, law: CountedLaw, *, counting: bool) -> CountedLaw:
    """By which law a level reports, if the first one does by ``law``."""
    own = search.counting_law
    return law if own is None or not counting else CountedLaw.of(own.as_json())


def fewest_of(search: Searched, share: float) -> int:
    """How many honest people draw a level of this share, but for a small part of delta: Chernoff's
    bound.
    """
    return max(1, math.floor(search.honest * share - math.sqrt(2.0 * search.honest * share * _rare(search))))


def most_of(search: Searched, share: float) -> int:
    """How many people draw such a level, at most, but for as small a part."""
    rare = _rare(search)
    most = search.people * share + rare + math.sqrt(2.0 * search.people * share * rare)
    return min(search.people, math.ceil(most))


def _rare(search: Searched) -> float:
    return math.log(1.0 / (SHORT_GROUPS * search.delta))


def of_first_level(record: Record) -> Certificate:
    """What the certificate says of the first level: of a search, without what is added for others
    (``check_search`` knows how much); of any other release, all of it.
    """
    claimed, search = record.certificate, record.counted.search
    if search is None:
        return claimed
    rest = search.delta - record.design.delta
    upper = tuple(max(0.0, delta - rest) for delta in claimed.curve.upper)
    promised = None if claimed.delta is None else replace(claimed.delta, upper=max(0.0, claimed.delta.upper - rest))
    epsilon = replace(claimed.epsilon, delta=record.design.delta)
    return replace(claimed, epsilon=epsilon, delta=promised, curve=replace(claimed.curve, upper=upper))


def check_second_law(record: Record, effort: Effort) -> Iterator[Check]:
    """Nothing to check, if there is no such law."""
    search = record.counted.search
    if search is None or search.counting_law is None:
        return
    law = CountedLaw.of(search.counting_law.as_json())
    yield equal("randomizer of those who count", law.family, "krr", "the task")
    yield equal("values that those who count can name", law.k, 2 * search.candidates + 1, "what is followed")
    loud = law.family == "krr" and law.implied <= Decimal(law.epsilon0) and law.integers == law.least_integers
    yield holds("integers of those who count", law.integers, law.epsilon0, "the least noise that keeps epsilon0", loud)
    alone = search.counting_law.epsilon0 is not None and law.epsilon0 <= (record.design.law.epsilon0 or 0.0)
    yield holds("epsilon0 of those who count", law.epsilon0, record.design.law.epsilon0, "that of the design", alone)
    people = fewest_of(search, float(1 - len(search.spans) * Fraction(search.share, OUT_OF)))
    claimed = of_first_level(record)
    asked = np.array([claimed.epsilon.upper, *claimed.curve.epsilon])
    said = np.array([claimed.epsilon.delta, *claimed.curve.upper])
    try:
        least, most = Oracle(law, people, 1, effort=effort).upper(asked)
    except TooLarge as error:
        yield vital(unchecked(WHAT, "", f"not summed again: {error}"))
        return
    found = f"{most[0]:.3g} where {said[0]:.3g} is promised"
    if np.any(least > said * (1.0 + NOISE)) or np.all(most <= said):
        how = f"the sums of the blanket, at all {len(asked)} points, of {people} people"
        yield vital(holds(WHAT, "no more than the first level's", found, how, bool(np.all(most <= said))))
    else:
        yield vital(unchecked(WHAT, "", "not decided: the oracle's two ends are too far apart"))
