"""Every published bound against exact answers.

A bound is asked in the direction in which it is stated. It states epsilon: the exact delta at that
epsilon must be at most the delta asked for. It states delta: that must be at least the exact one. A
lower bound the other way round, and only where the exact answer is complete.

Only what could fail counts as a comparison. Claims that are true of every mechanism are counted
apart, as trivial.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import DoesNotApply
from shuffledp.literature.bounds import COMPOSITIONS, LITERATURE, Published, Setting, composed
from tests.literature.cases import Case, witness
from tests.literature.truth import Array

TOLERANCE = 1e-9  # relative, on delta
EXTREME_DELTAS = (1e-16, 1e-24, 1e-50)
PROBES = 40  # points that look around, before the others go where they can fail
TO_COMPOSE = {"erlingsson-2019", "balle-2019-thm-1", "balle-2019-bennett"}
TO_COMPOSE |= {"feldman-2020-thm-3.1", "feldman-2020-cor-4.2"}
Ask = Callable[[float], tuple[float, float]]
FEW = 3  # points at a time, for bounds that are slow
# Seconds per answer as measured on these cases, for bounds that say less: close to epsilon0 a
# certified answer takes longer than usual.
MEASURED = dict.fromkeys(("shuffledp-any", "shuffledp-deletion"), 0.2)
MEASURED |= dict.fromkeys(("shuffledp-binary", "shuffledp-lower", "balle-2019-blanket-exact", "shuffledp-strong"), 0.3)
MEASURED |= dict.fromkeys(("feldman-2020-thm-3.8-exact", "feldman-2020-thm-4.1-exact"), 0.2)
MEASURED |= {"feldman-2020-clones-exact": 0.15, "local": 0.05, "wang-2023-variation-ratio-krr": 0.05}
MEASURED |= {"feldman-2020-2rr-lower": 0.02, "girgis-2021": 0.02}
BISECTED = ("balle-2019-bennett+advanced",)  # several bisections per answer, milliseconds: these only look around


@dataclass(frozen=True, slots=True)
class Effort:
    """How many points per case and direction, and how many seconds per bound and case on average,
    by the bound's own estimate.

    A bound that would take longer gets fewer points, and then fewer cases; which ones, a checksum
    of the names decides.
    """

    points: int
    seconds: float

    def points_for(self, bound: Published, case: Case, setting: Setting) -> int:
        """How many points to try; 0 leaves the case out."""
        estimate = _seconds(bound, setting)
        if bound.name in BISECTED:
            return min(self.points, PROBES)
        affordable = self.seconds / estimate if estimate > 0.0 else self.points
        points = int(max(min(self.points, affordable), min(self.points, FEW)))
        drawn = zlib.crc32(f"{bound.name} {case.name}".encode()) / 2**32
        return points if points * estimate * drawn <= self.seconds else 0


QUICK = Effort(points=100, seconds=0.008)
THOROUGH = Effort(points=300, seconds=0.01)


@dataclass(frozen=True, slots=True)
class Tally:
    """What comparisons showed. ``trivial`` answers could not fail and are no comparisons.
    ``tightest`` is the largest log(exact / bound), or log(bound / exact) for a lower bound; above 0
    the bound fails."""

    comparisons: int = 0
    trivial: int = 0
    refused: int = 0
    tightest: float = -math.inf
    where: str = ""
    violations: int = 0

    def __add__(self, other: Tally) -> Tally:
        counts = (getattr(self, name) + getattr(other, name) for name in ("comparisons", "trivial", "refused"))
        worst = max((self.tightest, self.where), (other.tightest, other.where))
        return Tally(*counts, *worst, self.violations + other.violations)


def bounds() -> tuple[Published, ...]:
    """All of the literature, and its bounds for one round carried over to several by general
    composition.
    """
    carried = [composed(bound, theorem) for bound in LITERATURE if bound.name in TO_COMPOSE for theorem in COMPOSITIONS]
    return (*LITERATURE, *carried)


def compare(bound: Published, case: Case, effort: Effort) -> Tally:
    """One bound, one case: every point that it answers is a comparison."""
    carried = any(bound.name.endswith(f"+{theorem}") for theorem in COMPOSITIONS)
    if (bound.side == "lower" and not case.complete) or (carried and case.setting.rounds == 1):
        return Tally()
    total = Tally()
    for setting in case.settings if bound.side == "upper" else (case.setting,):
        total += _compare(bound, case, setting, effort)
    return total


def refute(bound: Published) -> Tally:
    """The bound on the case that is known to refute it, if there is one."""
    case = witness(bound.name)
    return compare(bound, case, Effort(points=16, seconds=math.inf)) if case is not None else Tally()


def sample(bound: Published, cases: Iterable[Case], wanted: int) -> Tally:
    """A bound that is slow everywhere: two points at a time, until there are as many comparisons as
    wanted. Against the bound's own adversary first, as elsewhere it is too loose to fail, and in
    the cheapest cases."""
    total = Tally()
    order = lambda case: (case.setting.adversary != bound.adversary, _seconds(bound, case.setting))  # noqa: E731
    for case in sorted(cases, key=order):
        if total.comparisons >= wanted:
            break
        total += compare(bound, case, Effort(points=2, seconds=math.inf))
    return total


def _seconds(bound: Published, setting: Setting) -> float:
    try:
        bound._check(setting)
        return max(bound.seconds(setting), MEASURED.get(bound.name.partition("+")[0], 0.0))
    except DoesNotApply:
        return math.inf


def _compare(bound: Published, case: Case, setting: Setting, effort: Effort) -> Tally:
    if math.isinf(_seconds(bound, setting)):
        return Tally(refused=1)
    points = effort.points_for(bound, case, setting)
    total = Tally()
    asked = bound, case, setting, points
    if bound.epsilon_at is not None and points:
        by_delta: Ask = lambda log: (bound.epsilon(setting, delta=math.exp(log)), math.exp(log))  # noqa: E731
        total += _curve(*asked, _log_deltas(points, case), by_delta)
    if bound.delta_at is not None and points:
        by_epsilon: Ask = lambda epsilon: (epsilon, bound.delta(setting, epsilon=epsilon))  # noqa: E731
        total += _curve(*asked, _epsilons(points, case), by_epsilon)
    return total


def _curve(bound: Published, case: Case, setting: Setting, points: int, probes: Array, ask: Ask) -> Tally:
    """The probes first; what is left of the points goes where the probes showed that a comparison
    can fail.
    """
    probes = probes[:points]
    total, informative = _judge(bound, case, setting, [_answer(ask, at) for at in probes])
    if points > len(probes) > 1 and informative.any():
        first, last = np.flatnonzero(informative)[[0, -1]]
        between = np.linspace(max(first - 0.9, 0.0), min(last + 0.9, len(probes) - 1.0), points - len(probes) + 2)[1:-1]
        farther = np.interp(between, np.arange(len(probes)), probes)
        more, _ = _judge(bound, case, setting, [_answer(ask, at) for at in farther])
        total += more
    return total


def _answer(ask: Ask, at: float) -> tuple[float, float] | None:
    """(epsilon, delta) as the bound has them, or None where it does not apply."""
    try:
        return ask(float(at))
    except DoesNotApply:
        return None


def _judge(
    bound: Published, case: Case, setting: Setting, answers: Sequence[tuple[float, float] | None]
) -> tuple[Tally, NDArray[np.bool_]]:
    """The answers against the exact ones, and which of them could have failed.

    A claim that is true of every mechanism cannot: an upper bound that states delta >= 1, or an
    epsilon that is infinite or beyond which no loss is left (or so little that doubles do not hold
    it); a lower bound that states 0. No number at all, or a negative one, fails always.
    """
    answered = np.array([answer is not None for answer in answers], dtype=bool)
    found = np.array([answer for answer in answers if answer is not None], dtype=np.float64).reshape(-1, 2)
    refused = len(answers) - len(found)
    if not len(found):
        return Tally(refused=refused), answered
    nonsense = np.isnan(found).any(axis=1) | (found < 0.0).any(axis=1)
    epsilons, deltas = np.where(nonsense[:, None], 0.0, found).T
    with np.errstate(divide="ignore"):
        stated = np.log(deltas)
    if bound.side == "upper":
        exact = case.truth.log_low(epsilons)
        can_fail = (exact > -math.inf) & (deltas < 1.0) & np.isfinite(epsilons)
        logs = np.where(can_fail, exact, 0.0) - np.where(can_fail, stated, math.inf)
    else:
        exact = np.log(case.truth.high(epsilons))
        can_fail = (deltas > 0.0) & (epsilons > 0.0)
        logs = np.where(can_fail, stated, -math.inf) - exact
    logs, can_fail = np.where(nonsense, math.inf, logs), can_fail | nonsense
    informative = answered.copy()
    informative[answered] = can_fail
    count, trivial = int(can_fail.sum()), int((~can_fail).sum())
    if not count:
        return Tally(trivial=trivial, refused=refused), informative
    worst = int(np.argmax(logs))
    where = (
        f"{case.name}, asked of {setting.randomizer}: epsilon {found[worst, 0]:.9g}, delta {found[worst, 1]:.9g}, "
        f"exact {_power(exact[worst])}"
    )
    return Tally(count, trivial, refused, float(logs[worst]), where, int(np.sum(logs > TOLERANCE))), informative


def _power(log: float) -> str:
    """A probability that may be too small for a double."""
    return f"{math.exp(log):.9g}" if log > -600.0 else f"10^{log / math.log(10.0):.1f}"


def _log_deltas(points: int, case: Case) -> Array:
    """A spread to look around, unless only a few are asked for: then exact deltas, as what a good
    bound says there can fail.
    """
    if points >= PROBES:
        return np.log([*np.geomspace(0.9, 1e-3, PROBES - 15), *np.geomspace(3e-4, 1e-13, 12), *EXTREME_DELTAS])
    if points > FEW:
        return np.log(np.geomspace(0.4, 1e-12, points))
    exact = case.truth.log_low(_epsilons(points, case))
    return np.unique(np.clip(exact, math.log(EXTREME_DELTAS[-1]), math.log(0.9)))[::-1]


def _epsilons(points: int, case: Case) -> Array:
    """From 0 to just above the largest loss, more densely near both ends; a few only where
    something is at stake.
    """
    if points < PROBES:
        return case.scale * (np.array([0.3, 0.1, 0.6])[:points] if points <= FEW else np.linspace(0.02, 0.9, points))
    small = (PROBES - 2) // 2
    high = np.linspace(0.35, 1.0 - 1e-6, PROBES - 2 - small)
    return case.scale * np.array([0.0, *np.geomspace(0.003, 0.3, small), *high, 1.1])
