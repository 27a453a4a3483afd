"""Permuted Gaussian reports, cut into cells or finite with clones, against enumeration."""

import itertools
import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest
from scipy.special import ndtr

from shuffledp._types import Floats
from shuffledp.accounting.haystack import Haystack
from shuffledp.randomizers.randomizer import Atoms
from shuffledp.training import RandomAllocation
from shuffledp.training.passes import PermutedPass, _borders, _spread, permuted, spill

Strategy = Callable[[tuple[int, ...], int], Floats]  # the law of a user's report after these reports

EPSILONS = np.array([0.0, 0.1, 0.4, 1.0, 2.0])


def transcript(strategy: Strategy, n: int, cells: int, epochs: int) -> Floats:
    """Probabilities of all sequences of reports; a fresh permutation in every epoch."""
    found = []
    for reports in itertools.product(range(cells), repeat=n * epochs):
        chance = 1.0
        for epoch in range(epochs):
            start = n * epoch
            laws = [[strategy(reports[:i], user)[reports[i]] for user in range(n)] for i in range(start, start + n)]
            orders = itertools.permutations(range(n))
            chance *= sum(math.prod(laws[i][user] for i, user in enumerate(order)) for order in orders)
        found.append(chance / math.factorial(n) ** epochs)
    return np.array(found)


def hidden(p: Floats, q: Floats, epsilon: float) -> float:
    """The larger delta of both orders."""
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0.0).sum()) for a, b in ((p, q), (q, p)))


def gaussian_cells(place: float, cells: int) -> Floats:
    """The masses of N(place, 1) in cells around 0."""
    borders = np.concatenate([[-np.inf], np.linspace(-1.6, 1.6, cells - 1), [np.inf]])
    return np.asarray(np.diff(ndtr(borders - place)))


def adaptive(a: float, cells: int, others: str, seed: int, target: float) -> Strategy:
    """Users whose vectors are multiples of ``a``, turned around as the reports before demand."""
    laws = {share: gaussian_cells(a * share, cells) for share in (-1.0, -0.5, 0.0, 0.5, 1.0)}

    @cache
    def strategy(before: tuple[int, ...], user: int) -> Floats:
        turn = 1.0 if others != "turned" or sum(before) % 2 else -1.0
        if user == 0:
            return laws[target * turn]
        if others == "drawn":
            share = np.random.default_rng([seed, user, *before]).choice([-1.0, -0.5, 0.0, 0.5, 1.0])
        else:
            share = {"zero": 0.0, "same": 1.0, "turned": 1.0, "split": float((-1) ** user)}[others]
        return laws[float(share) * turn]

    return strategy


@cache
def certified(noise: float, n: int, delta: float, epochs: int) -> float:
    return permuted(noise=noise, n=n, delta=delta, epochs=epochs).epsilon


@pytest.mark.parametrize(("n", "cells", "epochs"), [(2, 9, 1), (3, 5, 1), (4, 4, 1), (2, 4, 2), (3, 2, 2), (2, 3, 3)])
@pytest.mark.parametrize("noise", [1.5, 4.0])
@pytest.mark.parametrize("others", ["zero", "same", "turned", "split", "drawn"])
def test_what_is_enumerated_is_below_what_is_certified(
    n: int, cells: int, epochs: int, noise: float, others: str
) -> None:
    p, q = (
        transcript(adaptive(0.5 / noise, cells, others, seed=n, target=side), n, cells, epochs) for side in (1.0, -1.0)
    )
    assert math.isclose(p.sum(), 1.0)
    assert math.isclose(q.sum(), 1.0)
    for delta in (0.2, 0.05, 0.01) if epochs == 1 else (0.02,):
        assert hidden(p, q, certified(noise, n, delta, epochs)) <= delta


def test_the_bound_is_worth_its_enumeration() -> None:
    """Some of the above is amplified, and not far above what is enumerated."""
    answer = permuted(noise=3.0, n=4, delta=0.01)
    p, q = (transcript(adaptive(1.0 / 6.0, 4, "zero", 0, side), 4, 4, 1) for side in (1.0, -1.0))
    assert answer.epsilon < 0.8 * answer.local
    assert hidden(p, q, 0.5 * answer.epsilon) > 0.01


@pytest.mark.parametrize(("n", "gamma"), [(1, 1.0), (2, 0.3), (3, 0.6), (4, 1.0)])
def test_clones_that_are_certain_meet_the_haystack(n: int, gamma: float) -> None:
    """Others whose report is rho with probability gamma and else shows that it is not, in fine cells."""
    a, cells = 0.5, 9
    middle = np.append(gamma * gaussian_cells(0.0, cells), 1.0 - gamma)
    sides = [np.append(gaussian_cells(place, cells), 0.0) for place in (a, -a)]
    if n == 4:  # fewer, as there are many sequences
        middle, sides = (_merged(middle), [_merged(side) for side in sides])
    p, q = (
        transcript(lambda _before, user, own=own: middle if user else own, n, middle.size, 1)  # type: ignore[misc]
        for own in sides
    )
    upper = PermutedPass(0.5 / a, n, gamma)._end("upper", EPSILONS)
    for epsilon, bound in zip(EPSILONS.tolist(), upper.tolist(), strict=True):
        exact = hidden(p, q, epsilon)
        assert exact <= bound
        assert bound <= 1.3 * exact + 0.02  # cells hide something


@pytest.mark.parametrize("n", [2, 3, 4])
def test_others_who_hold_clones_in_part_add_their_spills(n: int) -> None:
    """The theorem for finite laws whose outputs are renamed; without spills it would be wrong."""
    rng, too_low = np.random.default_rng(n), 0
    for _ in range(12):
        rho, one, other = rng.dirichlet(np.full(3, 2.0), size=3)
        laws = rng.dirichlet(np.full(3, 1.0), size=n)
        gamma = float(rng.uniform(0.3, 1.0))
        spilt = max(float(np.maximum(gamma * rho - law, 0.0).sum()) for law in laws[1:])

        def strategy(before: tuple[int, ...], user: int, own: Floats, laws: Floats = laws) -> Floats:
            return np.roll(laws[user] if user else own, sum(before))

        p, q = (transcript(partial(strategy, own=own), n, 3, 1) for own in (one, other))
        for needles in ((one, other), (other, one)):
            bounds = Haystack.of(Atoms("finite", gamma * rho, *needles), n).bounds(EPSILONS)[1]
            views = (p, q) if needles[0] is one else (q, p)
            for epsilon, bound in zip(EPSILONS.tolist(), bounds.tolist(), strict=True):
                exact = float(np.maximum(views[0] - math.exp(epsilon) * views[1], 0.0).sum())
                assert exact <= bound + (1.0 + math.exp(epsilon)) * (n - 1) * spilt
                too_low += exact > bound + 1e-9
    assert too_low > 0


def _merged(law: Floats) -> Floats:
    return np.array([*law[:9].reshape(3, 3).sum(axis=1), law[9]])


def test_opposite_vectors_of_full_length_are_the_worst() -> None:
    """u - x v of any two vectors is below that of the worst pair, in the convex order; by quadrature in the plane."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    one, two = np.meshgrid(nodes, nodes)
    mass = np.outer(weights, weights) / (2.0 * math.pi)
    rng = np.random.default_rng(0)
    for a in (0.2, 0.8):
        for growth in (0.6, 1.0, 1.5):

            def calls(first: Floats, second: Floats, growth: float = growth) -> Floats:
                u, v = (np.exp(g[0] * one + g[1] * two - 0.5 * g @ g) for g in (first, second))
                return np.array([(mass * np.maximum(u - growth * v - k, 0.0)).sum() for k in np.linspace(-2.0, 2.0, 9)])

            worst = calls(np.array([a, 0.0]), np.array([-a, 0.0]))
            for _ in range(12):
                angles, lengths = rng.uniform(0.0, 2.0 * math.pi, 2), a * np.sqrt(rng.uniform(size=2))
                pair = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
                assert np.all(calls(*pair) <= worst + 2e-3 * a)


def test_the_classes_have_the_masses_and_means_of_what_they_replace() -> None:
    for a in (1e-3, 0.25, 2.0):
        atoms = _spread(a, 0.3)
        assert math.isclose(atoms.hay.sum(), 0.3)
        assert math.isclose(atoms.needle0.sum(), 1.0)
        assert math.isclose(atoms.needle1.sum(), 1.0)
        scores = atoms.needle0[atoms.hay > 0.0] / atoms.hay[atoms.hay > 0.0]
        second = float((atoms.hay[atoms.hay > 0.0] * 0.3 * scores**2).sum())
        assert math.exp(a * a) <= second <= math.exp(a * a) * (1.0 + 2e-3 * (1.0 - math.exp(-a * a)) + 1e-12)
        assert np.all(_borders(a) * 2.0**20 == np.rint(_borders(a) * 2.0**20))


def test_a_spill_is_the_mass_that_a_report_lacks() -> None:
    y = np.linspace(-12.0, 12.0, 400_001)
    for noise, gamma in ((0.5, 0.1), (2.0, 0.5), (2.0, 1.0)):
        rho, report = (np.exp(-0.5 * (y - place) ** 2) / math.sqrt(2.0 * math.pi) for place in (0.0, 0.5 / noise))
        lacks = float(np.maximum(gamma * rho - report, 0.0).sum() * (y[1] - y[0]))
        assert spill(noise, gamma) == pytest.approx(lacks, rel=1e-4)


@pytest.mark.parametrize(("noise", "n"), [(2.0, 20_000), (0.643, 20_000), (0.5, 10**6), (1.0, 1000)])
def test_it_is_above_a_dataset_that_random_allocation_accounts_for(noise: float, n: int) -> None:
    """All others hold one end of the ball, the target one end or the other: one step of n has another mean."""
    dataset = RandomAllocation(sigma=noise, steps=n)
    answer = permuted(noise=noise, n=n, delta=1e-6)
    assert dataset.epsilon_at_least(delta=1e-6) < answer.epsilon < 40.0 * dataset.epsilon_at_most(delta=1e-6)
