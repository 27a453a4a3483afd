"""Every mechanism with every workload that it answers: all tallies of a few people in one round or
two, each with its probability. The mean is the truth, the variance is the predicted one, and limits cover.

What a message, a fake or a dummy is drawn by is said here once more, in plain loops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.mechanisms import mechanism_of
from shuffledp.randomizers import ShufflerDummies, UserFakes
from shuffledp.randomizers.matrix import Unmixed
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.workload import Each, Groups, Margins, Ranges, Weights, Workload, below
from tests.mechanisms.simulation import pooled

Tally = tuple[int, ...]
TAILS = (0.05, 0.005)
WORKLOADS: dict[str, Workload] = {
    "each": Each(tuple("abcd")),
    "margins": Margins(tuple("abcdefgh"), (2, 2)),
    "below": below((1, 2, 3)),
    "ranges": Ranges(("middle", "second"), ((1, 3), (1, 2))),
    "groups": Groups(("even", "odd"), np.array([0, 1, 0, 1])),
}
NUMBERS: dict[str, Workload] = {"numbers": Weights.grid("mean", 3)}


def law_of(law: Any, held: int) -> dict[Tally, float]:
    """What one person who holds a place adds to (blocks and) votes, and how likely."""
    places, found = range(law.k), Counter[Tally]()
    if isinstance(law, sdp.KRR):
        for place in places:
            found[tuple(int(place == each) for each in places)] += law.miss + law.contrast * (place == held)
    elif isinstance(law, sdp.Unary | sdp.OUE | sdp.RAPPOR):
        for bits in product((0, 1), repeat=law.k):
            chances = [law.hit if place == held else law.miss for place in places]
            found[bits] += prod(p if bit else 1.0 - p for p, bit in zip(chances, bits, strict=True))
    elif isinstance(law, Unmixed):
        for report, chance in enumerate(law.table[held]):
            found[tuple(int(report == each) for each in range(law.blocks))] += chance
    elif isinstance(law, OneLevel):
        for report, chance in enumerate(law.rows[held]):
            found[tuple(int(report == each) for each in range(law.tally_size))] += chance
    elif isinstance(law, UserFakes):
        named = law.threshold / 2**64
        for slots in product((None, *places), repeat=law.slots):
            votes = tuple(int(place == held) + slots.count(place) for place in places)
            found[votes] += prod(1.0 - named if each is None else named / law.k for each in slots)
    else:  # true messages alone: what the shuffler adds comes later
        found[tuple(int(place == held) for place in places)] = 1.0
    return dict(found)


def added(one: dict[Tally, float], other: dict[Tally, float]) -> dict[Tally, float]:
    """The law of the sum of two."""
    found = Counter[Tally]()
    for (a, p), (b, q) in product(one.items(), other.items()):
        found[tuple(x + y for x, y in zip(a, b, strict=True))] += p * q
    return dict(found)


def dummies(law: Any) -> dict[Tally, float]:
    """What the shuffler adds to all places, but for what happens once in a hundred million times."""
    numbers = law.numbers
    each = {number: p for number, p in enumerate(numbers.chances.tolist(), start=numbers.first) if p > 5e-9}
    return {several: prod(each[number] for number in several) for several in product(each, repeat=law.places)}


@cache
def enumerated(name: str, held: tuple[int, ...], rounds: int) -> list[tuple[Any, float]]:
    """Every tally of people who hold these places, but for those of two rounds that hardly ever happen."""
    law = LAWS[name]()
    whole = {(): 1.0} if not held else law_of(law, held[0])
    for place in held[1:]:
        whole = added(whole, law_of(law, place))
    if hasattr(law, "places"):
        whole = added(whole, dummies(law))
    if rounds == 2:
        whole = {tally: chance for tally, chance in added(whole, whole).items() if chance > 1e-13}
    return [(opened(law, len(held), tally, rounds), chance) for tally, chance in whole.items()]


def opened(law: Any, people: int, tally: Tally, rounds: int) -> Any:
    if isinstance(law, Unmixed):
        return pooled(people, np.zeros(law.k, np.int64), tally, rounds)
    return pooled(people, np.array(tally, dtype=np.int64), (), rounds)


LAWS: dict[str, Callable[[], Any]] = {
    "krr": lambda: sdp.KRR(k=4, epsilon0=2.0).realised,
    "krr, hardly noisy": lambda: sdp.KRR(k=4, epsilon0=6.0).realised,
    "oue": lambda: sdp.OUE(k=4, epsilon0=2.0).realised,
    "rappor": lambda: sdp.RAPPOR(k=4, epsilon0=2.0).realised,
    "matrix": lambda: Unmixed(
        sdp.FromMatrix([[0.7, 0.1, 0.1, 0.1], [0.2, 0.6, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.2, 0.1, 0.6]])
    ),
    "fakes": lambda: UserFakes(k=4, slots=1, chance=0.3),
    "dummies": lambda: ShufflerDummies(k=4, center=1, left=1e-3, right=1e-3),
    "levels": lambda: OneLevel.of_sizes(sizes=(3, 4), epsilon0=2.0).realised,
}
DATA = [((0, 0, 1), 1), ((3, 3, 3), 1), ((0, 1, 2, 3), 1), ((0, 1, 3, 3), 2)]
NORMAL = {"matrix", "levels"}  # whose limits are those of a bound, or of a normal law


def cases() -> Iterator[Any]:
    for name, make in LAWS.items():
        for title, workload in {**WORKLOADS, **NUMBERS}.items():
            if mechanism_of(make()).answers(workload):
                yield pytest.param(name, workload, id=f"{name}-{title}")


@pytest.mark.parametrize(("name", "workload"), list(cases()))
@pytest.mark.parametrize(("held", "rounds"), DATA)
def test_values_are_unbiased_errors_exact_and_limits_cover(
    name: str, workload: Workload, held: tuple[int, ...], rounds: int
) -> None:
    law = LAWS[name]()
    mechanism, places = mechanism_of(law), np.bincount(held, minlength=4)
    truth = workload.apply(places.astype(float))
    mean, square, seen = np.zeros(len(truth)), np.zeros(len(truth)), 0.0
    missed = {tail: np.zeros(len(truth)) for tail in TAILS}
    for tally, chance in enumerated(name, held, rounds):
        found = mechanism.estimate(tally, workload)
        mean += chance * found.values
        square += chance * (found.values - truth) ** 2
        seen += chance
        for tail in TAILS:
            low, high = found.limits(tail)
            assert np.all(low <= found.values)
            assert np.all(found.values <= high)
            missed[tail] += chance * ((truth < low - 1e-9) | (high + 1e-9 < truth))
    assert seen == pytest.approx(1.0, abs=1e-8)
    np.testing.assert_allclose(mean, truth, atol=1e-7)
    predicted = mechanism.predicted(workload, places)
    np.testing.assert_allclose(np.sqrt(rounds * square), predicted, rtol=1e-4, atol=1e-7)
    assert float(predicted.max()) <= mechanism.worst(workload, len(held)) * (1.0 + 1e-9)
    assert mechanism.influence(workload).shape == truth.shape
    if workload.counts and name not in NORMAL:
        for tail, share in missed.items():
            assert np.all(share <= 2.0 * tail + 1e-9), (tail, share)
