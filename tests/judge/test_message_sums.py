"""Sums for any number of people: against what a handful may send, and against the accountant, which
shares no code with them.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest

from shuffledp import shuffle
from shuffledp.accounting.messages.sums import mixing_distance
from shuffledp.judge.lattice import TooLarge
from shuffledp.judge.messages import MessageSums, colorings_excess
from shuffledp.randomizers.messages import MessageLaw, ShufflerDummies, SignedUnits, SplitShares, UserFakes
from tests.accounting.messages.enclosed import both_orders
from tests.oracle.views import dummies_view, fakes_view

EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 1.3])


def summed(law: MessageLaw, people: int) -> MessageSums:
    """From the law as it is written."""
    written = {**law.describe(), "type": law.describe()["randomizer"]}
    return MessageSums.of({**written, "integers": [str(each) for each in law.integers]}, people)


@pytest.mark.parametrize(
    ("build", "people"),
    [
        (lambda: UserFakes(k=16, slots=1, chance=0.0685), 10_000),
        (lambda: UserFakes(k=16, slots=2, chance=85 * 8e-7), 10**7),
        (lambda: UserFakes(k=2, slots=1, chance=1.0), 1),
        (lambda: ShufflerDummies(k=16, center=25, left=0.6, right=0.6), 10_000),
        (lambda: ShufflerDummies(k=16, keep=0.6, kind="poisson", rate=30.0), 10_000),
        (lambda: ShufflerDummies(k=16, kind="poisson", rate=85.0, epsilon0=9.0), 100),
        (lambda: SignedUnits(honest=10_000, decay=0.9, pairs=1_360, messages=20), 10_000),
        (lambda: SplitShares(k=1001, honest=10_000, decay=1e-3, share_bits=40, messages=9, reach=10_000), 10_000),
    ],
)
def test_they_agree_with_the_accountant(build: Callable[[], MessageLaw], people: int) -> None:
    law = build()
    survey = shuffle(law, n=people)
    low, high = summed(law, people).deltas(EPSILONS)
    lower, upper = (survey.deltas(EPSILONS, end=end) for end in ("lower", "upper"))
    assert np.all(low <= upper * (1.0 + 1e-8) + 1e-28)
    assert np.all(lower <= high * (1.0 + 1e-8))
    if not isinstance(law, SplitShares) or mixing_distance(people, law.messages, law.modulus) < 1e-9:
        assert np.all(upper <= high * (1.0 + 1e-6) + 1e-28)  # the theorem itself, to many digits


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0])
def test_they_are_what_a_handful_of_people_may_send(epsilon: float) -> None:
    fakes = UserFakes(k=3, slots=1, chance=0.4)
    one, two = (fakes_view([value, 2], 3, [0.6, 0.4]) for value in (0, 1))
    low, high = summed(fakes, 2).there(epsilon)
    assert low * (1.0 - 1e-9) <= both_orders(one, two, epsilon)[0] <= high * (1.0 + 1e-9)
    dummies = ShufflerDummies(k=3, keep=0.7, center=1, left=0.3, right=1e-4)
    one, two = (dummies_view([value, 2], 3, dummies.numbers.chances.tolist(), 0.7) for value in (0, 1))
    low, high = summed(dummies, 2).there(epsilon)
    assert low * (1.0 - 1e-9) <= both_orders(one, two, epsilon)[0] <= high * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("points", "permutations", "bits"), [(19, 29, 8), (600, 11, 16), (10**4, 10, 32), (10**9, 6, 32)]
)
def test_colors_count_what_components_do(points: int, permutations: int, bits: int) -> None:
    colors = 0.5 * math.sqrt(colorings_excess(points, permutations, 1 << bits))
    components = mixing_distance(points, permutations + 1, 1 << bits)
    assert components == pytest.approx(colors, rel=0.01)


def test_what_has_no_sum_is_said_so() -> None:
    with pytest.raises(TooLarge):
        summed(UserFakes(k=3, slots=1, chance=0.4, epsilon0=2.0), 10)
    with pytest.raises(TooLarge):
        summed(SignedUnits(honest=100, decay=0.9, pairs=10, messages=20), 50)
