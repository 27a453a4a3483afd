"""The unknown of a plan: largest epsilon0, smallest n or most rounds for a target."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache, partial
from typing import Self

import numpy as np
from scipy.special import gammaln

from shuffledp._types import Adversary, View
from shuffledp.accounting.accuracy import DIGITS, MARGIN, MOST_PLANNED, SOLVE_GAP
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.inversion import halve, mean
from shuffledp.accounting.shuffled import shuffle
from shuffledp.errors import (
    MOST_ROUNDS,
    CertificateError,
    InvalidInput,
    check_epsilon,
    check_probability,
    check_promised,
    check_rounds,
    check_users,
)
from shuffledp.randomizers.gaussian_delta import gaussian_delta_roughly
from shuffledp.randomizers.randomizer import BY_EPSILON0, Randomizer, Strength

FIGURES = 5  # of a real unknown
TYPICAL = 1.5  # the loss of the common randomizers is one to two times what their scale below says
NEARBY = 0.05  # so near to each other on the scale, two candidates tell the slope well
SWITCHES, AHEAD = 3, 1.1  # where else to look in families that choose sizes by epsilon0
SURE = 1.0 - 1e-12  # of delta: what floats lose of a sum of probabilities
STALLED = 3  # steps that do not halve what is left, before it is halved


@dataclass(frozen=True, repr=False)
class Calibration:
    """The answer to ``calibrate``: ``value`` of the ``unknown``, its plan, and the target."""

    unknown: str
    value: float
    guarantee: Guarantee
    target: float
    delta: float

    @cached_property
    def epsilon(self) -> float:
        """The epsilon that the plan gives at ``delta``, at most the target."""
        return min(self.guarantee.epsilon_at_most(delta=self.delta), self.target)

    def __repr__(self) -> str:
        """The unknown and its value, the plan that uses it, and the target.

        >>> from shuffledp import KRR
        >>> calibrate(KRR(k=16, epsilon0=4.0), n=10_000, rounds=None, epsilon=1.0, delta=1e-6)
        Calibration(rounds=6, guarantee=shuffle(KRR(k=16, epsilon0=4.0), n=10000).compose(6),
        target=1.0, delta=1e-06)
        """
        value = f"{self.unknown}={self.value!r}"
        return f"Calibration({value}, guarantee={self.guarantee!r}, target={self.target!r}, delta={self.delta!r})"

    def __float__(self) -> float:
        """The value itself."""
        return float(self.value)


def calibrate(
    family: Callable[..., Randomizer] | Randomizer,
    *,
    epsilon: float,
    delta: float,
    n: int | None = None,
    rounds: int | None = 1,
    adversary: Adversary = "shuffled",
    honest_share: float = 1.0,
    view: View = "reports",
    **parameters: object,
) -> Calibration:
    """Solve for what is left open, so that the *upper* end of the guarantee meets (epsilon, delta).

    A family such as ``KRR`` leaves epsilon0 open (``Gaussian``: sigma). With a randomizer such as
    ``KRR(k=16, epsilon0=4.0)``, leave out n for the smallest number of users, or pass rounds=None
    for the most rounds. The answer is checked before it is returned. ``adversary`` and ``view`` are
    those of ``shuffle``.

    >>> from shuffledp import KRR
    >>> plan = calibrate(KRR, k=16, n=10_000, epsilon=1.0, delta=1e-6)
    >>> plan.unknown, round(plan.value, 2), plan.epsilon <= 1.0
    ('epsilon0', 5.53, True)
    >>> calibrate(KRR(k=16, epsilon0=4.0), epsilon=1.0, delta=1e-6).unknown
    'n'
    """
    target, delta = check_epsilon(epsilon), check_promised(delta)
    if target == 0.0:
        raise InvalidInput("epsilon must be positive to calibrate for, got 0.0. Allow a little loss.")

    honest_share = check_probability(
        "honest_share",
        honest_share,
        one=True,
        remedy="It is the share of the people who follow the protocol; 1 means all.",
    )

    def plan(randomizer: Randomizer, users: int, times: int) -> Guarantee:
        return one_round(randomizer, users).compose(times)

    def one_round(randomizer: Randomizer, users: int) -> Guarantee:
        honest = max(1, math.floor(users * honest_share))
        return shuffle(randomizer, n=users, adversary=adversary, honest=honest, view=view)

    missing = {"epsilon0": not isinstance(family, Randomizer), "n": n is None, "rounds": rounds is None}
    open_ones = [name for name in missing if missing[name]]
    if len(open_ones) != 1:
        found = " and ".join(open_ones) if open_ones else "none"
        raise InvalidInput(
            f"exactly one of epsilon0, n and rounds must be left open, got {found}. For rounds, say rounds=None."
        )
    if rounds is not None:
        rounds = check_rounds(rounds)
    if n is not None:
        n, _ = check_users(n)
    if isinstance(family, Randomizer):
        if parameters:
            raise InvalidInput(
                f"{', '.join(parameters)} must not be given with a randomizer, got {parameters!r}. Build it with these."
            )
        if rounds is None:
            assert n is not None
            once = one_round(family, n)
            return Search(ROUNDS, lambda times: once.compose(int(times)), target, delta).answer(1.0)
        users = rounds * math.exp(2.0 * min(_loss(family), 99.0)) * (TYPICAL / deviation(target, delta)) ** 2
        return Search(USERS, lambda users: plan(family, int(users), rounds), target, delta).answer(users)
    assert n is not None
    assert rounds is not None
    scale = Scale.of(getattr(family, "strength", BY_EPSILON0))
    name = scale.name

    def build(value: float) -> Guarantee:
        try:
            return plan(family(**parameters, **{name: value}), n, rounds)
        except TypeError as error:
            raise InvalidInput(
                f"the family must accept {name} and {', '.join(parameters) or 'no more'}, got {error}. Pass the others."
            ) from None

    def sizes(value: float) -> tuple[int, ...]:
        return family(**parameters, **{name: value}).sizes

    start = scale.value(math.log(deviation(target, delta) * math.sqrt(max(1.0, n * honest_share) / rounds) / TYPICAL))
    alone = target / rounds  # so much is always allowed
    return Search(scale, build, target, delta, sizes).answer(max(start, alone) if name == "epsilon0" else start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale(Strength):
    """An unknown, and where it can lie, on a scale of its loss: there the curve to be searched is
    nearly a straight line of slope 1, wherever the search begins.
    """

    whole: bool = False
    remedy: str = "Use more people, fewer rounds, or relax the target."

    @classmethod
    def of(cls, strength: Strength) -> Self:
        """The scale of a randomizer's own parameter."""
        return cls(**{each.name: getattr(strength, each.name) for each in fields(strength)})

    def unit(self, value: float) -> float:
        """How far apart the candidates are: whole numbers, or numbers of five digits."""
        return 1.0 if self.whole else 10.0 ** (math.floor(math.log10(value)) - FIGURES + 1)

    def candidate(self, loss: float, *, risky: bool) -> float:
        """The candidate next to a place on the scale, to its safe or to its risky side."""
        low, high = sorted((self.safe, self.risky))
        value = min(max(self.value(loss), low), high)
        unit, up = self.unit(value), risky == (self.risky > self.safe)
        counted = math.ceil(value / unit - 1e-6) if up else math.floor(value / unit + 1e-6)
        return min(max(round(counted * unit, 12), low), high)

    def resolution(self, value: float) -> float:
        """How near, on the scale, two candidates may come to be as good as one."""
        apart = 1.0 if self.whole else max(self.unit(value), DIGITS / 2.0 * value)
        return abs(self.loss(value + apart) - self.loss(value))

    def closed(self, good: float, bad: float) -> bool:
        """Whether nothing worth the effort lies between."""
        least = min(good, bad)
        return abs(good - bad) <= max(1.001 * self.unit(least), 0.0 if self.whole else DIGITS / 2.0 * least)


USERS = Scale(
    name="n",
    safe=float(MOST_PLANNED),
    risky=1.0,
    loss=lambda n: -0.5 * math.log(n),
    value=lambda loss: math.exp(min(-2.0 * loss, 99.0)),
    whole=True,
    remedy="Use a smaller epsilon0 or fewer rounds.",
)
ROUNDS = Scale(
    name="rounds",
    safe=1.0,
    risky=float(MOST_ROUNDS),
    loss=lambda rounds: 0.5 * math.log(rounds),
    value=lambda loss: math.exp(min(2.0 * loss, 99.0)),
    whole=True,
    remedy="Use more people or a smaller epsilon0.",
)


@dataclass
class Search:
    """The last candidate that meets the target, from the safe end of a scale to the risky one.

    Every candidate is judged by the upper end of delta alone, to more digits than the answer has;
    the last one again at full accuracy. What it misses the target by is read as a Gaussian
    mechanism's, on the scale of the unknown: secant steps on that line need about four candidates
    where halving needed twenty.
    """

    scale: Scale
    build: Callable[[float], Guarantee]
    epsilon: float
    delta: float
    sizes: Callable[[float], tuple[int, ...]] | None = None
    good: float | None = None
    bad: float | None = None
    found: Guarantee | None = None
    judged: int = 0
    misses: list[tuple[float, float]] = field(default_factory=list)  # place on the scale, and the excess there

    def answer(self, start: float) -> Calibration:
        """Search from ``start``; again where the family chooses another size and allows more."""
        self._search(self.scale.candidate(self.scale.loss(start), risky=False))
        for value in self._switches():
            best, self.bad = self.good, None
            self._judge(value)
            if self.good != best:
                self.misses, self.judged = self.misses[-1:], 1  # another curve begins here
                self._search(value)
        assert self.good is not None
        assert self.found is not None
        if not self.found.delta_at_most(epsilon=self.epsilon) <= self.delta:
            raise CertificateError(
                f"calibration of {self.scale.name} failed its own check at {self.good}. Please report this bug."
            )
        return Calibration(
            self.scale.name, int(self.good) if self.scale.whole else self.good, self.found, self.epsilon, self.delta
        )

    def _search(self, value: float) -> None:
        """Come from ``value`` to a candidate that is good and whose neighbor is not."""
        scale, widths = self.scale, list[float]()
        while True:
            if value != self.good:
                self._judge(value)
            if self.good == scale.risky or self._close_enough():
                return
            if self.bad == scale.safe:
                low, high = sorted((scale.safe, scale.risky))
                raise InvalidInput(
                    f"no {scale.name} from {low:g} to {high:g} meets epsilon = {self.epsilon:g} at delta = "
                    f"{self.delta:g}, got a larger epsilon. {scale.remedy}"
                )
            if self.good is None or self.bad is None:
                value = self._beyond()
                continue
            if scale.closed(self.good, self.bad):
                return
            widths.append(abs(scale.loss(self.good) - scale.loss(self.bad)))
            stalled = len(widths) > STALLED and widths[-1] > 0.5 * widths[-1 - STALLED]
            value = self._between(halve=stalled)
            if stalled:
                widths.clear()

    def _close_enough(self) -> bool:
        """Whether the last candidate was good and the next is not, by the line of the last two."""
        root = self._root() if len(self.misses) > 1 else None
        if self.good is None or root is None or self.scale.whole or self.misses[-1][0] != self.scale.loss(self.good):
            return False
        (place, _), (before, _) = self.misses[-1], self.misses[-2]
        return abs(place - before) < NEARBY and root[0] - place < self.scale.resolution(self.good)

    def _switches(self) -> Iterator[float]:
        """Where the family next chooses other sizes: it may leak less there than before."""
        if (sizes := self.sizes) is None or self.good is None:
            return

        def nearest(low: float, high: float) -> float:
            return self.scale.candidate(self.scale.loss(mean(low, high)), risky=False)

        low, far = self.good, min(AHEAD * self.good, self.scale.risky)
        for _ in range(SWITCHES):
            before = sizes(low)
            if self.scale.risky < self.scale.safe or sizes(far) == before:
                return
            same = partial(lambda known, value: sizes(value) == known, before)
            _, low = halve(same, low, far, middle=nearest, close=self.scale.closed)
            yield low

    def _judge(self, value: float) -> None:
        self.judged += 1
        guarantee = self.build(value)
        delta = guarantee.delta_at_most(epsilon=self.epsilon * (1.0 - MARGIN), gap=SOLVE_GAP)
        if delta <= self.delta:
            self.good, self.found = value, guarantee
        else:  # NaN, too
            self.bad = value
        if 0.0 < delta < 1.0:
            self.misses.append(
                (self.scale.loss(value), math.log(deviation(self.epsilon, delta) / deviation(self.epsilon, self.delta)))
            )

    def _root(self) -> tuple[float, float] | None:
        """Where the line through the last two excesses (or of slope 1) is 0; and its slope."""
        if not self.misses:
            return None
        (place, excess), before = self.misses[-1], self.misses[-2:-1]
        slope = 1.0
        if before and before[0][0] != place:
            slope = max((excess - before[0][1]) / (place - before[0][0]), 0.2)
        return place - excess / slope, slope

    def _beyond(self) -> float:
        """A candidate on the other side of the root, as long as only one side is known."""
        risky = self.bad is None
        known = self.good if self.bad is None else self.bad
        assert known is not None
        here, root = self.scale.loss(known), self._root()
        far = 0.25 * 2.0**self.judged if root is None else self.scale.resolution(known) * 4.0**self.judged / 8.0
        place = here if root is None else root[0]
        place = max(place, here) + far if risky else min(place, here) - far
        return self._apart(self.scale.candidate(place, risky=risky), known, risky=risky)

    def _apart(self, value: float, known: float, *, risky: bool) -> float:
        """``value``, or if that is ``known`` itself its neighbor."""
        if value != known:
            return value
        up = risky == (self.scale.risky > self.scale.safe)
        return round(known + (1.0 if up else -1.0) * self.scale.unit(known), 12)

    def _between(self, *, halve: bool) -> float:
        """A candidate between the two sides: near the root, on the side of which less is known."""
        assert self.good is not None
        assert self.bad is not None
        scale, root = self.scale, self._root()
        low, high = scale.loss(self.good), scale.loss(self.bad)
        place, risky = 0.5 * (low + high), False
        if root is not None and not halve and low < root[0] < high:
            risky = root[0] - low < high - root[0]
            risky = risky and scale.whole  # a real unknown is done once it is close on the good side
            nudge = 0.3 * scale.resolution(self.good)
            place = root[0] + nudge if risky else root[0] - nudge
        value = scale.candidate(place, risky=risky)
        if not min(self.good, self.bad) < value < max(self.good, self.bad):
            value = scale.candidate(scale.loss(0.5 * (self.good + self.bad)), risky=risky)
        return value


def _loss(randomizer: Randomizer) -> float:
    """A first guess at how much one report loses, on the scale of its parameter."""
    scale = randomizer.strength
    low, high = sorted((scale.safe, scale.risky))
    return scale.loss(min(max(getattr(randomizer, scale.name), low), high))


def deviation(epsilon: float, delta: float) -> float:
    """The mu of the Gaussian mechanism at (epsilon, delta): a guess, and a unit."""

    def fits(log_mu: float) -> bool:
        return gaussian_delta_roughly(math.exp(log_mu), epsilon) <= delta

    return math.exp(mean(*halve(fits, -40.0, 10.0, middle=mean, steps=60)))


@lru_cache(maxsize=256)
def loss_of_each(moved: int, epsilon: float, delta: float) -> float:
    """The largest a such that ``moved`` counts, each moved by 1 and with noise of ratio e^-a, are
    (epsilon, delta)-DP: the loss of each is a or -a, as that of randomized response, which no
    other mechanism of a pure a exceeds (Kairouz, Oh and Viswanath 2015).
    """
    up = np.arange(moved + 1.0)
    ways = gammaln(moved + 1.0) - gammaln(up + 1.0) - gammaln(moved - up + 1.0)

    def keeps(a: float) -> bool:
        chances = np.exp(ways - (moved - up) * a - moved * math.log1p(math.exp(-a)))
        return float(chances @ -np.expm1(np.minimum(epsilon - (2.0 * up - moved) * a, 0.0))) <= SURE * delta

    low, high = epsilon / moved, 2.0 * epsilon + 1.0
    while keeps(high):
        low, high = high, 2.0 * high
    return halve(keeps, low, high, middle=mean)[0]
