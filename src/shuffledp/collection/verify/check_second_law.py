"""The law of those who count what a search found, where it is not that of the levels before: its
integers, and that it shows no more than the certificate says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np

from shuffledp.collection.record import Record, Searched
from shuffledp.collection.verify.counted_law import CountedLaw
from shuffledp.collection.verify.effort import Effort, TooLarge
from shuffledp.collection.verify.oracle import Oracle
from shuffledp.collection.verify.outcomes import Check, equal, holds, unchecked, vital

__all__ = ["OUT_OF", "SHORT_GROUPS", "check_second_law", "fewest_of", "law_of_level"]

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
    rare = -math.log(SHORT_GROUPS * search.delta)
    return max(1, math.floor(search.least * share - math.sqrt(2.0 * search.least * share * rare)))


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
    claimed, curve = record.certificate, record.certificate.curve
    asked = np.array([claimed.epsilon.upper, *curve.epsilon])
    said = np.array([claimed.epsilon.delta, *curve.upper])
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
