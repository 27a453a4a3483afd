"""Every published bound against exact answers.

A bound is asked in the direction in which it is stated. It states epsilon: the exact delta at that epsilon must be at most the delta asked for. It
states delta: that must be at least the exact one. A lower bound the other way round, and only where the exact answer is complete.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.bounds import COMPOSITIONS, LITERATURE, Published, Setting, composed
from shuffledp.errors import DoesNotApply
from tests.literature.cases import Case, witness

TOLERANCE = 1e-9  # relative, on delta
EXTREME_DELTAS = (1e-16, 1e-24, 1e-50)
TO_COMPOSE = ("erlingsson-2019", "balle-2019-thm-1", "balle-2019-bennett", "feldman-2020-thm-3.1", "feldman-2020-cor-4.2")
FEW = 3  # points at a time, for bounds that are slow
# Seconds per answer as measured on these cases, for bounds that say less: close to epsilon0 a certified answer takes longer than usual.
MEASURED = {
    "shuffledp-any": 0.2,
    "shuffledp-binary": 0.3,
    "shuffledp-lower": 0.3,
    "balle-2019-blanket-exact": 0.3,
    "shuffledp-strong": 0.3,
    "feldman-2020-clones-exact": 0.15,
    "feldman-2020-thm-3.8-exact": 0.2,
    "local": 0.05,
    "wang-2023-variation-ratio-krr": 0.05,
    "feldman-2020-2rr-lower": 0.02,
    "girgis-2021": 0.02,
}


@dataclass(frozen=True, slots=True)
class Effort:
    """How many points per case and direction, and how many seconds per bound and case on average, by the bound's own estimate.

    A bound that would take longer gets fewer points, and then fewer cases; which ones, a checksum of the names decides.
    """

    points: int
    seconds: float

    def points_for(self, bound: Published, case: Case, setting: Setting) -> int:
        """How many points to try; 0 leaves the case out."""
        estimate = _seconds(bound, setting)
        points = int(max(min(self.points, self.seconds / estimate), min(self.points, FEW))) if estimate > 0.0 else self.points
        drawn = zlib.crc32(f"{bound.name} {case.name}".encode()) / 2**32
        return points if points * estimate * drawn <= self.seconds else 0


QUICK = Effort(points=30, seconds=0.008)
THOROUGH = Effort(points=130, seconds=0.01)


@dataclass(frozen=True, slots=True)
class Tally:
    """What comparisons showed. ``tightest`` is the largest of exact / bound (bound / exact for a lower bound); above 1 the bound fails."""

    comparisons: int = 0
    refused: int = 0
    tightest: float = 0.0
    where: str = ""
    violations: int = 0

    def __add__(self, other: Tally) -> Tally:
        tightest, where = max((self.tightest, self.where), (other.tightest, other.where))
        return Tally(
            self.comparisons + other.comparisons,
            self.refused + other.refused,
            tightest,
            where,
            self.violations + other.violations,
        )


def bounds() -> tuple[Published, ...]:
    """All of the literature, and its bounds for one round carried over to several by general composition."""
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
    """A bound that is slow everywhere: two points at a time in the cheapest cases, until there are as many comparisons as wanted."""
    total = Tally()
    for case in sorted(cases, key=lambda case: _seconds(bound, case.setting)):
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
    answers = list(_answers(bound, case, setting, points))
    found = np.array([answer for answer in answers if answer is not None]).reshape(-1, 2)
    refused = len(answers) - len(found)
    if not len(found):
        return Tally(refused=refused)
    epsilons, deltas = found.T
    exact = case.truth.low(epsilons) if bound.side == "upper" else case.truth.high(epsilons)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = exact / deltas if bound.side == "upper" else deltas / exact
    ratios = np.where((exact == 0.0) & (bound.side == "upper"), 0.0, ratios)
    ratios = np.where(((deltas == 0.0) | (epsilons == 0.0)) & (bound.side == "lower"), 0.0, ratios)  # true of every mechanism
    ratios = np.where(np.isnan(found).any(axis=1) | (found < 0.0).any(axis=1), math.inf, ratios)  # no answer at all is the worst one
    worst = int(np.argmax(ratios))
    where = f"{case.name}, asked of {setting.randomizer}: epsilon {epsilons[worst]:.9g}, delta {deltas[worst]:.9g}, exact {exact[worst]:.9g}"
    return Tally(len(found), refused, float(ratios[worst]), where, int(np.sum(ratios > 1.0 + TOLERANCE)))


def _answers(bound: Published, case: Case, setting: Setting, points: int) -> Iterator[tuple[float, float] | None]:
    """(epsilon, delta) as the bound has them, or None where it does not apply."""
    if bound.epsilon_at is not None:
        for delta in _deltas(points):
            try:
                yield bound.epsilon(setting, delta=delta), delta
            except DoesNotApply:
                yield None
    if bound.delta_at is not None:
        for epsilon in _epsilons(points, case.scale):
            try:
                yield epsilon, bound.delta(setting, epsilon=epsilon)
            except DoesNotApply:
                yield None


def _deltas(points: int) -> Sequence[float]:
    usual = np.geomspace(0.4, 1e-12, max(points - len(EXTREME_DELTAS), 2)).tolist() if points > 1 else [1e-3]
    return [*usual, *EXTREME_DELTAS][:points]


def _epsilons(points: int, scale: float) -> Sequence[float]:
    """From 0 to just above the largest loss, more densely near both ends."""
    if points <= 2:
        return [0.3 * scale, 0.1 * scale][:points]
    small = (points - 2) // 2
    shares = [0.0, *np.geomspace(0.003, 0.3, small).tolist(), *np.linspace(0.35, 1.0 - 1e-6, points - 2 - small).tolist(), 1.1]
    return [share * scale for share in shares]
