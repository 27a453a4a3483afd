"""Every mechanism with every workload that it answers: all tallies of a few people in one round or
two, each with its probability. The mean is the truth, the variance is the predicted one, limits cover,
and honest people are refused no more often than once in a billion times.

What a person sends, and what the shuffler adds, is said here once more, from the definitions and in
plain loops: no law is asked how it draws.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, product
from math import exp, prod
from typing import Any, NamedTuple

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms import mechanism_of
from shuffledp.randomizers import ShufflerDummies, SignedUnits, SplitShares, TreeDummies, UserFakes
from shuffledp.randomizers.matrix import Unmixed
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.workload import Each, Groups, Margins, Ranges, Weights, Workload, below
from tests.mechanisms.simulation import pooled

Tally = tuple[int, ...]
Chances = dict[Tally, float]
TAILS = (0.05, 0.005)
RARE = 1e-9  # of a tally, which is left out
LEFT_OUT = 2e-6  # in all
SURE = 2e-9  # how often honest people may be refused: too few fakes, or too many
COUNTING: dict[str, Callable[[int], Workload]] = {
    "each": lambda k: Each(tuple("abcd"[:k])),
    "margins": lambda _: Margins(tuple("abcdefgh"), (2, 2)),
    "below": lambda k: below(tuple(range(1, k))),
    "ranges": lambda k: Ranges(("middle", "second"), ((1, k - 1), (1, 2))),
    "groups": lambda k: Groups(("even", "odd"), np.arange(k) % 2),
    "count": lambda _: Ranges(("second",), ((1, 2),)),
}


def numbers(k: int, drawn: float = 0.25) -> Workload:
    """What rounds a number half-way between two points of the grid."""
    return Weights.grid("mean", k - 1, drawn=drawn)


def place(at: int, k: int, *, before: Tally = (), times: int = 1) -> Tally:
    return (*before, *(times * (at == each) for each in range(k)))


def normed(weights: Chances) -> Chances:
    whole = sum(weights.values())
    return {tally: weight / whole for tally, weight in weights.items()}


def response(k: int, epsilon0: float, held: int) -> list[float]:
    """k-ary randomized response: the own value is e^epsilon0 times as likely as any other."""
    return [(exp(epsilon0) if each == held else 1.0) / (exp(epsilon0) + k - 1) for each in range(k)]


def krr(k: int, epsilon0: float) -> Callable[[int], Chances]:
    return lambda held: {place(at, k): p for at, p in enumerate(response(k, epsilon0, held))}


def matrix(rows: list[list[float]]) -> Callable[[int], Chances]:
    """A report is a column: it is counted, and votes for nothing."""
    return lambda held: {place(at, len(rows[0]), before=(1,)) + (0,) * len(rows): p for at, p in enumerate(rows[held])}


def bits(k: int, p: float, q: float) -> Callable[[int], Chances]:
    """Unary encoding: a bit for each value, the own one set with another chance."""

    def person(held: int) -> Chances:
        chances = [p if each == held else q for each in range(k)]
        rows = product((0, 1), repeat=k)
        return {(1, *row): prod(p if bit else 1 - p for bit, p in zip(row, chances, strict=True)) for row in rows}

    return person


def subset(k: int, size: int, epsilon0: float) -> Callable[[int], Chances]:
    """Sets that hold the own value are e^epsilon0 times as likely as others."""

    def person(held: int) -> Chances:
        sets = combinations(range(k), size)
        return normed({(1, *(int(x in s) for x in range(k))): exp(epsilon0) if held in s else 1.0 for s in sets})

    return person


def hashed(k: int, g: int, epsilon0: float) -> Callable[[int], Chances]:
    """g-ary randomized response of a hash; it votes for all that the hash sends there."""

    def person(held: int) -> Chances:
        found = Counter[Tally]()
        for h in product(range(g), repeat=k):  # every hash there is
            for v, p in enumerate(response(g, epsilon0, h[held])):
                found[(1, *(int(each == v) for each in h))] += p / g**k
        return dict(found)

    return person


def hadamard(k: int, blocks: int, size: int, epsilon0: float) -> Callable[[int], Chances]:
    """Columns where the own row is +1 are e^epsilon0 times as likely; a column votes for and against
    the values of its block.
    """

    def votes(block: int, column: int) -> list[int]:
        signs = [(-1) ** ((1 + x % (size - 1)) & column).bit_count() for x in range(k)]
        return [sign * (x // (size - 1) == block) for x, sign in enumerate(signs)]

    def person(held: int) -> Chances:
        found = Counter[Tally]()
        for block, column in product(range(blocks), range(size)):
            cast = votes(block, column)
            found[(*place(block, blocks, before=(1,)), *cast)] += exp(epsilon0) if cast[held] == 1 else 1.0
        return normed(dict(found))

    return person


def levels(sizes: Tally, epsilon0: float) -> Callable[[int], Chances]:
    """Randomized response about one of the levels, all alike."""

    def person(held: int) -> Chances:
        found, first = Counter[Tally](), 0
        for size in sizes:
            for at, p in enumerate(response(size, epsilon0, held * size // sizes[-1])):
                found[place(first + at, sum(sizes))] += p / len(sizes)
            first += size
        return dict(found)

    return person


def poisson(rate: float, most: int) -> list[float]:
    """What lies above counts as ``most``."""
    chances = [exp(-rate) * rate**j / math.factorial(j) for j in range(most)]
    return [*chances, 1.0 - sum(chances)]


def geometric(center: int, left: float, right: float, most: int = 12) -> list[float]:
    weights = [left ** (center - j) if j < center else right ** (j - center) for j in range(most)]
    return [each / sum(weights) for each in weights]


def fakes(k: int, slots: int, numbers: list[float], epsilon0: float = math.inf) -> Callable[[int], Chances]:
    """The value, perhaps by randomized response, and so many random ones, as likely as ``numbers`` say."""

    def person(held: int) -> Chances:
        own = [float(at == held) for at in range(k)] if math.isinf(epsilon0) else response(k, epsilon0, held)
        whole: Chances = {place(at, k, before=(1 + slots,)): p for at, p in enumerate(own) if p}
        found, one = Counter[Tally](), {place(at, k, before=(0,)): 1.0 / k for at in range(k)}
        for p in numbers:
            found.update({tally: p * chance for tally, chance in whole.items()})
            whole = added(whole, one)
        return dict(found)

    return person


def kept(k: int, keep: float = 1.0, epsilon0: float = math.inf) -> Callable[[int], Chances]:
    """A message that the shuffler hands on with probability ``keep``; it says how many there were."""

    def person(held: int) -> Chances:
        own = fakes(k, 0, [keep], epsilon0)(held)
        return {**own, place(-1, k, before=(1,)): 1.0 - keep}

    return person


def nodes(k: int, branches: int, many: int) -> Callable[[int], Chances]:
    """A message for the node in each level of a tree."""
    widths = [branches**up for up in reversed(range(many))]
    return lambda held: {(many, *(int(held // w == at) for w in widths for at in range(-(-k // w)))): 1.0}


def share(honest: int, q: float, most: int) -> list[float]:
    """Negative binomial: so many people's add up to a geometric number of ratio q."""
    t, found = 1.0 / honest, [(1.0 - q) ** (1.0 / honest)]
    for j in range(1, most + 1):
        found.append(found[-1] * q * (j - 1 + t) / j)
    return found


def signed(honest: int, decay: float, pairs: int, messages: int) -> Callable[[int], Chances]:
    """Noise A of +1 and B of -1 and C of both; whoever has no room for them adds none."""

    def person(held: int) -> Chances:
        found, noise = Counter[Tally](), share(honest, exp(-decay), messages)
        for (a, p), (b, q), (c, r) in product(*map(enumerate, (noise, noise, poisson(pairs / honest, messages)))):
            fits = a + b + 2 * c < messages
            found[(messages, held + (a + c) * fits, (b + c) * fits)] += p * q * r
        return dict(found)

    return person


def split(honest: int, decay: float, reach: int, modulus: int) -> Callable[[int], Chances]:
    """The number and its noise in two shares, of which the first is any number."""

    def person(held: int) -> Chances:
        found, noise = Counter[Tally](), list(enumerate(share(honest, exp(-decay), reach)))
        for (a, p), (b, q), first in product(noise, noise, range(modulus)):
            found[(2, first + (held + a - b - first) % modulus, 0)] += p * q / modulus
        return dict(found)

    return person


def added(one: Chances, other: Chances) -> Chances:
    """The law of the sum of two."""
    found = Counter[Tally]()
    for (a, p), (b, q) in product(one.items(), other.items()):
        if p * q > 1e-3 * RARE:
            found[tuple(map(int.__add__, a, b))] += p * q
    return dict(found)


def rounded(person: Callable[[int], Chances], held: float) -> Chances:
    """A number between two places is rounded to either at random."""
    low, part = int(held), held % 1.0
    found = Counter({tally: p * (1.0 - part) for tally, p in person(low).items()})
    found.update({tally: p * part for tally, p in person(low + 1).items()} if part else {})
    return dict(found)


def likely(chances: Chances) -> list[tuple[Tally, float]]:
    return [(tally, p) for tally, p in chances.items() if p > RARE]


class Case(NamedTuple):
    """A law, what a person sends by it, and how many dummies the shuffler adds to each place."""

    law: Any
    person: Callable[[int], Chances]
    dummies: list[float] | None = None


ROWS = [[0.7, 0.1, 0.1, 0.1], [0.2, 0.6, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.2, 0.1, 0.6]]
FEW: dict[str, Any] = {"center": 1, "left": 0.01, "right": 0.01}
CASES: dict[str, Callable[[], Case]] = {
    "krr": lambda: Case(sdp.KRR(k=4, epsilon0=2.0).realised, krr(4, 2.0)),
    "krr, hardly noisy": lambda: Case(sdp.KRR(k=4, epsilon0=6.0).realised, krr(4, 6.0)),
    "oue": lambda: Case(sdp.OUE(k=3, epsilon0=2.0).realised, bits(3, 0.5, 1 / (exp(2) + 1))),
    "rappor": lambda: Case(sdp.RAPPOR(k=3, epsilon0=2.0).realised, bits(3, 1 / (exp(-1) + 1), 1 / (exp(1) + 1))),
    "subset": lambda: Case(sdp.SubsetSelection(k=4, epsilon0=1.0, size=2).realised, subset(4, 2, 1.0)),
    "hash": lambda: Case(sdp.LocalHash(k=3, g=3, epsilon0=2.0).realised, hashed(3, 3, 2.0)),
    "hadamard": lambda: Case(sdp.Hadamard(k=4, epsilon0=1.0).realised, hadamard(4, 2, 4, 1.0)),
    "hadamard, alone": lambda: Case(sdp.Hadamard(k=4, epsilon0=2.0).realised, hadamard(4, 4, 2, 2.0)),
    "matrix": lambda: Case(Unmixed(sdp.FromMatrix(ROWS)), matrix(ROWS)),
    "levels": lambda: Case(OneLevel.of_sizes(sizes=(3, 4), epsilon0=2.0).realised, levels((3, 4), 2.0)),
    "fakes": lambda: Case(UserFakes(k=4, slots=1, chance=0.3), fakes(4, 1, [0.7, 0.3])),
    "fakes, poisson": lambda: Case(UserFakes(k=3, slots=2, chance=0.2, kind="poisson"), fakes(3, 2, poisson(0.4, 2))),
    "fakes, lightly": lambda: Case(
        UserFakes(k=3, slots=1, chance=0.3, epsilon0=3.0).realised, fakes(3, 1, [0.7, 0.3], 3.0)
    ),
    "dummies": lambda: Case(ShufflerDummies(k=4, **FEW), kept(4), geometric(**FEW)),
    "dummies, kept": lambda: Case(ShufflerDummies(k=4, keep=0.75, **FEW), kept(4, 0.75), geometric(**FEW)),
    "dummies, lightly": lambda: Case(
        ShufflerDummies(k=3, keep=0.9, epsilon0=3.0, **FEW).realised, kept(3, 0.9, 3.0), geometric(**FEW)
    ),
    "dummies, poisson": lambda: Case(ShufflerDummies(k=4, kind="poisson", rate=0.02), kept(4), poisson(0.02, 8)),
    "tree": lambda: Case(TreeDummies(k=4, levels=2, branches=2, **FEW), nodes(4, 2, 2), geometric(**FEW)),
    "signed": lambda: Case(SignedUnits(honest=3, decay=2.0, pairs=1, messages=16), signed(3, 2.0, 1, 16)),
    "split": lambda: Case(
        SplitShares(k=4, honest=3, decay=2.5, share_bits=8, messages=2, reach=9), split(3, 2.5, 9, 256)
    ),
}
DATA = [((0.0, 0.0, 1.0), 1), ((1.0, 0.0), 2)]
NUMBERS = [((0.5, 1.5, 1.5), 1), ((0.5, 2.5), 2)]  # half-way between two points of the grid


@cache
def enumerated(name: str, held: tuple[float, ...], rounds: int) -> tuple[list[tuple[Any, float]], float]:
    """Every tally of people who hold these places, and how often one round's is refused."""
    (law, person, dummies), people = CASES[name](), len(held)
    whole: Chances = {(0,) * law.tally_size: 1.0}
    for each in held:
        whole = added(whole, rounded(person, each))
    for node in range(1, law.tally_size) if dummies else ():
        whole = added(whole, {place(node, law.tally_size, times=j): p for j, p in enumerate(dummies or ())})
    once, refused, seen = Counter[Tally](), 0.0, dict[Tally, Any]()
    for tally, p in likely(whole):
        try:
            found = mechanism_of(law).received(np.array(tally), people, people)
        except InvalidInput:
            refused += p
        else:
            key = (law.total(found.numbers),) if law.inseparable else (*found.blocks.tolist(), *found.votes.tolist())
            once[key] += p
            seen[key] = found
    if rounds == 1:
        return [(seen[key], p) for key, p in likely(once)], refused
    if law.inseparable:  # what shares add up to is known round by round
        twice = product(likely(once), repeat=2)
        return [(seen[a].again(seen[b]), p * q) for (a, p), (b, q) in twice if p * q > RARE], refused
    total, blocks = likely(added(once, once)), len(found.blocks)
    return [(pooled(people, np.array(key[blocks:]), key[:blocks], rounds), p) for key, p in total], refused


def cases() -> Iterator[Any]:
    for name, make in CASES.items():
        mechanism = mechanism_of(make().law)
        for title, workload in {**COUNTING, "numbers": numbers}.items():
            fits = mechanism.size == {"margins": 4, "count": 2}.get(title, mechanism.size)
            if fits and mechanism.answers(workload(mechanism.size)):
                yield from (
                    pytest.param(name, workload, *data, id=f"{name}-{title}-{len(data[0])}-{data[1]}")
                    for data in (NUMBERS if title == "numbers" else DATA)
                )


@pytest.mark.parametrize(("name", "workload", "held", "rounds"), list(cases()))
def test_values_are_unbiased_errors_exact_and_limits_cover(
    name: str, workload: Callable[[int], Workload], held: tuple[float, ...], rounds: int
) -> None:
    mechanism = mechanism_of(CASES[name]().law)
    rows, (part, low) = workload(size := mechanism.size), np.modf(held)
    ends = (np.bincount(end.astype(int), each, size + 1) for end, each in ((low, 1.0 - part), (low + 1, part)))
    people = np.add(*ends)[:size]
    truth = rows.apply(people)
    mean, square, seen = np.zeros(len(truth)), np.zeros(len(truth)), 0.0
    missed = np.zeros((len(TAILS), 2, len(truth)))
    tallies, refused = enumerated(name, held, rounds)
    for tally, chance in tallies:
        found = mechanism.estimate(tally, rows)
        mean, square, seen = mean + chance * found.values, square + chance * (found.values - truth) ** 2, seen + chance
        for which, tail in enumerate(TAILS):
            lower, upper = found.limits(tail)
            assert np.all((lower <= found.values) & (found.values <= upper))
            missed[which] += chance * np.array([truth < lower - 1e-9, upper + 1e-9 < truth])
    assert refused <= SURE
    assert seen == pytest.approx(1.0, abs=LEFT_OUT)
    np.testing.assert_allclose(mean, truth, atol=1e-5)
    predicted = mechanism.predicted(rows, people)
    np.testing.assert_allclose(np.sqrt(rounds * square), predicted, rtol=1e-4, atol=1e-5)
    assert float(predicted.max()) <= mechanism.worst(rows, len(held)) * (1.0 + 1e-9)
    assert mechanism.influence(rows).shape == truth.shape
    for tail, sides in zip(TAILS, missed, strict=True):
        assert sides.max() <= tail + LEFT_OUT
