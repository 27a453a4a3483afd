"""Lightly randomized reports among fakes and dummies: against all that may be seen, from the whole
numbers that run; and against the contour integrals that cover any size.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from shuffledp import shuffle
from shuffledp.accounting.messages.fakes import BucketDummies, uniform_fakes_and_reports
from shuffledp.accounting.messages.light_laws import LightReport
from shuffledp.randomizers.messages import ShufflerDummies, UserFakes
from shuffledp.randomizers.messages.message import FakedValues
from shuffledp.sampling import WORD
from tests.accounting.messages.enclosed import both_orders
from tests.contracts.enclosure import COARSE
from tests.oracle.views import View, dummies_view, fakes_view, rounds_of


def views(law: FakedValues, people: int) -> Iterator[tuple[View, View]]:
    """The target's two views for everything that the others may hold."""
    assert law.light is not None
    truth = 1.0 - law.light_integer / WORD * (law.k - 1) / law.k
    for others in itertools.combinations_with_replacement(range(law.k), people - 1):
        if isinstance(law, UserFakes):
            yield tuple(fakes_view([x, *others], law.k, numbers(law), truth) for x in (0, 1))  # type: ignore[misc]
        else:
            assert isinstance(law, ShufflerDummies)
            table = law.numbers
            dummies = [0.0] * table.first + [weight / WORD for weight in table.weights]
            yield tuple(dummies_view([x, *others], law.k, dummies, law.kept, truth) for x in (0, 1))  # type: ignore[misc]


def numbers(law: UserFakes) -> list[float]:
    """How many fakes one person sends."""
    if (table := law.numbers) is not None:
        return [0.0] * table.first + [weight / WORD for weight in table.weights]
    chance = law.threshold / WORD
    return [math.comb(law.slots, j) * chance**j * (1 - chance) ** (law.slots - j) for j in range(law.slots + 1)]


def drawn(rng: np.random.Generator, rounds: int) -> tuple[FakedValues, int]:
    """A random law and number of people, small enough to list all that may be seen."""
    k, people = (int(rng.integers(2, 5)), int(rng.integers(1, 3))) if rounds == 1 else (5 - rounds, 1)
    epsilon0, chance = float(rng.uniform(0.3, 6.0)), float(rng.uniform(0.01, 0.9))
    match int(rng.integers(0, 4)):
        case 0:
            return UserFakes(k=k, slots=1, chance=chance, epsilon0=epsilon0).realised, people
        case 1:
            return UserFakes(k=k, slots=2, chance=chance / 4, epsilon0=epsilon0, kind="poisson").realised, people
        case 2:
            keep = float(rng.choice([1.0, 0.6]))
            return ShufflerDummies(k=k, keep=keep, center=1, left=chance, epsilon0=epsilon0).realised, people
    return ShufflerDummies(k=min(k, 3), kind="poisson", rate=1e-9, epsilon0=epsilon0).realised, people


@pytest.mark.parametrize(("rounds", "cases"), [(1, 24), (2, 4), (3, 4)])
def test_all_that_may_be_seen_lies_between_the_ends(rounds: int, cases: int) -> None:
    rng = np.random.default_rng(40 + rounds)
    for _ in range(cases):
        law, people = drawn(rng, rounds)
        epsilons = [0.0, float(rng.uniform(0.0, 1.0)) * law.epsilon0]
        survey = shuffle(law, n=people).compose(rounds)
        both = [(rounds_of(one, rounds), rounds_of(two, rounds)) for one, two in views(law, people)]
        for at, epsilon in enumerate(epsilons):
            exact = max(max(both_orders(*pair, epsilon)) for pair in both)
            lower, upper = (survey.deltas(epsilons, end=end, gap=COARSE)[at] for end in ("lower", "upper"))
            assert lower <= exact * (1.0 + 1e-9) + 1e-15
            assert exact <= upper * (1.0 + 1e-9) + 1e-15


def test_counting_agrees_with_integrating() -> None:
    """The grid of the rest adds little, and leaves out nothing."""
    epsilons = np.array([0.0, 0.4, 0.8])
    upper, (lower,) = LightReport(16, 6.0, 9_999).among_fakes(10_000, 0.06)
    blanket, datasets = uniform_fakes_and_reports(16, 6.0, 9_999, 10_000, 0.06)
    high, known = upper.bounds(epsilons)[1], blanket.bounds(epsilons)
    assert np.all(high >= known[0])
    assert np.all(high <= 1.003 * known[1])
    assert np.all(lower.bounds(epsilons)[0] >= 0.998 * datasets[2].bounds(epsilons)[0])
    poisson, _ = LightReport(16, 6.0, 9_999).among_poisson_fakes(37.5)
    assert np.allclose(poisson.bounds(epsilons)[1], high, rtol=0.05)


def test_where_the_report_landed_is_not_shown() -> None:
    """What shows it, two counts apart, gives away more."""
    plain = BucketDummies.geometric(25, 0.6, 0.6)
    epsilons = np.array([0.3, 0.7])
    shown = plain.randomized(64, 4.0).bounds(epsilons)[1]
    hidden = LightReport(64, 4.0, 0).among_dummies(plain.chances, 1.0).bounds(epsilons)[1]
    seen = LightReport(64, 4.0, 0).seen_with_dummies(plain.chances, 1.0).bounds(epsilons)[0]
    assert np.all(seen <= hidden)
    assert np.all(hidden < 0.9 * shown)
