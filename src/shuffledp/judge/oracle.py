"""The slow oracle: delta of a design between two ends, by sums over what the analyst may see.

One round, more than two values: the upper end is the privacy blanket's haystack or, where a page
rests on it too, the first-clone swap, whichever is smaller; the lower end is the worst of the
datasets in which all others hold one value. Haystacks are evaluated in ball arithmetic where
python-flint is installed, else summed on a lattice. Two values: every dataset, or blocks of them.
Several rounds: the same curves, composed. A handful of users: every dataset there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from importlib import import_module

import numpy as np

from shuffledp.judge import rounds_delta
from shuffledp.judge.clones import CloneSwap, swap_at_most
from shuffledp.judge.composition import rounds_at_least, rounds_at_most
from shuffledp.judge.effort import FEW_ROUNDS, FEW_USERS, FEW_VALUES, MOST_KNOTS, Effort, TooLarge, TooMuch
from shuffledp.judge.enumeration import binary_dataset, binary_datasets
from shuffledp.judge.fakes import CountedFakes
from shuffledp.judge.lattice import UNIT, Array, haystack_interval
from shuffledp.judge.laws import CountedLaw
from shuffledp.judge.shares import CountedShares
from shuffledp.judge.supports import Classes

GAP, LATTICE_GAP, FAR_GAP, ROUGH_GAP = 8e-5, 2e-4, 1e-2, 0.1
ROUGH_GAPS = (
    0.1,
    1e-2,
    1e-3,
)  # of several haystacks, those that cannot be the largest are left out as soon as that is seen
MOST_REFUSED = 3  # sums that may prove too large: others would be, too
# Knots of the one-round curve: so many per deviation of the loss up to so many, then every third;
# more where they are quick to sum.
PER_DEVIATION, DEVIATIONS, SPARSER, QUICK = 48, 8, 3, 4
FAR = 1e-20
UNKNOWN = (0.0, 1.0)
BESIDE = 3  # of a certificate's points: the upper end of epsilon, and then two that are beside it or below
LARGE_LOSSES = (1.0, 2.5)  # deviations, of losses that matter
ENUMERATED = 1e-7  # relative, and squared absolute: of a sum over all views
NEAR = 1e-17  # delta: below, the loss of one round hardly counts


def _loads(package: str) -> bool:
    """Whether it is installed, and whole."""
    try:
        import_module(package)
    except ImportError:
        return False
    return True


BALLS = _loads("flint")

Tick = Callable[[int, int], None]
Curve = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """Both certified ends of what a certificate's ends claim; 0 and 1 if too large."""

    upper: tuple[Array, Array]
    lower: tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Oracle:
    """``users`` honest users, the target among them, report ``rounds`` times by ``law``."""

    law: CountedLaw
    users: int
    rounds: int
    tick: Tick | None = None
    effort: Effort = field(default_factory=Effort)
    known: dict[tuple[Classes, float, float], tuple[float, float]] = field(default_factory=dict)
    swap: bool = False  # whether the first-clone swap is among the theorems of the page
    swapped: dict[float, float] = field(default_factory=dict)

    @property
    def repeated(self) -> int:
        """The rounds, each as often as its law counts."""
        return self.rounds * (self.law.repeats if isinstance(self.law, CountedFakes) else 1)

    @property
    def how(self) -> str:
        """In words."""
        if isinstance(self.law, CountedShares):
            return "every view, added up, and its distance" + f", {self.rounds} rounds convolved" * (self.rounds > 1)
        if isinstance(self.law, CountedFakes):
            what = "rounds" if self.law.repeats == 1 else "levels of all rounds"
            return "every count of fakes, added up" + f", {self.repeated} {what} convolved" * (self.repeated > 1)
        sums = "ball arithmetic over" if BALLS else "lattice sums of"
        one = "binomial sums over datasets" if self.law.binary else f"{sums} the blanket and explicit datasets"
        one += ", and sums of the first-clone swap" * self.swap
        return one if self.rounds == 1 else f"{one}, {self.rounds} rounds convolved"

    @property
    def how_closely(self) -> str:
        """The same for what matters most."""
        if BALLS and self.swap and self.rounds == 1:
            return "ball arithmetic over the blanket, the first-clone swap and explicit datasets"
        return self.how

    def spans(self, epsilons: Array, closely: int = 0) -> Span:
        """Both ends at every epsilon >= 0; the first ``closely`` of them matter most. Next to the
        ceiling delta is what rounding leaves of a difference: a share of it, or all.
        """
        found, ceiling = self._summed(epsilons, closely), self.repeated * self.law.epsilon0
        moved = 8.0 * UNIT * (1.0 + epsilons)
        share = np.where(epsilons < ceiling, moved / np.maximum(ceiling - epsilons, moved), 0.0)
        lost = np.where(share > 0.01, moved, 0.0)
        ends = [
            (np.maximum(low * (1.0 - share) - lost, 0.0), np.minimum(high * (1.0 + share) + lost, 1.0))
            for low, high in (found.upper, found.lower)
        ]
        return Span(*ends)

    def _summed(self, epsilons: Array, closely: int) -> Span:
        if isinstance(self.law, (CountedFakes, CountedShares)):
            return self._among_fakes(self.law, epsilons)
        ceiling = self.rounds * self.law.epsilon0  # from where on delta is 0
        epsilons = np.minimum(epsilons, ceiling)
        if self.rounds > 1:
            if (exact := self.enumerated(epsilons)) is not None:
                low, high = exact * (1.0 - ENUMERATED) - ENUMERATED**2, exact * (1.0 + ENUMERATED) + ENUMERATED**2
                low, high = np.maximum(low, 0.0), np.where(epsilons < ceiling, high, 0.0)
                return Span((low, high), (low, high))
            return self._composed(epsilons)
        if self.law.binary:
            with suppress(TooLarge):  # then the blanket bounds all datasets, if less sharply
                low, high = (
                    np.where(epsilons < ceiling, end, 0.0)
                    for end in binary_datasets(self._wrong, self.users, epsilons, self.effort.check)[:2]
                )
                return Span((low, high), (low, high))
            some, most = self._largest(self.law.datasets, epsilons), self._largest(self.law.blankets, epsilons)
            return Span((some[0], most[1]), (some[0], most[1]))
        lower = self._largest(self.law.datasets, epsilons)
        blanket = self._largest(self.law.blankets, epsilons)
        if not self.swap:
            return Span(blanket, lower)
        # What no dataset leaks is no contradiction, even if it is below the blanket.
        smaller = np.minimum(blanket[1], self._swaps(epsilons, closely))
        return Span((lower[0], smaller), lower)

    def upper(self, epsilons: Array) -> tuple[Array, Array]:
        """Two ends of what a certificate's upper end claims: half the work."""
        if self.rounds > 1 or self.law.binary or self.swap or isinstance(self.law, (CountedFakes, CountedShares)):
            return self.spans(epsilons).upper
        return self._largest(self.law.blankets, np.minimum(epsilons, self.law.epsilon0))

    def _among_fakes(self, law: CountedFakes | CountedShares, epsilons: Array) -> Span:
        """Among fakes: one pair for both ends, two where true values are randomized."""
        if self.repeated == 1:
            upper, lower = law.spans(self.users, epsilons, self.effort.check)
            return Span((lower[0], upper[1]), (lower[0], upper[1]))
        knots = self._loss_knots(law, float(np.max(epsilons)))
        upper, lower = law.spans(self.users, knots, self.effort.check)
        most = rounds_at_most(knots, upper[1], upper[1], self.repeated, epsilons)
        least = rounds_at_least(knots, lower, lower, self.repeated, epsilons, law.certain)
        if isinstance(law, CountedFakes):
            low, high = law.convolved(self.repeated, epsilons, float(knots[1]))
            least, most = np.maximum(least, low), np.minimum(most, high)
        return Span((least, most), (least, most))

    def _loss_knots(self, law: CountedFakes | CountedShares, farthest: float) -> Array:
        """Multiples of a step of which the likeliest loss is one, too."""
        (_, total), _ = law.spans(self.users, np.zeros(1), self.effort.check)
        per = QUICK * PER_DEVIATION
        deviation = math.sqrt(2.0 * math.pi) * float(total[0])
        unit = law.unit or deviation
        step = unit / math.ceil(max(unit * per / deviation, 1.0))
        near, last = min(DEVIATIONS * deviation, farthest) / step, math.ceil(min(2.0 * farthest, law.farthest) / step)
        dense = np.arange(min(math.ceil(near), last))
        if (size := dense.size + (last - dense.size) // (QUICK * SPARSER)) > MOST_KNOTS:
            raise TooLarge(f"{size} points of one round's curve are needed")
        return step * np.unique(np.concatenate([dense, np.arange(dense.size, last, QUICK * SPARSER), [last]]))

    def _swaps(self, epsilons: Array, closely: int = 0) -> Array:
        """The first-clone swap at every epsilon; 1 if too much work, or if nobody asks."""
        found = np.ones_like(epsilons)
        for place, eps in enumerate(epsilons.tolist()):
            if 1 <= place < min(closely, BESIDE):
                continue
            if eps not in self.swapped:
                self.swapped[eps] = self._swap(eps, place < closely) if eps < self.law.epsilon0 else 0.0
            found[place] = self.swapped[eps]
        return found

    def _swap(self, eps: float, closely: bool) -> float:
        try:
            self.effort.check()
            if BALLS and closely:
                return max(_swap_in_balls(each, self.users, eps) for each in self.law.supports.swaps)
            return max(swap_at_most(each, self.users, eps) for each in self.law.supports.swaps)
        except (TooLarge, TooMuch, OverflowError):
            return 1.0

    def enumerated(self, epsilons: Array) -> Array | None:
        """The exact delta over all datasets of a few people; None if there are too many."""
        if (
            self.law.family != "krr"
            or self.users > FEW_USERS
            or self.law.k > FEW_VALUES
            or self.rounds > (FEW_ROUNDS if self.users * self.law.k <= 12 else 1)
        ):
            return None
        rows = np.full((self.law.k, self.law.k), float(self.law.miss))
        np.fill_diagonal(rows, float(self.law.hit))
        return rounds_delta([rows] * self.rounds, self.users, epsilons)

    @property
    def _wrong(self) -> Fraction:
        return self.law.miss

    def _largest(self, kinds: tuple[Classes, ...], epsilons: Array, *, far: bool = False) -> tuple[Array, Array]:
        """Both ends of the largest of several haystacks; ``far``: rougher where small."""
        found: list[tuple[float, float]] = []
        close = GAP if BALLS or not far else LATTICE_GAP  # a closer one takes a lattice too long
        refused, gap = 0, close
        for done, eps in enumerate(epsilons.tolist()):
            if self.tick is not None:
                self.tick(done, len(epsilons))
            found.append(
                self._larger(kinds, eps, gap) if refused < MOST_REFUSED or eps >= self.law.epsilon0 else UNKNOWN
            )
            refused += found[-1][1] == 1.0
            gap = FAR_GAP if far and found[-1][1] < NEAR else close
        return np.array([low for low, _ in found]), np.array([high for _, high in found])

    def _larger(self, kinds: tuple[Classes, ...], eps: float, gap: float) -> tuple[float, float]:
        """Both ends of the largest at one epsilon; what is too large leaves it open."""
        found = dict.fromkeys(kinds, (0.0, math.inf))
        for step in dict.fromkeys([*(rough for rough in ROUGH_GAPS if rough > gap and len(kinds) > 1), gap]):
            found = {kind: ends if ends == UNKNOWN else self._tried(kind, eps, step) for kind, ends in found.items()}
            best = max(low for low, _ in found.values())
            found = {kind: ends for kind, ends in found.items() if ends[1] >= best}
        return max(low for low, _ in found.values()), max(high for _, high in found.values())

    def _tried(self, kind: Classes, eps: float, gap: float) -> tuple[float, float]:
        try:
            return self._sum(kind, eps, gap)
        except (TooLarge, TooMuch, OverflowError):
            return UNKNOWN

    def _sum(self, kind: Classes, eps: float, gap: float) -> tuple[float, float]:
        if eps >= self.law.epsilon0:
            return 0.0, 0.0
        if (kind, eps, gap) not in self.known:
            self.effort.check()
            hay, there, back = zip(*kind, strict=True)
            found = _in_balls(kind, self.users, eps, gap) if BALLS else UNKNOWN
            if found[1] > found[0] * (1.0 + gap):
                found = haystack_interval(hay, there, back, self.users, eps, gap=gap)
            self.known[kind, eps, gap] = found
        return self.known[kind, eps, gap]

    def _composed(self, epsilons: Array) -> Span:
        """Several rounds: the theorem's curve above, two leaky datasets below."""
        most, pairs = self._curves()
        knots = self._knots(math.sqrt(2.0 * math.pi) * float(most(np.zeros(1))[0]), most)
        upper = most(knots)
        inside = epsilons < self.rounds * self.law.epsilon0
        high = np.where(inside, rounds_at_most(knots, upper, upper, self.rounds, epsilons), 0.0)
        if self.law.binary:  # one dataset is quickly summed, and its losses are few
            step = knots[1] / QUICK
            knots = step * np.unique(np.append(np.arange(QUICK * PER_DEVIATION * DEVIATIONS), np.rint(knots / step)))
        least = []
        for there, back in pairs:  # each in whichever order leaks more
            forth = there(knots)
            turned = forth if back is None else back(knots)
            orders = [(forth, turned), (turned, forth)][: 1 if back is None else 2]
            least += [rounds_at_least(knots, *both, self.rounds, epsilons) for both in orders]
        low = np.where(inside, np.maximum.reduce(least), 0.0)
        return Span((low, high), (low, high))

    def _curves(self) -> tuple[Callable[[Array], Array], list[tuple[Curve, Curve | None]]]:
        """One round: a curve for all pairs; ends of leaky datasets, in unlike orders."""
        if self.law.binary:
            check, p = self.effort.check, self._wrong
            total, _, _, _ = binary_datasets(p, self.users, np.zeros(1), check)
            sizes = [each * math.sqrt(2.0 * math.pi) * total for each in LARGE_LOSSES]
            worst = {binary_datasets(p, self.users, each, check)[3] for each in sizes}  # how many hold 1
            pairs: list[tuple[Curve, Curve | None]] = [
                (
                    partial(binary_dataset, p, self.users - 1 - ones, ones),
                    partial(binary_dataset, p, ones, self.users - 1 - ones),
                )
                for ones in sorted(worst)
            ]
            return lambda e: binary_datasets(p, self.users, e, check)[1], pairs
        typical = math.sqrt(2.0 * math.pi) * max(self._sum(kind, 0.0, ROUGH_GAP)[0] for kind in self.law.blankets)
        best = max(self.law.datasets, key=lambda kind: self._sum(kind, min(typical, 0.9 * self.law.epsilon0), 1e-2)[0])
        turned: Classes = tuple((hay, back, there) for hay, there, back in best)

        def most(epsilons: Array) -> Array:
            blanket = self._largest(self.law.blankets, epsilons, far=True)[1]
            return np.minimum(blanket, self._swaps(epsilons)) if self.swap else blanket

        alike = sorted(turned) == sorted(best)
        back = None if alike else lambda e: self._largest((turned,), e, far=True)
        return most, [(lambda e: self._largest((best,), e, far=True), back)]

    def _knots(self, deviation: float, upper: Callable[[Array], Array]) -> Array:
        """Multiples of one step up to epsilon0, from where on delta is 0: dense where most losses
        are, then sparser, to where delta is next to nothing.
        """
        ceiling = self.law.epsilon0
        dense = math.ceil(PER_DEVIATION * max(ceiling / deviation, 1.0))
        last = near = min(PER_DEVIATION * DEVIATIONS, dense)
        while last < dense and (delta := float(upper(np.array([ceiling * last / dense]))[0])) > FAR:
            last = (
                min(last + PER_DEVIATION, dense) if delta < 1.0 else dense
            )  # too large a sum: the others farther out would be, too
        if last > MOST_KNOTS:
            raise TooLarge(f"{last} points of one round's curve are needed")
        return np.array([ceiling * place / dense for place in [*range(near), *range(near, last, SPARSER), last]])


def _in_balls(kind: Classes, users: int, eps: float, gap: float) -> tuple[float, float]:
    """The same sum in ball arithmetic, with both of its ends."""
    from shuffledp.judge.balls import Needle  # only where python-flint is installed
    from shuffledp.judge.balls.arithmetic import ends, precision

    hay, there, back = zip(*kind, strict=True)
    with precision(128 + 2 * users.bit_length()):
        low, high = ends(Needle.of(hay, there, back, whole=sum(hay) == 1).delta(users, eps, 0.1 * gap))
    return max(low, 0.0), min(high, 1.0)


def _swap_in_balls(swap: CloneSwap, users: int, eps: float) -> float:
    """The first-clone swap in ball arithmetic, from above."""
    from shuffledp.judge.balls import SwappedClone
    from shuffledp.judge.balls.arithmetic import ends, precision

    with precision(128 + 2 * users.bit_length()):
        return min(ends(SwappedClone.of(replace(swap, least=None)).at_most(users, eps))[1], 1.0)
