"""Every known bound on one mechanism, side by side: how loose each one is, which are wrong, and
which say nothing here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import NamedTuple, TypeVar

from shuffledp._types import End
from shuffledp.accounting.accuracy import SLACK
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import (
    CertificateError,
    DoesNotApply,
    InvalidInput,
    ShuffledpError,
    called_as,
    check_delta,
    check_finite,
)
from shuffledp.literature.bounds import LITERATURE, Published, Setting, ways
from shuffledp.literature.bounds.certified import LOWER, slowness
from shuffledp.wording import reserved

__all__ = ["Compared", "Comparison", "Left", "compare", "proven_beside"]

PATIENCE = 0.5  # seconds that a bound may be expected to take before it is left out
QUICK = 0.1  # the same, of bounds beside an explanation, where answers take the usual time
CERTIFIED = "shuffledp"
BY_LAW = (CERTIFIED, "shuffledp-strong", "balle-2019-blanket-exact")  # upper ends that rest on what the law assumes
WAIT = "It is how many seconds a bound may take; inf waits for all of them."
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Compared:
    """What one bound says: ``epsilon``, its ``ratio`` to the certified lower end (nan if that is
    0), and how long it took.

    ``refuted`` says whether the certified interval shows it to be wrong: an upper bound below the
    lower end, or a lower bound above the upper end. ``rests`` says what keeps it from being a
    guarantee: an assumption about the law that is not proven, or constants from memory.
    """

    name: str
    citation: str
    status: str
    side: End
    epsilon: float
    ratio: float
    seconds: float
    remark: str = ""
    refuted: bool = False
    rests: str = ""

    @property
    def standing(self) -> str:
        """Its status; "assumed" if it is proven but for what it ``rests`` on."""
        return "assumed" if self.rests and self.status == "proven" else self.status

    @property
    def title(self) -> str:
        """Its name, and what it rests on."""
        return f"{self.name}, {self.rests}" if self.rests else self.name

    @property
    def contradicts(self) -> bool:
        """Whether it claims to be proven and is refuted: then either it or the certificate is
        wrong.
        """
        return self.status == "proven" and self.refuted


@dataclass(frozen=True, slots=True)
class Left:
    """A bound without a number, and why."""

    name: str
    citation: str
    status: str
    side: End
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
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
        return next(row for row in self.rows if row.side == "upper" and row.status == "proven" and not row.refuted)

    @property
    def contradictions(self) -> tuple[Compared, ...]:
        """Bounds passed as ``also`` that claim to be proven, and that the certified interval
        refutes.
        """
        return tuple(row for row in self.rows if row.contradicts)

    def __str__(self) -> str:
        """One line per bound."""
        only = f", {only}" if (only := reserved(self.certified.assumptions)) else ""
        lines = [
            f"epsilon at delta = {self.delta:g} lies in [{self.certified.lower:.6g}, {self.certified.upper:.6g}]{only}",
            "",
        ]
        lines += [
            f"  {row.side:<6} {row.epsilon:<12.6g} {row.ratio:<10.4g} {row.standing:<9} {row.citation}"
            + (f", {row.rests}" if row.rests else "")
            for row in self.rows
        ]
        lines += [f"  -      {left.citation}: {left.reason}" for left in (*self.refused, *self.skipped)]
        lines += [f"  {row.citation} contradicts the certified interval." for row in self.contradictions]
        return "\n".join(lines)

    __repr__ = __str__


@called_as("compare(survey, delta=1e-6)")
def compare(
    mechanism: Guarantee, *, delta: float, patience: float = PATIENCE, also: Iterable[Published] = ()
) -> Comparison:
    """What every bound in ``bounds.LITERATURE`` says about ``mechanism`` at ``delta``, beside the
    certified interval.

    For several rounds, bounds about one round are composed by the better of basic and advanced
    composition. A bound that is expected to take longer than ``patience`` seconds is skipped, and
    listed as such; ``math.inf`` skips none. ``also`` are bounds of your own, each a ``Published``:
    one that claims to be proven and contradicts the certified interval is among ``contradictions``.

    >>> from shuffledp import KRR, shuffle
    >>> table = compare(shuffle(KRR(k=16, epsilon0=4.0), n=10_000), delta=1e-6)
    >>> table.best.name, [row.name for row in table.rows if row.refuted]
    ('shuffledp', ['balle-2019-bennett-krr-printed', 'wang-2023-variation-ratio-krr'])
    """
    delta, setting = check_delta(delta), Setting.of(mechanism)
    patience, own = _check_patience(patience), _check_own(also)
    certified, seconds = _timed(lambda: mechanism.epsilon(delta=delta))
    ends: list[tuple[End, float]] = [("lower", certified.lower), ("upper", certified.upper)]
    rows = [
        Compared(CERTIFIED, f"certified here: {certified.method}", "proven", side, end, _ratio(end, certified), seconds)
        for side, end in ends
    ]
    known = _asked(LITERATURE, setting, delta, patience, certified)
    for row in known.rows:
        if row.contradicts:
            raise CertificateError(
                f"{row.citation} says {row.side} {row.epsilon!r}, but epsilon is certified to lie in "
                f"[{certified.lower!r}, {certified.upper!r}]. "
                "This is a bug in shuffledp; please report the call."
            )
    brought = _asked([_guarded(bound) for bound in own], setting, delta, patience, certified)
    only = reserved(certified.assumptions)
    rows += [*known.rows, *brought.rows]
    rows = [replace(row, rests=only) if row.name in BY_LAW and row.side == "upper" else row for row in rows]
    rows.sort(key=lambda row: (row.epsilon, row.side == "upper", row.name != CERTIFIED, row.status != "proven"))
    refused, skipped = (*known.refused, *brought.refused), (*known.skipped, *brought.skipped)
    return Comparison(mechanism, delta, certified, tuple(rows), refused, skipped)


def proven_beside(mechanism: Guarantee, delta: float, certified: Bound) -> list[Compared]:
    """What the proven bounds of the literature say where ``certified`` is known, as far as they are
    quick; those that are the certified end itself are left out.
    """
    setting = Setting.of(mechanism)
    proven = [bound for bound in LITERATURE if bound.status == "proven"]
    rows = _asked(proven, setting, delta, QUICK * slowness(setting), certified).rows
    return [row for row in rows if row.epsilon not in {certified.lower, certified.upper}]


class _Asked(NamedTuple):
    """What some bounds said, and those that said nothing."""

    rows: list[Compared]
    refused: list[Left]
    skipped: list[Left]


def _asked(bounds: Iterable[Published], setting: Setting, delta: float, patience: float, certified: Bound) -> _Asked:
    found = _Asked([], [], [])
    for bound in bounds:
        if bound is LOWER:  # it is the certified lower end
            continue
        try:
            used, epsilon, seconds = _stated(bound, setting, delta, patience)
        except DoesNotApply as error:
            found.refused.append(Left(bound.name, bound.citation, bound.status, bound.side, str(error)))
        except TooSlow as error:
            found.skipped.append(Left(bound.name, bound.citation, bound.status, bound.side, str(error)))
        else:
            ratio, refuted = _ratio(epsilon, certified), _refuted(used.side, epsilon, certified)
            found.rows.append(
                Compared(
                    used.name,
                    used.citation,
                    used.status,
                    used.side,
                    epsilon,
                    ratio,
                    seconds,
                    used.remark,
                    refuted,
                    used.rests,
                )
            )
    return found


class TooSlow(Exception):
    """A bound was not computed because it takes too long."""


def _check_patience(patience: float) -> float:
    if patience == math.inf:
        return patience
    seconds = check_finite("patience", patience, remedy=WAIT)
    if seconds < 0.0:
        raise InvalidInput(f"patience must not be negative, got {patience!r}. {WAIT}")
    return seconds


def _check_own(also: object) -> list[Published]:
    """Bounds that somebody brought along, with names of their own."""
    if isinstance(also, Published):
        raise InvalidInput(f"also must be a list of bounds, got {also.name} itself. Put it into one: also=[...].")
    if not isinstance(also, Iterable):
        raise InvalidInput(f"also must be a list of bounds, got {also!r}. Leave it out if you have none.")
    own, taken = list(also), {bound.name for bound in LITERATURE} | {CERTIFIED}
    for bound in own:
        if not isinstance(bound, Published):
            raise InvalidInput(
                f"also must hold bounds, each a shuffledp.literature.bounds.Published, got {bound!r}. Describe it: "
                f"Published(name=..., paper=..., where=..., covers=..., status=..., epsilon_at=...)."
            )
        if bound.name in taken:
            raise InvalidInput(f"a bound's name must be its own, got {bound.name!r} again. Rename yours.")
        taken.add(bound.name)
    return own


def _guarded(bound: Published) -> Published:
    """A stranger's bound whose mistakes are said to be its own."""

    def guarded(stated: Callable[..., float]) -> Callable[..., float]:
        def answer(*asked: object) -> float:
            try:
                value: object = stated(*asked)
            except ShuffledpError:
                raise
            except Exception as error:
                raise InvalidInput(
                    f"the bound {bound.name} must answer or raise DoesNotApply, got {type(error).__name__}: "
                    f"{' '.join(str(error).split())}. Correct the bound."
                ) from error
            number = float(value) if isinstance(value, Real) else math.nan
            if not number >= 0.0:
                raise InvalidInput(
                    f"the bound {bound.name} must be 0 or more, got {value!r}. Where it says nothing, let it raise "
                    f"DoesNotApply."
                )
            return number

        return answer

    return replace(
        bound,
        epsilon_at=None if bound.epsilon_at is None else guarded(bound.epsilon_at),
        delta_at=None if bound.delta_at is None else guarded(bound.delta_at),
        cost=None if bound.cost is None else guarded(bound.cost),
    )


def _stated(bound: Published, setting: Setting, delta: float, patience: float) -> tuple[Published, float, float]:
    """What a bound says, through the better composition theorem if it is about one round only, and
    the seconds it took.
    """
    found = ways(bound, setting)
    seconds = sum(way.seconds(setting) for way in found)
    if seconds > patience:
        raise TooSlow(f"takes about {seconds:.2g} s, and each bound is given {patience:g} s")
    answers, taken = _timed(lambda: [(way.epsilon(setting, delta=delta), way) for way in found])
    epsilon, way = min(answers, key=lambda answer: answer[0])
    return way, epsilon, taken


def _timed(compute: Callable[[], Answer]) -> tuple[Answer, float]:
    start = time.perf_counter()
    answer = compute()
    return answer, time.perf_counter() - start


def _ratio(epsilon: float, certified: Bound) -> float:
    return epsilon / certified.lower if certified.lower > 0.0 else math.nan


def _refuted(side: End, epsilon: float, certified: Bound) -> bool:
    if side == "upper":
        return _ratio(epsilon, certified) < 1.0 - SLACK
    return epsilon > certified.upper * (1.0 + SLACK)
