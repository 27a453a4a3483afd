"""Which sampler should a training use? Ways to draw batches, with the same noise and steps.

*Random allocation*: every record in one step of every epoch, chosen at random by itself. *Poisson
sampling*: every record in every step with probability 1/steps; its pair, (1 - q) Q + q P against Q,
is composed step by step. *Shuffled batches* of a fixed size: one permutation of all records in
every epoch. Where others are says something then, and only ends far apart are proven: from above,
the permutation told to the adversary, one step of every epoch; from below, the pair of Chua et al.
2024, in which all others have the opposite gradient, so that a batch shows 2 if the record is
there, 1 if it is zeroed, and 0 if it is elsewhere. *Full batches*: every record in every step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property

from shuffledp._types import End, Floats
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.inversion import halve, mean
from shuffledp.accounting.reductions import Reduction, Theorem
from shuffledp.accounting.rounds import Round
from shuffledp.errors import LARGEST_EPSILON, MOST_ROUNDS, check_delta
from shuffledp.randomizers.gaussian_delta import SLACK, gaussian_delta
from shuffledp.randomizers.randomizer import Atoms
from shuffledp.training.allocation import ADDED, REMOVED, RandomAllocation
from shuffledp.training.step_pairs import GaussianStep, StepPair, normal_cells, tail_knots
from shuffledp.wording import statement

ADJACENCY = statement("add or remove")


@dataclass(frozen=True, slots=True)
class Sampler:
    """One way to draw batches: what it is, what it needs, and the epsilon that it gives."""

    name: str
    batches: str
    epsilon: Bound


@dataclass(frozen=True, eq=False, repr=False)
class PoissonStep(Round):
    """One step that every record takes part in with probability ``rate``."""

    step: StepPair
    rate: float

    def __repr__(self) -> str:
        return f"PoissonStep({self.step!r}, rate={self.rate!r})"

    @property
    def key(self) -> Hashable:
        return self.step, self.rate

    def describe(self) -> str:
        return f"Poisson sampling, rate {self.rate:.6g}; {self.step.describe()}"

    @cached_property
    def reduction(self) -> Reduction:
        """The mixture pair, in both directions."""
        remove, add = self._both("upper")
        theorem = Theorem("mixture of the step's two laws", (remove,), (add,))
        ceiling = self.step.epsilon0
        return Reduction((theorem,), (ADJACENCY, statement("noisy steps")), self._both("lower"), ceiling)

    def _both(self, end: End) -> tuple[Haystack, Haystack]:
        atoms = self.step.atoms(end)
        mixed = Atoms(REMOVED, atoms.hay, (1.0 - self.rate) * atoms.hay + self.rate * atoms.needle0, atoms.hay)
        removed = Haystack.of(mixed, 1)
        return removed, replace(removed.swapped(), name=ADDED)

    def knots(self, spacing: float) -> Floats:
        return tail_knots(self, spacing)


@dataclass(frozen=True, eq=False, repr=False)
class ShuffledBatches(Round):
    """One epoch over a permutation, in ``steps`` batches of one size; Gaussian noise."""

    step: GaussianStep
    steps: int

    def __repr__(self) -> str:
        return f"ShuffledBatches({self.step!r}, steps={self.steps})"

    @property
    def key(self) -> Hashable:
        return self.step, self.steps

    def describe(self) -> str:
        return f"shuffled batches, {self.steps:,} steps; {self.step.describe()}"

    @cached_property
    def reduction(self) -> Reduction:
        """From above one step of the epoch, from below an explicit pair."""
        removed = self._explicit()
        told = replace(Haystack.of(self.step.atoms("upper"), 1), name="the permutation told to the adversary")
        theorem = Theorem(told.name, (told,), (told.swapped(),))
        lowers = removed, replace(removed.swapped(), name=f"{ADDED}, all others opposite")
        return Reduction((theorem,), (ADJACENCY, statement("noisy steps")), lowers, math.inf)

    def _explicit(self) -> Haystack:
        """Needles at 2 and at 1 in a hay at 0: merged cells of the three laws."""
        hay, one, two = normal_cells(math.nextafter(1.0 / self.step.sigma, 0.0), (0.0, 1.0, 2.0))
        return Haystack.of(Atoms(f"{REMOVED}, all others opposite", hay, two, one), self.steps)


def samplers(
    *, sigma: float, steps: int, delta: float, epochs: int = 1, tick: Callable[[int, int], None] | None = None
) -> tuple[Sampler, ...]:
    """Every sampler with the noise ``sigma`` per step, and epsilon at ``delta`` after ``epochs``
    times ``steps`` steps; the largest upper end last. ``tick`` is told how many are done, of how
    many.

    >>> [each.name for each in samplers(sigma=1.0, steps=100, delta=1e-6)][0]
    'random allocation'
    """
    delta = check_delta(delta)
    allocation = RandomAllocation(sigma=sigma, steps=steps, epochs=epochs)
    step = GaussianStep(sigma)
    plans: dict[str, tuple[str, Callable[[], Bound]]] = {
        "random allocation": (
            "each record in one random step of every epoch: sizes vary a little",
            lambda: allocation.epsilon(delta=delta),
        ),
        "Poisson sampling": (
            "each record in each step with probability 1/steps: sizes vary, some records are left out",
            lambda: PoissonStep(step, 1.0 / steps).compose(steps * epochs).epsilon(delta=delta),
        ),
        "shuffled batches": (
            "a permutation of all records, cut into batches of one size",
            lambda: ShuffledBatches(step, allocation.steps).compose(epochs).epsilon(delta=delta),
        ),
        "full batches": (
            "every record in every step",
            lambda: _full(sigma, allocation.steps * allocation.epochs, delta),
        ),
    }
    if steps * epochs > MOST_ROUNDS:
        del plans["Poisson sampling"]  # step by step, that would be too many
    found = []
    for done, (name, (batches, epsilon)) in enumerate(plans.items()):
        if tick is not None:
            tick(done, len(plans))
        found.append(Sampler(name, batches, epsilon()))
    return tuple(sorted(found, key=lambda each: (each.epsilon.upper, each.epsilon.lower)))


def _full(sigma: float, count: int, delta: float) -> Bound:
    """So many Gaussian mechanisms are one with less noise (Dong, Roth and Su 2022)."""
    noise = sigma / math.sqrt(count)
    if gaussian_delta(noise, LARGEST_EPSILON) > delta:
        return Bound(LARGEST_EPSILON, math.inf, "Gaussian mechanism", (ADJACENCY,))
    (_, lower), (upper, _) = (_met(noise, delta * slack) for slack in (1.0 + 2.0 * SLACK, 1.0 - 2.0 * SLACK))
    return Bound(min(lower, upper), upper, "Gaussian mechanism", (ADJACENCY,))


def _met(noise: float, delta: float) -> tuple[float, float]:
    """Neighboring epsilons, at the first of which delta is met, and at the second not."""
    return halve(lambda e: gaussian_delta(noise, e) <= delta, LARGEST_EPSILON, 0.0, middle=mean, steps=200)
