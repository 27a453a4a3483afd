"""Both ends of the oracle over several rounds, beside exact sums in fractions and enumerations."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shuffledp.judge.fakes import CountedFakes
from shuffledp.judge.laws import WORD, CountedLaw
from shuffledp.judge.oracle import Oracle
from shuffledp.judge.shares import CountedShares

EPSILONS = np.array([0.0, 0.3, 0.7, 1.1, 2.0, 3.1])
GEOMETRIC = {"keep": 1.0, "kind": "geometric", "center": 2, "left": 0.5, "right": 0.5, "rate": 0.0}
Pair = list[tuple[Fraction, Fraction]]


def exact(pair: Pair, rounds: int) -> list[Fraction]:
    """delta of so many rounds at every epsilon, with e^epsilon as floats have it."""
    joined: dict[Fraction, tuple[Fraction, Fraction]] = {Fraction(1): (Fraction(1), Fraction(1))}
    for _ in range(rounds):
        more: dict[Fraction, tuple[Fraction, Fraction]] = {}
        for (p, q), (a, b) in product(pair, joined.values()):
            ratio = p * a / (q * b) if q * b else Fraction(-1)
            first, second = more.get(ratio, (Fraction(0), Fraction(0)))
            more[ratio] = first + p * a, second + q * b
        joined = more
    growths = [Fraction(math.exp(each)) for each in EPSILONS.tolist()]
    return [sum((max(p - x * q, Fraction(0)) for p, q in joined.values()), Fraction(0)) for x in growths]


def dummies(kept: int, weights: list[int]) -> tuple[CountedFakes, Pair]:
    law = CountedFakes("dummies", 3, (0, kept, 0, *weights), 0, math.inf, GEOMETRIC)
    z, keep = [Fraction(each, WORD) for each in (*weights, 0)], Fraction(kept, WORD)
    h = [keep * before + (1 - keep) * here for before, here in zip([Fraction(0), *z], z, strict=False)]
    return law, [(h[i] * z[j], z[i] * h[j]) for i, j in product(range(len(z)), repeat=2) if h[i] * z[j] or z[i] * h[j]]


def split(steps: int) -> tuple[CountedShares, Pair]:
    """Shares that are mixed so well, and noise that reaches so far, that nothing is paid for."""
    own = {"honest": 1000, "decay": 0.4, "share_bits": 40, "messages": 60, "reach": 400}
    law = CountedShares("split", steps + 1, (round(WORD * math.exp(-0.4)), 0, 0), 0, math.inf, own)
    q, norm = law.ratio, 1 + law.ratio
    first = [1 / norm, *((1 - q) * q**j / norm for j in range(1, steps)), q**steps / norm]
    return law, list(zip(first, first[::-1], strict=True))


CASES: dict[str, Callable[[], tuple[CountedFakes | CountedShares, Pair]]] = {
    "geometric": lambda: dummies(WORD, [WORD // 16, WORD // 8, WORD // 2, WORD // 4, WORD // 16]),
    "rare ends": lambda: dummies(WORD, [3, WORD // 4, WORD // 2 - 8, WORD // 4, 5]),
    "kept": lambda: dummies(WORD // 10 * 9, [WORD // 16, WORD // 8, WORD // 2, WORD // 4, WORD // 16]),
    "split": lambda: split(5),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
def test_messages_over_rounds_lie_between_the_ends(name: str, rounds: int) -> None:
    law, pair = CASES[name]()
    low, high = Oracle(law, 1000, rounds).spans(EPSILONS).upper
    for least, truth, most in zip(low.tolist(), exact(pair, rounds), high.tolist(), strict=True):
        assert Fraction(least) <= truth <= Fraction(most)
        assert most - least <= 0.02 * float(truth) + 1e-9


@pytest.mark.parametrize("k, users, rounds", [(2, 5, 2), (2, 4, 3), (3, 4, 2), (3, 3, 3)])
def test_reports_over_rounds_lie_between_the_ends(k: int, users: int, rounds: int) -> None:
    """The lower end is what some dataset leaks, and the upper end holds for all of them."""
    noise = WORD // 2
    law = CountedLaw("krr", k, (noise,), 0, math.log1p(k * (WORD - noise) / noise))
    oracle = Oracle(law, users, rounds)
    truth = oracle.enumerated(EPSILONS)
    assert truth is not None
    low, high = oracle._composed(EPSILONS).upper
    assert np.all(low <= truth * (1.0 + 1e-12) + 1e-15)
    assert np.all(high >= truth * (1.0 - 1e-12) - 1e-15)
