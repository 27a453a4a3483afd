"""The privacy of passes over data: of Gaussian reports over permuted data, of its rivals (no
amplification, and sampling with replacement), and of epochs of random allocation.

Every user's vector lies in a ball around 0 of diameter D, and the report adds N(0, (noise D)^2) to
every coordinate. What is asked about the vector may depend on all reports before. ``flaw`` is a
bound on the total variation distance between one report's noise as it runs and the Gaussian.

In an epoch of random allocation steps get their noise from a trusted trainer, and what the noise
that runs adds to the guarantee is counted.

*One pass over secretly permuted data, a Gaussian report of every user: a round.*

A report is N(g, sigma^2 I); g, of length at most L, depends on one user's data and on all reports
before. Let rho = N(0, sigma^2 I). Up to a ``spill``, every report is rho with probability gamma. So
the target hides in a haystack, with hay rho, gamma of it from every user (docs/theory.md, "Passes
over permuted data"):

    delta(eps) = 1/(gamma n) E(sum over Bin(n, gamma) draws from rho of u - e^eps v)_+,
    log u = a W - a^2/2, log v = -a W - a^2/2, W ~ N(0, 1), a = L/sigma.

Opposite vectors of length L are the worst that the target can have. The spills of all others, times
1 + e^eps, are added to delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from shuffledp._types import Floats
from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.accounting.accuracy import DIGITS, MARGIN
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.inversion import geometric, halve, mean, within
from shuffledp.accounting.pld import Composition, pessimistic
from shuffledp.accounting.reductions import Reduction, Theorem
from shuffledp.accounting.rounds import Round
from shuffledp.errors import (
    LARGEST_EPSILON,
    InvalidInput,
    check_delta,
    check_epsilon,
    check_positive,
    check_promised,
    check_users,
)
from shuffledp.randomizers.gaussian_delta import SLACK, gaussian_delta
from shuffledp.randomizers.randomizer import Atoms
from shuffledp.training import RandomAllocation
from shuffledp.training.allocation import check_epochs
from shuffledp.training.step_pairs import GRID, LEAST, NODES, normal_cells, normal_masses, normal_ratio

METHOD = "Gaussian reports over a secret order as a needle in a haystack (docs/theory.md)"
MODEL = (
    "replace-one adjacency: neighboring datasets differ in one person's data",
    "the parties that see the reports do not know the order of people, drawn uniformly at random for every pass",
    "every report is a vector in a ball around 0 plus fresh Gaussian noise; the vector may depend on one person's data "
    "and on all earlier reports",
)
CELL, LOG_CELL, WIDER = 1.0 / 16.0, 1.0 / 16.0, 4.0  # in deviations, and in log u; and far out
USUAL, FARTHEST, MOST_CELLS = 7.0, 17.0, 400


def spill(noise: float, gamma: float) -> float:
    """How far a report is from one that is rho with probability ``gamma``, in total variation;
    rounded up. ``noise`` is sigma / (2 L).

    >>> spill(2.0, 0.2) < 1e-11 < spill(2.0, 0.25)
    True
    """
    return gamma * gaussian_delta(2.0 * noise, -math.log(gamma)) * (1.0 + 2.0 * SLACK) + LEAST


@dataclass(frozen=True, eq=False, repr=False)
class PermutedPass(Round):
    """``n`` reports, others' rho with probability ``gamma``; ``noise`` is sigma / (2 L)."""

    noise: float
    n: int
    gamma: float

    @property
    def key(self) -> Hashable:
        return self.noise, self.n, self.gamma

    def describe(self) -> str:
        return f"one pass over {self.n:,} permuted reports; Gaussian noise, {self.noise:.6g} times the sensitivity"

    @cached_property
    def reduction(self) -> Reduction:
        """Both ends: the haystack, and all others with vectors of length 0."""
        a = 0.5 / self.noise
        above, below = (Haystack.of(atoms, self.n) for atoms in (_spread(a, self.gamma), _merged(a)))
        return Reduction((Theorem(METHOD, (above,)),), MODEL, (below,), math.inf)


def _merged(a: float) -> Atoms:
    one, middle, other = normal_cells(math.nextafter(a, 0.0), (0.0, 1.0, 2.0))
    return Atoms("all others' vectors are 0", middle, one, other)


def _spread(a: float, gamma: float) -> Atoms:
    """Cells of W, each spread to corners of its values (u, v), preserving the means of both.

    From W at a distance h into a cell of length w, u goes to its value at the far border with
    probability p = (e^(ah) - 1)/(e^(aw) - 1), and v with the larger one q = (1 - e^(-ah))/(1 -
    e^(-aw)): together with p, neither with 1 - q, and v alone with q - p = 2 sinh(a(w-h)/2)
    sinh(ah/2)/sinh(aw/2). Beyond the last border v is spread to 0 and the border, and u counts as
    seen, which is a little more than it leaves.
    """
    a = math.nextafter(a, math.inf)
    z = _borders(a)
    width, masses = np.diff(z), normal_masses(z)
    into = 0.5 * a * np.outer(width, NODES)
    left = 0.5 * a * width[:, None] - into
    whole = np.sinh(into + left)
    both = (masses * np.exp(-left) * np.sinh(into) / whole).sum(axis=1)
    neither = (masses * np.exp(-into) * np.sinh(left) / whole).sum(axis=1)
    between = (masses * 2.0 * np.sinh(left) * np.sinh(into) / whole).sum(axis=1)
    u, v = normal_ratio(a, z), normal_ratio(-a, z)
    beyond, carried = float(ndtr(-z[-1])), float(ndtr(-a - z[-1])) / v[-1]
    at_borders = np.append(neither, carried) + np.insert(both, 0, 0.0)
    lone = max(beyond - carried, 0.0)
    hay = gamma * np.concatenate([at_borders, between, [lone, 0.0]])
    rising = np.concatenate([at_borders * u, between * u[:-1], [lone * u[-1], ndtr(a - z[-1])]])
    falling = np.concatenate([at_borders * v, between * v[1:], [0.0, 0.0]])
    return Atoms("haystack", np.tile(hay, 2), np.concatenate([rising, falling]), np.concatenate([falling, rising]))


def _borders(a: float) -> Floats:
    """From 0 up: equal cells to where u has most of its mass, and wider ones from there."""
    step = max(min(CELL, LOG_CELL / a), (USUAL + a) / MOST_CELLS)
    step = GRID * max(math.floor(step / GRID), 1)
    near = step * np.arange(math.ceil((USUAL + a) / step) + 1)
    return np.append(near, near[-1] + WIDER * step * np.arange(1, math.ceil((FARTHEST - USUAL) / WIDER / step) + 1))


LOCAL = "analytic Gaussian mechanism (Balle and Wang 2018, Thm 8), without amplification"
FIRST, ROOM, TRIES = 1.0, 1.3, 20  # the epsilon to try first, and what to try if it is exceeded
WORTH = 0.85  # spills so much lighter are worth another try
NOISES = (0.05, 1e6)
NOISE = "It is sigma / sensitivity; 0.5 to 10 is usual."
RARE, RAREST = 1e-2, 1e-14  # of delta, sampling with replacement: losses this rare are counted as infinite
FINE, POINTS, STRETCH = (25.0, 2.5, 0.25), 1 << 20, 0.01


def check_noise(value: object) -> float:
    """Return ``value`` as the deviation of noise, in units of the sensitivity."""
    return check_positive("noise", value, remedy=NOISE)


@dataclass(frozen=True, slots=True)
class Account:
    """What is certified of a training at ``delta``: the smaller of two upper ends.

    ``epsilon`` is at most ``local``, the Gaussian mechanism's own epsilon. ``guarantee`` is the
    theorem behind an ``epsilon`` below that: of permuted data without the spills, of allocated data
    without the flaws, both of which ``epsilon`` counts.
    """

    epsilon: float
    delta: float
    local: float
    guarantee: Guarantee | None = None

    @property
    def method(self) -> str:
        if self.guarantee is not None and self.epsilon < self.local:
            return self.guarantee.method
        return LOCAL


def permuted(
    *, noise: float, n: int, delta: float, epochs: int = 1, flaw: float = 0.0, hint: float | None = None
) -> Account:
    """The certified epsilon at ``delta`` of ``epochs`` passes, each over a fresh permutation of
    ``n`` users; ``hint`` is an epsilon to try first.

    >>> answer = permuted(noise=2.0, n=20_000, delta=1e-6)
    >>> round(answer.epsilon, 4), round(answer.local, 2)
    (0.0259, 2.25)
    """
    (n, _), noise = check_users(n), check_noise(noise)
    delta, epochs = check_delta(delta), check_epochs(epochs)
    local = local_epsilon(noise=noise / math.sqrt(epochs), delta=delta, flaw=epochs * flaw)
    best, passes = Account(local, delta, local), _Passes(noise, n, epochs, flaw)
    most = min(hint or FIRST, local)
    for _ in range(TRIES if local > 0.0 else 0):
        # An epsilon is valid if it is at most the one that the spills were weighed with; the
        # smaller that is, the more hay they allow.
        found = passes.account(most, delta, local)
        if found.epsilon <= most:
            best, lighter = min(best, found, key=lambda each: each.epsilon), _weight(found.epsilon) / _weight(most)
            if lighter > WORTH:
                break
            most = found.epsilon
        elif best.epsilon < local or found.epsilon >= local:
            break
        else:
            most = min(ROOM * found.epsilon, local)
    return best


def calibrated(*, n: int, epsilon: float, delta: float, epochs: int = 1, flaw: float = 0.0) -> float:
    """The least noise, to four digits, whose passes are (epsilon, delta)-DP.

    >>> round(calibrated(n=20_000, epsilon=0.5, delta=1e-6), 3)
    0.643
    """
    n, _ = check_users(n)
    epsilon, delta, epochs = check_epsilon(epsilon), check_promised(delta), check_epochs(epochs)

    def fits(noise: float) -> bool:
        if local_epsilon(noise=noise / math.sqrt(epochs), delta=delta, flaw=epochs * flaw) <= epsilon:
            return True
        passes = _Passes(noise, n, epochs, flaw)
        one = passes.one(epsilon, delta)
        if one is None or one.delta_at_most(epsilon=epsilon) > passes.left(delta):
            return False
        whole = one.compose(epochs)
        return whole.delta_at_most(epsilon=epsilon * (1.0 - MARGIN)) <= passes.left(delta) * (1.0 - MARGIN)

    return least_noise(fits)


@dataclass(frozen=True, slots=True)
class _Passes:
    """``epochs`` passes; 1/(1 + noise) of delta, about the best, is for spills and flaws."""

    noise: float
    n: int
    epochs: int
    flaw: float

    def left(self, delta: float) -> float:
        """What is left of delta for the haystack."""
        return delta * self.noise / (1.0 + self.noise)

    def one(self, epsilon: float, delta: float) -> PermutedPass | None:
        """A pass with the most hay that spills allow up to ``epsilon``; None if too little."""
        total = (delta - self.left(delta)) / _weight(epsilon)

        def allowed(depth: float) -> bool:
            spilt = (self.n - 1) * spill(self.noise, math.exp(-depth)) + self.n * self.flaw
            return self.epochs * spilt <= total

        deepest = math.log(self.n)
        if self.n == 1 or not allowed(deepest):
            return None
        depth, _ = (0.0, 0.0) if allowed(0.0) else halve(allowed, deepest, 0.0, middle=mean, steps=40)
        return PermutedPass(self.noise, self.n, math.exp(-depth))

    def account(self, most: float, delta: float, local: float) -> Account:
        """What holds if its epsilon is at most ``most``."""
        one = self.one(most, delta)
        if one is None:
            return Account(math.inf, delta, local)
        whole = one.compose(self.epochs)
        return Account(whole.epsilon_at_most(delta=self.left(delta)), delta, local, whole)


def least_noise(fits: Callable[[float], bool]) -> float:
    """The least noise that fits, to four digits, given that more noise does."""
    bad, good = NOISES
    if not fits(good):
        raise InvalidInput(f"noise of at most {good:g} must meet the target, got one that needs more. Relax epsilon.")
    if fits(bad):
        return bad
    least, _ = halve(fits, good, bad, middle=geometric, close=within(DIGITS))
    return least


def local_epsilon(*, noise: float, delta: float, flaw: float = 0.0) -> float:
    """What one report alone gives, and so a pass without amplification: one use of everybody.

    >>> round(local_epsilon(noise=2.0, delta=1e-6), 4)
    2.2541
    """
    return despite(flaw, delta, lambda left: gaussian.epsilon(sigma=noise, delta=left))


def sampled_epsilon(*, noise: float, n: int, delta: float, epochs: int = 1, flaw: float = 0.0) -> float:
    """For comparison: ``epochs`` n steps, each on a user drawn uniformly at random, with
    replacement. Some users are used often, and others never.

    One step satisfies delta'(epsilon') = delta(epsilon) / n at e^epsilon' = 1 + (e^epsilon - 1) / n
    (Balle, Barthe and Gaboardi 2018, Thm 9, replace-one), and the steps compose as privacy loss
    distributions.

    >>> 0.013 < sampled_epsilon(noise=2.0, n=20_000, delta=1e-6) < 0.015
    True
    """
    (n, _), noise, epochs = check_users(n), min(check_noise(noise), NOISES[1]), check_epochs(epochs)
    if noise < NOISES[0]:
        raise InvalidInput(f"noise must be at least {NOISES[0]} to compare with sampling, got {noise!r}. {NOISE}")
    return despite(epochs * n * flaw, check_delta(delta), lambda left: _sampled(noise, n, epochs * n, left))


def despite(flaw: float, delta: float, epsilon_at: Callable[[float], float]) -> float:
    """The epsilon at ``delta`` of what is within ``flaw`` in total variation of a mechanism whose
    epsilon is known: delta grows by (1 + e^epsilon) flaw.
    """
    spent = 0.0
    for _ in range(8):
        epsilon = epsilon_at(delta - spent)
        needed = _weight(epsilon) * flaw
        if needed <= spent:
            return epsilon
        spent = 1.5 * needed
        if spent >= delta / 2.0:
            break
    return math.inf


def _weight(epsilon: float) -> float:
    """By how much delta grows for each unit of total variation: both laws are off by as much."""
    return 1.0 + math.exp(min(epsilon, LARGEST_EPSILON))


def _sampled(noise: float, n: int, steps: int, delta: float) -> float:
    def curve(epsilons: Floats) -> Floats:
        inner = np.minimum(np.log1p(n * np.expm1(epsilons)), 690.0)
        return np.array([gaussian.delta(sigma=noise, epsilon=float(each)) / n for each in inner])

    far = math.log1p(math.expm1(gaussian.epsilon(sigma=noise, delta=RAREST * delta)) / n)
    typical = float(curve(np.zeros(1))[0])
    found = []
    for fine in FINE:  # a wider grid holds more of the rare, large losses of little noise
        spacing = max(typical / fine, 16.0 * math.sqrt(steps) * typical / POINTS)
        reach = min(16.0 * typical, far)
        near = np.arange(math.ceil(reach / spacing) + 2.0)
        wide = np.geomspace(reach, far, 2 + math.ceil(math.log(far / reach) / STRETCH))
        knots = np.unique(np.concatenate([near, np.ceil(wide / spacing)]))
        whole = Composition([(pessimistic(curve, knots, spacing), steps)])
        found.append(whole.trimmed(RARE * delta, "upper").epsilon(delta, "upper"))
    return min(found)


@dataclass(frozen=True)
class Allocation:
    """``epochs`` of ``steps`` steps with this ``noise``, in units of the clipping norm; all the
    noise that runs is within ``flaw`` of a Gaussian, in total variation.
    """

    noise: float
    steps: int
    epochs: int
    flaw: float

    @cached_property
    def guarantee(self) -> Guarantee:
        """For Gaussian noise."""
        return RandomAllocation(sigma=self.noise, steps=self.steps, epochs=self.epochs)

    @property
    def assumptions(self) -> tuple[str, ...]:
        return ("the trainer sees every person's data and is trusted", *self.guarantee.assumptions)

    def fits(self, epsilon: float, delta: float) -> bool:
        """Whether it is (epsilon, delta)-DP, with a margin for whoever solves for epsilon."""
        left = delta - (1.0 + math.exp(min(epsilon, LARGEST_EPSILON))) * self.flaw
        return left > 0.0 and self.guarantee.delta_at_most(epsilon=epsilon * (1.0 - MARGIN)) <= left * (1.0 - MARGIN)

    def account(self, delta: float, local: float) -> Account:
        """What is certified at ``delta``."""
        epsilon = despite(self.flaw, delta, lambda left: self.guarantee.epsilon_at_most(delta=left))
        return Account(min(epsilon, local), delta, local, self.guarantee)
