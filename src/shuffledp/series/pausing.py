"""What a series has spent so far, what the rest of it costs, and what a pause would buy.

Every number is certified: the weeks that were released, composed with those to come. A pace of 2
asks every second week. With the same noise that costs less in all; or each week that is asked may
have less noise, under the same promise for everything together: then the weeks to come are another
design, and another series. All of it is about plans that are made without looking at the answers;
who chooses the pace by what the weeks have shown chooses by the people's data.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from shuffledp.accounting.accountant import Accountant
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.inversion import geometric, halve, within
from shuffledp.accounting.shuffled import shuffled_parts
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.poll import Poll
from shuffledp.randomizers.law_file import scaled

PACES = {1: "every week", 2: "every second week", 4: "every fourth week"}
DIGITS = 0.02  # relative accuracy of epsilon0; it is rounded down
GAP = 0.02  # what is found to fit does; a little more might
MOST = 16.0  # times as much


@dataclass(frozen=True, slots=True)
class Pace:
    """To ask ``asked`` more weeks, one of every ``every`` that are left.

    ``epsilon`` is what the whole series then spends with the noise that it has, and ``error`` the
    standard error of a week; ``epsilon0`` and ``calibrated_error`` are those of the weeks to come
    if they were calibrated anew for the same promise, and None where they cannot be.
    """

    every: int
    asked: int
    epsilon: Bound
    error: float
    epsilon0: float | None = None
    calibrated_error: float | None = None

    @property
    def words(self) -> str:
        """How often it is asked."""
        return PACES[self.every]

    @property
    def gain(self) -> float | None:
        """How many times smaller the error of a week would be."""
        return None if self.calibrated_error is None else self.error / self.calibrated_error

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        plain = {name: getattr(self, name) for name in (*self.__slots__, "gain")}
        return plain | {"epsilon": {"lower": self.epsilon.lower, "upper": self.epsilon.upper}}


def spent_after(design: Design, weeks: int) -> Bound | None:
    """What so many weeks of a design spend together, at its delta; None if nothing was released."""
    return None if weeks == 0 else _once(design.poll).compose(weeks).epsilon(delta=design.delta)


def paces(design: Design, released: int) -> list[Pace]:
    """What it means to ask the weeks that are left every week, every second or every fourth."""
    left, error = design.rounds - released, design.poll.predicted_stderr()
    found: list[Pace] = []
    for every in PACES if left else ():
        asked = ceil(left / every)
        if found and asked == found[-1].asked:
            continue
        epsilon = _once(design.poll).compose(released + asked).epsilon(delta=design.delta)
        coming = None if every == 1 else _calibrated(design, released, asked)
        anew = () if coming is None else (coming.epsilon0, coming.predicted_stderr())
        found.append(Pace(every, asked, epsilon, error, *anew))
    return found


def _once(poll: Poll) -> Guarantee:
    """One week."""
    return shuffled_parts(poll.guarantee)[0][0]


def _calibrated(design: Design, released: int, asked: int) -> Poll | None:
    """The same question with the least noise found for so many weeks to come, such that all weeks
    together keep the promise of the design; None if it has no promise, or none is found.
    """
    if design.epsilon is None:
        return None
    alone = scaled(design.poll.randomizer, 1.0) is not None
    try:
        return (_with_more if alone else _as_if_all)(design, released, asked)
    except InvalidInput:  # a law that has no epsilon0, or is the truth beyond it
        return None


def _keeps(design: Design, released: int, coming: Poll, asked: int) -> bool:
    """Whether the weeks that were released and those to come keep the promise together."""
    assert design.epsilon is not None
    total = Accountant().add(_once(coming), rounds=asked)
    if released:
        total = total.add(_once(design.poll), rounds=released)
    return total.total.delta_at_most(epsilon=design.epsilon, gap=GAP) <= design.delta


def _coming(design: Design, **terms: Any) -> Poll:
    """The same question of the same people with another law."""
    return Poll(design.resolved, n=design.n, honest=design.honest, delta=design.delta, **terms)


def _with_more(design: Design, released: int, asked: int) -> Poll | None:
    """The same law with a larger epsilon0: another grid for a mean, or another size of hashes,
    might do still better.
    """

    def coming(factor: float) -> Poll:
        return _coming(design, randomizer=scaled(design.poll.randomizer, factor))

    def fits(factor: float) -> bool:
        return _keeps(design, released, coming(factor), asked)

    good, bad = 1.0, 1.5
    while bad < MOST and fits(bad):
        good, bad = bad, 1.5 * bad
    good, _ = halve(fits, good, bad, middle=geometric, close=within(DIGITS))
    return coming(good) if good > 1.0 else None


def _as_if_all(design: Design, released: int, asked: int) -> Poll | None:
    """The law that would keep the promise if the weeks that were released had it, too. These had
    more noise, so a little is left; what it would buy is not looked for.
    """
    law, light = design.poll.randomizer, design.mechanism.epsilon0
    terms = {name: getattr(law, name) for name in ("keep", "kind") if hasattr(law, name)}
    if light is not None:
        terms |= {"light_epsilon0": light}
    terms |= {"mechanism": design.mechanism.type, "epsilon": design.epsilon}
    coming = _coming(design, rounds=released + asked, **terms)
    better = coming.predicted_stderr() < design.poll.predicted_stderr()
    return coming if better and _keeps(design, released, coming, asked) else None
