"""Every known bound on one mechanism, side by side: how loose each one is, which are wrong, and
which say nothing here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from shuffledp._types import End
from shuffledp.accounting.accuracy import SLACK
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import CertificateError, DoesNotApply, InvalidInput, check_delta, check_finite
from shuffledp.literature.bounds import COMPOSITIONS, LITERATURE, Published, Setting, composed
from shuffledp.literature.bounds.certified import LOWER

__all__ = ["Compared", "Comparison", "Left", "compare"]

PATIENCE = 0.5  # seconds that a bound may be expected to take before it is left out
CERTIFIED = "shuffledp"
WAIT = "It is how many seconds a bound may take; inf waits for all of them."
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Compared:
    """What one bound says: ``epsilon``, its ``ratio`` to the certified lower end (nan if that is
    0), and how long it took.
    """

    name: str
    citation: str
    status: str
    side: End
    epsilon: float
    ratio: float
    seconds: float
    remark: str = ""

    @property
    def refuted(self) -> bool:
        """Whether the certified lower end shows that this upper bound is too small to be true."""
        return self.side == "upper" and self.ratio < 1.0 - SLACK


@dataclass(frozen=True, slots=True)
class Left:
    """A bound without a number, and why."""

    name: str
    citation: str
    status: str
    side: End
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer of ``compare``; ``print`` it.

    ``rows`` are sorted by epsilon, the certified ends among them. ``refused`` are the bounds whose
    conditions fail here, ``skipped`` those that would take too long.
    """

    mechanism: Guarantee
    delta: float
    certified: Bound
    rows: tuple[Compared, ...]
    refused: tuple[Left, ...]
    skipped: tuple[Left, ...]

    @property
    def best(self) -> Compared:
        """The smallest upper bound that is proven; a bound that is not cannot win, however
        small.
        """
        return next(row for row in self.rows if row.side == "upper" and row.status == "proven")

    def __str__(self) -> str:
        """One line per bound."""
        lines = [
            f"epsilon at delta = {self.delta:g} lies in [{self.certified.lower:.6g}, {self.certified.upper:.6g}]",
            "",
        ]
        lines += [
            f"  {row.side:<6} {row.epsilon:<12.6g} {row.ratio:<10.4g} {row.status:<9} {row.citation}"
            for row in self.rows
        ]
        lines += [f"  -      {left.citation}: {left.reason}" for left in (*self.refused, *self.skipped)]
        return "\n".join(lines)


def compare(mechanism: Guarantee, *, delta: float, patience: float = PATIENCE) -> Comparison:
    """What every bound in ``bounds.LITERATURE`` says about ``mechanism`` at ``delta``, beside the
    certified interval.

    For several rounds, bounds about one round are composed by the better of basic and advanced
    composition. A bound that is expected to take longer than ``patience`` seconds is skipped, and
    said to be; ``math.inf`` skips none.

    >>> from shuffledp import KRR, shuffle
    >>> table = compare(shuffle(KRR(k=16, epsilon0=4.0), n=10_000), delta=1e-6)
    >>> table.best.name, [row.name for row in table.rows if row.refuted]
    ('shuffledp', ['balle-2019-bennett-krr-printed', 'wang-2023-variation-ratio-krr'])
    """
    delta, setting = check_delta(delta), Setting.of(mechanism)
    if patience != math.inf:
        patience = check_finite("patience", patience, remedy=WAIT)
        if patience < 0.0:
            raise InvalidInput(f"patience must not be negative, got {patience!r}. {WAIT}")
    certified, seconds = _timed(lambda: mechanism.epsilon(delta=delta))
    ends: list[tuple[End, float]] = [("lower", certified.lower), ("upper", certified.upper)]
    rows = [
        Compared(CERTIFIED, f"certified here: {certified.method}", "proven", side, end, _ratio(end, certified), seconds)
        for side, end in ends
    ]
    refused, skipped = [], []
    for bound in LITERATURE:
        if bound is LOWER:  # it has its row already
            continue
        try:
            stated = _stated(bound, setting, delta, patience)
        except DoesNotApply as error:
            refused.append(Left(bound.name, bound.citation, bound.status, bound.side, str(error)))
        except TooSlow as error:
            skipped.append(Left(bound.name, bound.citation, bound.status, bound.side, str(error)))
        else:
            used, epsilon, seconds = stated
            rows.append(
                Compared(
                    used.name,
                    used.citation,
                    used.status,
                    used.side,
                    epsilon,
                    _ratio(epsilon, certified),
                    seconds,
                    used.remark,
                )
            )
    rows.sort(key=lambda row: (row.epsilon, row.side == "upper", row.name != CERTIFIED, row.status != "proven"))
    _check(rows, certified)
    return Comparison(mechanism, delta, certified, tuple(rows), tuple(refused), tuple(skipped))


class TooSlow(Exception):
    """A bound was not computed because it takes too long."""


def _stated(bound: Published, setting: Setting, delta: float, patience: float) -> tuple[Published, float, float]:
    """What a bound says, through the better composition theorem if it is about one round only, and
    the seconds it took.
    """
    needed = setting.rounds > 1 and bound.rounds == "one" and bound.side == "upper"
    ways = [composed(bound, theorem) for theorem in COMPOSITIONS] if needed else [bound]
    seconds = sum(way.seconds(setting) for way in ways)
    if seconds > patience:
        raise TooSlow(f"takes about {seconds:.2g} s, and each bound is given {patience:g} s")
    answers, taken = _timed(lambda: [(way.epsilon(setting, delta=delta), way) for way in ways])
    epsilon, way = min(answers, key=lambda answer: answer[0])
    return way, epsilon, taken


def _timed(compute: Callable[[], Answer]) -> tuple[Answer, float]:
    start = time.perf_counter()
    answer = compute()
    return answer, time.perf_counter() - start


def _ratio(epsilon: float, certified: Bound) -> float:
    return epsilon / certified.lower if certified.lower > 0.0 else math.nan


def _check(rows: Sequence[Compared], certified: Bound) -> None:
    """Proven bounds must not contradict the certified interval: one of the two would be wrong."""
    for row in rows:
        above = row.side == "lower" and row.epsilon > certified.upper * (1.0 + SLACK)
        if row.status == "proven" and (row.refuted or above):
            raise CertificateError(
                f"{row.citation} says {row.side} {row.epsilon!r}, but epsilon is certified to lie in "
                f"[{certified.lower!r}, {certified.upper!r}]. "
                "This is a bug in shuffledp; please report the call."
            )
