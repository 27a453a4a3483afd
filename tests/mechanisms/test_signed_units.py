"""How many hold a value, by +1 and -1 messages."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.design import Design
from shuffledp.errors import InvalidInput

ANSWERS = ["yes"] * 3_000 + ["no"] * 6_000 + ["who knows"] * 1_000


@cache
def usual() -> Poll:
    return Poll("count", value="yes", n=10_000, epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize("n", [10_000, 100_000, 10_000_000])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_as_accurate_as_a_curator(n: int, epsilon: float) -> None:
    """Discrete Laplace noise of ratio e^-epsilon is what a curator adds who needs no delta."""
    q, delta = math.exp(-epsilon), min(1e-6, 0.01 / n)
    curator = math.sqrt(2.0 * q) / (1.0 - q)
    poll = Poll("count", value="yes", n=n, epsilon=epsilon, delta=delta)
    assert poll.predicted_stderr() <= 1.2 * curator
    assert poll.predicted_stderr() < gaussian.sigma(epsilon=epsilon, delta=delta, sensitivity=1.0)
    assert poll.guarantee.delta_at_most(epsilon=epsilon) <= delta


def test_as_few_messages_as_promised() -> None:
    assert usual().messages <= 24


def test_counted_and_within_the_exact_interval() -> None:
    generator = np.random.default_rng(5)
    estimate = usual().analyse(usual().shuffle(usual().encode(ANSWERS, rng=generator)))
    assert abs(estimate["yes"] - 3000) < 10 * estimate.stderr[0]
    low, high = estimate.interval(1.0 - 1e-9)
    assert low[0] <= 3000 <= high[0]
    assert float(low[0]).is_integer()
    assert estimate.n == 10_000


def test_rounds_cost_and_average() -> None:
    again = Poll("count", value=1, n=1_000, epsilon=2.0, delta=1e-6, rounds=2)
    assert again.guarantee.delta_at_most(epsilon=2.0) <= 1e-6
    generator = np.random.default_rng(6)
    both = again.analyse(*(again.shuffle(again.encode([1] * 400 + [0] * 600, rng=generator)) for _ in range(2)))
    assert abs(both[1] - 400) < 10 * both.stderr[0]


def test_fewer_people_than_asked_for() -> None:
    part = Poll("count", value="yes", n=1_000, epsilon=1.0, delta=1e-6, honest=800)
    assert part.randomizer.honest == 800
    bag = part.shuffle(part.encode(["yes"] * 850, rng=np.random.default_rng(7)))
    estimate = part.analyse(bag)
    assert estimate.stderr[0] == pytest.approx(part.randomizer.expected_stderr(850))
    with pytest.raises(InvalidInput, match="honest reports must number at least 800"):
        part.shuffle(part.encode(["yes"] * 700, rng=np.random.default_rng(7)))


def test_people_who_add_nothing_are_noticed() -> None:
    """Positive control: with their noise the same people pass."""
    honest = usual().randomizer.tally(usual().encode(ANSWERS, rng=np.random.default_rng(8)).rows)
    usual().check_noise(honest)
    bare = np.array([10_000 * usual().messages, 3_000, 0])
    with pytest.raises(InvalidInput, match="Somebody left the noise out"):
        usual().analyse_counts(bare)


def test_what_a_design_says() -> None:
    design = Design.of(usual())
    assert design.domain.names == ("anything else", "yes")
    assert math.isinf(design.poll.epsilon0)


def test_messages_and_error_are_weighed() -> None:
    few = Poll("count", value=1, n=10_000, epsilon=1.0, delta=1e-6, most_messages=21)
    sharp = Poll("count", value=1, n=10_000, epsilon=1.0, delta=1e-6, most_error=1.45)
    assert few.messages <= 21
    assert few.predicted_stderr() > sharp.predicted_stderr()
    assert sharp.predicted_stderr() <= 1.45
    with pytest.raises(InvalidInput, match="messages must be at least"):
        Poll("count", value=1, n=10_000, epsilon=1.0, delta=1e-6, most_messages=3)
    with pytest.raises(InvalidInput, match="error must be at least"):
        Poll("count", value=1, n=10_000, epsilon=1.0, delta=1e-6, most_error=1.0)


def test_refused() -> None:
    with pytest.raises(InvalidInput, match="none below 0"):
        usual().analyse_counts(np.array([10_000 * usual().messages, -1, 5]))
    with pytest.raises(InvalidInput, match="distinct"):
        Poll("count", value="anything else", n=100, epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidInput, match="must be the noise of one message"):
        Poll("count", value="yes", n=100, epsilon0=1.0)
    with pytest.raises(InvalidInput, match="hold their share of the noise"):
        Poll("count", value="yes", n=2, epsilon=0.1, delta=1e-9)
