"""The privacy of one pass of Gaussian reports over permuted data, and of its rivals: no
amplification, and sampling with replacement.

Every user's vector lies in a ball of diameter D, and the report adds N(0, (noise D)^2) to every
coordinate. What is asked about the vector may depend on all reports before. ``flaw`` is a bound on
the total variation distance between the noise that runs and the Gaussian; it adds (1 + e^epsilon0)
flaw to delta0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DIGITS, MARGIN, ROUGH_GAP
from shuffledp.accounting.bisection import geometric, halve, mean, within
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.mechanism import Shuffled, shuffle
from shuffledp.accounting.pld import Composition, pessimistic
from shuffledp.errors import LARGEST_EPSILON, InvalidInput, check_delta, check_epsilon, check_promised, check_users
from shuffledp.protocols.baselines import analytic_gaussian as gaussian
from shuffledp.randomizers import AnyLDP
from shuffledp.randomizers.parameters import LARGEST_EPSILON0

__all__ = ["OnePass", "calibrated", "despite", "least_noise", "local_epsilon", "one_pass", "sampled_epsilon"]

LOCAL = "analytic Gaussian mechanism (Balle and Wang 2018, Thm 8), without amplification"
TINY = 1e-290
LEAST_EPSILON0, MOST_EPSILON0 = 1e-6, 32.0
FARTHEST, RUNGS = 38.0, 12
GOLDEN, SECTIONS = (math.sqrt(5.0) - 1.0) / 2.0, 12
NOISES = (0.05, 1e6)
RARE = 1e-14  # sampling with replacement: losses this rare in one step are counted as infinite
FINE, POINTS, STRETCH = 25, 1 << 20, 0.01


@dataclass(frozen=True, slots=True)
class OnePass:
    """What is certified of a training at ``delta``: the smaller of two upper ends, and how it was
    reached.

    ``epsilon`` is at most ``local``, the Gaussian mechanism's own epsilon. ``local_point`` is the
    (epsilon0, delta0) on the report's curve that gives the least epsilon by Feldman et al. 2020,
    Thm 3.8 with the numerical clones curve, and ``guarantee`` the answer for it; None if
    ``epsilon`` needs none. Of allocated data the ``guarantee`` is that of random allocation.
    """

    epsilon: float
    delta: float
    local: float
    guarantee: Guarantee | None = None

    @property
    def local_point(self) -> tuple[float, float] | None:
        """The (epsilon0, delta0) in use."""
        report = self.guarantee.randomizer if isinstance(self.guarantee, Shuffled) else None
        return (report.epsilon0, report.delta0) if isinstance(report, AnyLDP) else None

    @property
    def method(self) -> str:
        """The theorem behind ``epsilon``."""
        if self.guarantee is not None and self.epsilon < self.local:
            return self.guarantee.method
        return LOCAL


def one_pass(*, noise: float, n: int, delta: float, flaw: float = 0.0, hint: float | None = None) -> OnePass:
    """The certified epsilon of one pass over ``n`` users at ``delta``; ``hint`` is an epsilon that
    the search looks at in any case.

    >>> answer = one_pass(noise=2.0, n=20_000, delta=1e-6)
    >>> round(answer.epsilon, 2), round(answer.local, 2), round(answer.local_point[0], 1)
    (0.27, 2.25, 3.3)
    """
    n, _ = check_users(n)
    delta = check_delta(delta)

    local = local_epsilon(noise=noise, delta=delta, flaw=flaw)
    if local == 0.0:
        return OnePass(0.0, delta, 0.0)  # the noise of one report is enough for delta alone
    search = _Search(noise, n, flaw)
    report = search.report(search.first(delta, min(local, LARGEST_EPSILON0), hint))
    guarantee = shuffle(report, n=n)
    return OnePass(min(guarantee.epsilon_at_most(delta=delta), local), delta, local, guarantee)


def calibrated(*, n: int, epsilon: float, delta: float, flaw: float = 0.0) -> float:
    """The least noise, to four digits, whose one pass is (epsilon, delta)-DP.

    >>> 1.5 < calibrated(n=20_000, epsilon=0.5, delta=1e-6) < 1.6
    True
    """
    n, _ = check_users(n)
    epsilon, delta = check_epsilon(epsilon), check_promised(delta)

    def fits(noise: float) -> bool:
        if local_epsilon(noise=noise, delta=delta, flaw=flaw) <= epsilon:
            return True
        search = _Search(noise, n, flaw)
        epsilon0, least = search.best_at(epsilon)
        return (
            least <= 2.0 * delta
            and shuffle(search.report(epsilon0), n=n).delta_at_most(epsilon=epsilon * (1.0 - MARGIN)) <= delta
        )

    return least_noise(fits)


def least_noise(fits: Callable[[float], bool]) -> float:
    """The least noise that fits, to four digits, given that more noise does."""
    bad, good = NOISES
    if not fits(good):
        raise InvalidInput(
            f"noise of at most {good:g} must meet the target, got one that needs more. Relax epsilon or delta."
        )
    if fits(bad):
        return bad
    least, _ = halve(fits, good, bad, middle=geometric, close=within(DIGITS))
    return least


def local_epsilon(*, noise: float, delta: float, flaw: float = 0.0) -> float:
    """What one report alone gives, so what the pass gives without amplification: every user is used
    once.

    >>> round(local_epsilon(noise=2.0, delta=1e-6), 4)
    2.2541
    """
    return despite(flaw, delta, lambda left: gaussian.epsilon(sigma=noise, delta=left))


def sampled_epsilon(*, noise: float, n: int, delta: float, flaw: float = 0.0) -> float:
    """For comparison: n steps, each on a user drawn uniformly at random, with replacement. Some
    users are used often, and others never.

    One step satisfies delta'(epsilon') = delta(epsilon) / n at e^epsilon' = 1 + (e^epsilon - 1) / n
    (Balle, Barthe and Gaboardi 2018, Thm 9, replace-one), and the steps compose as privacy loss
    distributions.

    >>> 0.013 < sampled_epsilon(noise=2.0, n=20_000, delta=1e-6) < 0.015
    True
    """
    n, _ = check_users(n)
    return despite(n * flaw, check_delta(delta), lambda left: _sampled(noise, n, left))


def despite(flaw: float, delta: float, epsilon_at: Callable[[float], float]) -> float:
    """The epsilon at ``delta`` of what is within ``flaw`` in total variation of a mechanism whose
    epsilon is known: delta grows by (1 + e^epsilon) flaw.
    """
    spent = 0.0
    for _ in range(8):
        epsilon = epsilon_at(delta - spent)
        needed = (1.0 + math.exp(min(epsilon, LARGEST_EPSILON))) * flaw
        if needed <= spent:
            return epsilon
        spent = 1.5 * needed
        if spent >= delta / 2.0:
            break
    return math.inf


def _sampled(noise: float, n: int, delta: float) -> float:
    def curve(epsilons: Floats) -> Floats:
        inner = np.minimum(np.log1p(n * np.expm1(epsilons)), 690.0)
        return np.array([gaussian.delta(sigma=noise, epsilon=float(each)) / n for each in inner])

    far = math.log1p(math.expm1(gaussian.epsilon(sigma=noise, delta=RARE * delta)) / n)
    typical = float(curve(np.zeros(1))[0])
    spacing = max(typical / FINE, 16.0 * math.sqrt(n) * typical / POINTS)
    reach = min(16.0 * typical, far)
    fine = np.arange(math.ceil(reach / spacing) + 2.0)
    knots = np.unique(
        np.concatenate(
            [fine, np.ceil(np.geomspace(reach, far, 2 + math.ceil(math.log(far / reach) / STRETCH)) / spacing)]
        )
    )
    return Composition([(pessimistic(curve, knots, spacing), n)]).epsilon(delta, "upper")


@dataclass(frozen=True, slots=True)
class _Search:
    """Thm 3.8 at every point of the report's curve: a rough look, to find the best point. Any point
    is valid, a good one is close.
    """

    noise: float
    n: int
    flaw: float

    def best_at(self, epsilon: float) -> tuple[float, float]:
        """About the epsilon0 whose delta at ``epsilon`` is least, and that delta.

        In epsilon0 the clones' part rises and the leak falls. Where they meet, their sum is at most
        twice its least; a few steps around find that.
        """

        def leaks(t: float) -> bool:
            clones, leak = self._parts(t, epsilon)
            return clones < leak

        low, high = halve(leaks, 0.0, FARTHEST, middle=mean, steps=8)
        width = 0.5
        for _ in range(2):
            tried = [
                (sum(self._parts(t, epsilon)), t) for t in np.linspace(max(low - width, 0.0), high + width, 7).tolist()
            ]
            least, low = min(tried)
            high, width = low, width / 4.0
        t = low
        return self._epsilon0(t), least

    def first(self, delta: float, most: float, hint: float | None) -> float:
        """About the epsilon0 with the smallest epsilon at ``delta``, among those up to ``most``.

        The least delta falls with epsilon, and rises again as the leak grows with e^epsilon: what
        is below ``delta`` may lie between two rungs.
        """
        ladder = sorted({*np.geomspace(1e-3 * most, most, RUNGS).tolist(), most if hint is None else min(hint, most)})
        tried: list[tuple[float, float, float]] = []  # least delta, epsilon, epsilon0
        for rung in ladder:
            tried.append(self._tried(rung))
            if tried[-1][0] <= delta:
                break
        place = len(tried) - 1 if tried[-1][0] <= delta else tried.index(min(tried))
        below = tried[place - 1][1] if place else 0.0
        least, above, epsilon0 = tried[place]
        if least > delta:
            least, above, epsilon0 = min(
                tried[place], self._lowest(max(below, 1e-3 * above), ladder[min(place + 1, len(ladder) - 1)], delta)
            )
        if least > delta:
            return epsilon0  # as good as any; what it gives is for the certificate to say
        best = {above: epsilon0}

        def meets(epsilon: float) -> bool:
            best[epsilon], least = self.best_at(epsilon)
            return least <= delta

        above, _ = halve(meets, above, below, middle=mean, close=lambda above, below: above - below <= DIGITS * above)
        return best[above]

    def _tried(self, epsilon: float) -> tuple[float, float, float]:
        epsilon0, least = self.best_at(epsilon)
        return least, epsilon, epsilon0

    def _lowest(self, low: float, high: float, delta: float) -> tuple[float, float, float]:
        """The least delta between two epsilons, its epsilon and epsilon0, by golden sections of the
        logarithm; the first that is at most ``delta`` will do.
        """
        left, right = (self._tried(high * (low / high) ** part) for part in (GOLDEN, 1.0 - GOLDEN))
        for _ in range(SECTIONS):
            if min(left, right)[0] <= delta:
                break
            if left < right:
                high, right = right[1], left
                left = self._tried(high * (low / high) ** GOLDEN)
            else:
                low, left = left[1], right
                right = self._tried(high * (low / high) ** (1.0 - GOLDEN))
        return min(left, right)

    def report(self, epsilon0: float) -> AnyLDP:
        """What is known of one report at this point of its curve."""
        delta0 = (
            max(gaussian.delta(sigma=self.noise, epsilon=epsilon0) * (1.0 + gaussian.SLACK), TINY)
            + (1.0 + math.exp(epsilon0)) * self.flaw
        )
        return AnyLDP(epsilon0=epsilon0, delta0=min(delta0, 1.0 - 1e-9))

    def _parts(self, t: float, epsilon: float) -> tuple[float, float]:
        report = self.report(self._epsilon0(t))
        clones = float(Haystack.of(report.clones(), self.n).bounds(np.array([epsilon]), ROUGH_GAP)[1][0])
        return clones, (math.exp(epsilon) + 1.0) * (1.0 + 0.5 * math.exp(-report.epsilon0)) * self.n * report.delta0

    def _epsilon0(self, t: float) -> float:
        """The Gaussian's loss t deviations above its mean."""
        return min(max(0.5 / self.noise**2 + t / self.noise, LEAST_EPSILON0), MOST_EPSILON0)
