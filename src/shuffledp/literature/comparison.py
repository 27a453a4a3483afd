"""Every known bound on one mechanism, side by side: how loose each one is, which are wrong, and
which say nothing here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple, TypeVar

from shuffledp._types import End
from shuffledp.accounting.accuracy import PATIENCE, SLACK
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Goal, Guarantee
from shuffledp.errors import CertificateError, DoesNotApply, InvalidInput, Refusal, ShuffledpError, check_finite
from shuffledp.literature.bounds import LITERATURE, Published, Setting, for_rounds
from shuffledp.literature.own_bounds import LOWER, slowness
from shuffledp.wording import reserved

QUICK = 0.1  # seconds, likewise, of bounds beside an explanation, where answers take the usual time
CERTIFIED = "shuffledp"
BY_LAW = {"shuffledp-strong", "balle-2019-blanket-exact"}  # upper ends that rest on what the law assumes
BY_LAW |= {"feldman-2020-thm-4.1-reconstructed", "feldman-2020-thm-4.1-exact"}
WAIT = "It is how many seconds a bound may take; inf waits for all of them."
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Compared:
    """What one bound says: the ``value`` of epsilon or delta, its ``ratio`` to the certified lower
    end (nan if that is 0), and how long it took.

    ``refuted`` says whether the certified interval shows it to be wrong: an upper bound below the
    lower end, or a lower bound above the upper end. ``rests`` says what keeps it from being a
    guarantee: an assumption about the law that is not proven, or that it is reconstructed.
    """

    name: str
    citation: str
    status: str
    side: End
    value: float
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
        """Whether it claims to be proven and is refuted: one of it and the certificate is wrong."""
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

    ``goal.asked`` is "epsilon" or "delta", ``goal.at`` where. ``rows`` are sorted by their
    values, the certified ends among them. ``refused`` are the bounds whose conditions fail here,
    ``skipped`` those that would take too long.
    """

    goal: Goal
    certified: Bound
    rows: tuple[Compared, ...]
    refused: tuple[Left, ...]
    skipped: tuple[Left, ...]

    @property
    def best(self) -> Compared:
        """The smallest upper bound that is proven; one that is not cannot win, however small."""
        return next(row for row in self.rows if row.side == "upper" and row.status == "proven" and not row.refuted)

    @property
    def contradictions(self) -> tuple[Compared, ...]:
        """Bounds passed as ``also`` that claim to be proven, and that the interval refutes."""
        return tuple(row for row in self.rows if row.contradicts)

    def __str__(self) -> str:
        """One line per bound."""
        only = f", {only}" if (only := reserved(self.certified.assumptions)) else ""
        ends, here = self.certified, f"{self.goal.given} = {self.goal.at:g}"
        lines = [f"{self.goal.asked} at {here} lies in [{ends.lower:.6g}, {ends.upper:.6g}]{only}", ""]
        for row in self.rows:
            cited = f"{row.citation}, {row.rests}" if row.rests else row.citation
            lines.append(f"  {row.side:<6} {row.value:<12.6g} {row.ratio:<10.4g} {row.standing:<9} {cited}")
        lines += [f"  -      {left.citation}: {left.reason}" for left in (*self.refused, *self.skipped)]
        lines += [f"  {row.citation} contradicts the certified interval." for row in self.contradictions]
        return "\n".join(lines)

    __repr__ = __str__


def compare(
    mechanism: Guarantee,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    patience: float = PATIENCE,
    also: Iterable[Published] = (),
) -> Comparison:
    """What every bound in ``bounds.LITERATURE`` says about ``mechanism``, next to the certified
    interval: epsilons at ``delta``, or deltas at ``epsilon``.

    For several rounds, bounds about one round are composed by the better of basic and advanced
    composition. A bound that is expected to take longer than ``patience`` seconds is skipped, and
    listed as such; ``math.inf`` skips none. ``also`` are bounds of your own, each a ``Published``:
    one that claims to be proven and contradicts the certified interval is among ``contradictions``.

    >>> from shuffledp import KRR, shuffle
    >>> table = compare(shuffle(KRR(k=16, epsilon0=4.0), n=10_000), delta=1e-6)
    >>> table.best.name, [row.name for row in table.rows if row.refuted and "balle" in row.name]
    ('shuffledp', ['balle-2019-bennett-krr-printed'])
    """
    goal, setting = Goal.of(mechanism, delta, epsilon), Setting.of(mechanism)
    patience, own = _check_patience(patience), _check_own(also)
    certified, seconds = _timed(goal.answer)
    judge = _Judge(goal, certified)
    cited = CERTIFIED, f"certified here: {certified.method}", "proven"
    ends: list[tuple[End, float, str]] = [("lower", certified.lower, "")]
    ends += [("upper", certified.upper, reserved(certified.assumptions))]
    rows = [Compared(*cited, side, end, judge.ratio(end), seconds, rests=rests) for side, end, rests in ends]
    known = _said(LITERATURE, setting, patience, judge)
    for row in known.rows:
        judge.check(row)
    brought = _said([_guarded(bound) for bound in own], setting, patience, judge)
    rows += [*known.rows, *brought.rows]
    rows.sort(key=lambda row: (row.value, row.side == "upper", row.name != CERTIFIED, row.status != "proven"))
    refused, skipped = (*known.refused, *brought.refused), (*known.skipped, *brought.skipped)
    return Comparison(goal, certified, tuple(rows), refused, skipped)


def weigh(bound: Published, goal: Goal, certified: Bound) -> Compared:
    """What one bound of ``LITERATURE`` says; ``DoesNotApply`` if it says nothing here."""
    judge = _Judge(goal, certified)
    return judge.check(judge.weighed(bound, Setting.of(goal.guarantee)))


def proven_beside(mechanism: Guarantee, delta: float, certified: Bound) -> tuple[list[Compared], tuple[str, ...]]:
    """What the proven bounds of the literature say where epsilon is known to be ``certified``, and
    the names of those that take too long to be asked; those that are the certified end itself are
    left out.
    """
    setting, judge = Setting.of(mechanism), _Judge(Goal(mechanism, "epsilon", delta), certified)
    proven = [bound for bound in LITERATURE if bound.status == "proven"]
    said = _said(proven, setting, QUICK * slowness(setting), judge)
    rows = [row for row in said.rows if row.value not in {certified.lower, certified.upper}]
    return rows, tuple(left.name for left in said.skipped)


class _Judge(NamedTuple):
    """The certified interval that every bound is held against."""

    goal: Goal
    certified: Bound

    def ratio(self, value: float) -> float:
        return value / self.certified.lower if self.certified.lower > 0.0 else math.nan

    def refutes(self, side: End, value: float) -> bool:
        """Whether a claim is wrong by more than rounding: where the curve is steep, a rounding of
        what was given moves the answer farther than one of the answer, so both are allowed for.
        """
        if side == "upper":
            least = value / (1.0 - SLACK)
            return least < self.certified.lower and least < self.goal.answer(1.0 + SLACK).lower
        most = value / (1.0 + SLACK)
        return most > self.certified.upper and most > self.goal.answer(1.0 - SLACK).upper

    def weighed(self, bound: Published, setting: Setting) -> Compared:
        """What a bound says; ``DoesNotApply`` if it says nothing here."""
        used = for_rounds(bound, setting)
        value, seconds = _timed(lambda: used.ask(setting, self.goal.asked, self.goal.at))
        facts = used.name, used.citation, used.status, used.side, value, self.ratio(value), seconds, used.remark
        return Compared(*facts, self.refutes(used.side, value), rests_on(bound, self.certified.assumptions))

    def check(self, row: Compared) -> Compared:
        """Return a row of ``LITERATURE``, if it agrees with the interval or is not proven."""
        if row.contradicts:
            asked = f"{self.goal.asked} at {self.goal.given} = {self.goal.at!r}"
            ends = f"[{self.certified.lower!r}, {self.certified.upper!r}]"
            raise CertificateError(
                f"{row.citation} says {row.side} {row.value!r}, but {asked} is certified to lie in {ends}. This is a "
                "bug in shuffledp; please report the call."
            )
        return row


class _Said(NamedTuple):
    """What some bounds said, and those that said nothing."""

    rows: list[Compared]
    refused: list[Left]
    skipped: list[Left]


def _said(bounds: Iterable[Published], setting: Setting, patience: float, judge: _Judge) -> _Said:
    found = _Said([], [], [])
    for bound in bounds:
        if bound is LOWER:  # it is the certified lower end
            continue
        name = bound.name, bound.citation, bound.status, bound.side
        try:
            seconds = for_rounds(bound, setting).seconds(setting)
            if seconds <= patience:
                found.rows.append(judge.weighed(bound, setting))
            else:
                reason = f"takes about {seconds:.2g} s, and each bound is given {patience:g} s"
                found.skipped.append(Left(*name, reason))
        except DoesNotApply as error:
            found.refused.append(Left(*name, str(error)))
    return found


def rests_on(bound: Published, assumptions: Iterable[str]) -> str:
    """What keeps a bound from being a guarantee, where a mechanism has those assumptions."""
    return bound.rests or (reserved(assumptions) if bound.name in BY_LAW else "")


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
            remedy = "Describe it: Published(name=..., paper=..., where=..., covers=..., status=..., epsilon_at=...)."
            rule = "also must hold bounds, each a shuffledp.literature.bounds.Published"
            raise InvalidInput(Refusal(rule, repr(bound), remedy))
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
                rule = f"the bound {bound.name} must answer or raise DoesNotApply"
                got = f"{type(error).__name__}: {' '.join(str(error).split())}"
                raise InvalidInput(Refusal(rule, got, "Correct the bound.")) from error
            number = float(value) if isinstance(value, Real) else math.nan
            if not number >= 0.0:
                remedy = "Where it says nothing, let it raise DoesNotApply."
                raise InvalidInput(Refusal(f"the bound {bound.name} must be 0 or more", repr(value), remedy))
            return number

        return answer

    stated = {name: getattr(bound, name) for name in ("epsilon_at", "delta_at", "cost")}
    changed: dict[str, Any] = {name: guarded(each) for name, each in stated.items() if each is not None}
    return replace(bound, **changed)


def _timed(compute: Callable[[], Answer]) -> tuple[Answer, float]:
    start = time.perf_counter()
    answer = compute()
    return answer, time.perf_counter() - start
