"""Bad input is refused with one sentence that names the rule and the value, and a remedy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.randomizers import AnyDeletionLDP

KRR = sdp.KRR(k=3, epsilon0=1.0)
SURVEY = sdp.shuffle(KRR, n=100)


def shuffle(**how: Any) -> Any:
    return sdp.shuffle(how.pop("randomizer", KRR), **how)


def calibrate(family: Any, **how: Any) -> Any:
    return sdp.calibrate(family, **{"epsilon": 1.0, "delta": 1e-6, **how})


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: shuffle(n=0), "n must be at least 1, got 0"),
    (lambda: shuffle(n=-5), "n must be at least 1, got -5"),
    (lambda: shuffle(n=2.5), "n must be a whole number, got 2.5"),
    (lambda: shuffle(n=True), "n must be a whole number, got True"),
    (lambda: shuffle(n=math.nan), "n must be a whole number, got nan"),
    (lambda: shuffle(n=math.inf), "n must be a whole number, got inf"),
    (lambda: shuffle(n="100"), "n must be a whole number, got '100'"),
    (lambda: shuffle(n=None), "n must be a whole number, got None"),
    (lambda: shuffle(n=10**16), "n must be at most"),
    (lambda: shuffle(n=10, honest=0), "honest must be at least 1, got 0"),
    (lambda: shuffle(n=10, honest=11), "honest must be at most n = 10, got 11"),
    (lambda: shuffle(n=10, adversary="evil"), "adversary must be one of shuffled, weak, strong, got 'evil'"),
    (lambda: shuffle(n=10, randomizer="krr"), "randomizer must be a randomizer"),
    (lambda: shuffle(n=10, randomizer=sdp.KRR), "randomizer must be a randomizer"),
    (
        lambda: shuffle(n=10, randomizer=sdp.AnyLDP(epsilon0=1.0), adversary="strong").delta(epsilon=0.1),
        'the adversary "strong" is defined by',
    ),
    (
        lambda: shuffle(n=10, randomizer=sdp.AnyLDP(epsilon0=1.0, delta0=0.1), adversary="weak").delta(epsilon=0.1),
        'the adversary "weak" is defined by',
    ),
    (
        lambda: shuffle(n=10, randomizer=AnyDeletionLDP(epsilon0=1.0), adversary="strong").delta(epsilon=0.1),
        'the adversary "strong" is defined by',
    ),
    (
        lambda: AnyDeletionLDP(epsilon0=1.0).randomize([1]),
        "the randomizer must name a law to draw from",
    ),
    (lambda: sdp.KRR(k=3, epsilon0=-1.0), "epsilon0 must be positive, got -1.0"),
    (lambda: sdp.KRR(k=3, epsilon0=0.0), "epsilon0 must be positive, got 0.0"),
    (lambda: sdp.KRR(k=3, epsilon0=math.nan), "epsilon0 must be finite, got nan"),
    (lambda: sdp.RR(epsilon0=math.inf), "epsilon0 must be finite, got inf"),
    (lambda: sdp.KRR(k=1, epsilon0=1.0), "k must be at least 2, got 1"),
    (lambda: sdp.AnyLDP(epsilon0=1.0, delta0=-0.1), "delta0 must lie in [0, 1), got -0.1"),
    (lambda: sdp.FromMatrix([[0.5, 0.49], [0.5, 0.5]]), "row 0 must sum to 1, got 0.99"),
    (lambda: sdp.FromMatrix([[0.5, 0.5], [1.5, -0.5]]), "row 1 must hold probabilities, got -0.5"),
    (lambda: sdp.Gaussian(sigma=-1.0), "sigma must be positive, got -1.0"),
    *(
        (lambda delta=delta: SURVEY.epsilon(delta=delta), f"delta must lie in (0, 1), got {float(delta)!r}")
        for delta in (0.0, 1.0, -1e-6, 2)
    ),
    (lambda: SURVEY.epsilon(delta=math.nan), "delta must be finite, got nan"),
    (lambda: SURVEY.epsilon(delta="1e-6"), "delta must be a number, got '1e-6'"),
    (lambda: SURVEY.epsilon(delta=1e-300), "delta must be at least 1e-250, got 1e-300"),
    (lambda: SURVEY.compose(2).epsilon(delta=1.5), "delta must lie in (0, 1), got 1.5"),
    (lambda: SURVEY.explain(delta=0.0), "delta must lie in (0, 1), got 0.0"),
    (lambda: SURVEY.compose(2).explain(delta=0.0), "delta must lie in (0, 1), got 0.0"),
    (lambda: SURVEY.delta(epsilon=-0.1), "epsilon must be at least 0, got -0.1"),
    (lambda: SURVEY.delta(epsilon=math.nan), "epsilon must be finite, got nan"),
    (lambda: SURVEY.delta(epsilon=math.inf), "epsilon must be finite, got inf"),
    (lambda: SURVEY.compose(2).delta(epsilon=-0.1), "epsilon must be at least 0, got -0.1"),
    (lambda: SURVEY.profile(np.array([0.1, -0.1])), "epsilon must be at least 0, got -0.1"),
    (lambda: SURVEY.profile(np.array([0.1, np.nan])), "epsilon must be finite, got nan"),
    (lambda: SURVEY.tradeoff(np.array([0.5, 1.5])), "alpha must lie in [0, 1], got 1.5"),
    (lambda: SURVEY.tradeoff(np.array([np.nan])), "alpha must be finite, got nan"),
    *(
        (lambda order=order: SURVEY.rdp(order=order), f"order must exceed 1, got {order!r}")
        for order in (1.0, 0.5, -2.0)
    ),
    (lambda: SURVEY.rdp(order=math.inf), "order must be finite, got inf"),
    (lambda: SURVEY.compose(2).rdp(order=1.0), "order must exceed 1, got 1.0"),
    *((lambda rounds=rounds: SURVEY.compose(rounds), f"rounds must be at least 1, got {rounds}") for rounds in (0, -1)),
    (lambda: SURVEY.compose(1.5), "rounds must be a whole number, got 1.5"),  # type: ignore[arg-type]
    (lambda: SURVEY.compose(10**10), "rounds must be at most, got 10000000000"),
    (lambda: SURVEY.compose(10**5).compose(10**5), "rounds must be at most"),
    (lambda: SURVEY.compose(10**5000), "rounds must be at most, got an int"),
    (lambda: SURVEY.compose(-(10**5000)), "rounds must be at least 1, got an int"),
    (lambda: SURVEY.compose(2).compose(0), "rounds must be at least 1, got 0"),
    (lambda: sdp.Accountant().epsilon(delta=1e-6), "the accountant must hold at least one mechanism, got none"),
    (lambda: sdp.Accountant().delta(epsilon=1.0), "the accountant must hold at least one mechanism, got none"),
    (lambda: sdp.Accountant().add(KRR), "mechanism must come from shuffle(...) or compose(...)"),  # type: ignore[arg-type]
    (lambda: sdp.Accountant().add(SURVEY, rounds=0), "rounds must be at least 1, got 0"),
    (lambda: calibrate(KRR, n=100), "exactly one of epsilon0, n and rounds must be left open, got none"),
    (lambda: calibrate(KRR, rounds=None), "exactly one of epsilon0, n and rounds must be left open, got n and rounds"),
    (lambda: calibrate(sdp.KRR, k=3), "exactly one of epsilon0, n and rounds must be left open, got epsilon0 and n"),
    (
        lambda: calibrate(sdp.KRR, k=3, rounds=None),
        "exactly one of epsilon0, n and rounds must be left open, got epsilon0 and n and rounds",
    ),
    (lambda: calibrate(sdp.KRR, k=3, n=100, epsilon=0.0), "epsilon must be positive to calibrate for, got 0.0"),
    (lambda: calibrate(sdp.KRR, k=3, n=100, epsilon=-1.0), "epsilon must be at least 0, got -1.0"),
    (lambda: calibrate(sdp.KRR, k=3, n=100, delta=0.0), "delta must lie in (0, 1), got 0.0"),
    (lambda: calibrate(sdp.KRR, k=3, n=0), "n must be at least 1, got 0"),
    (lambda: calibrate(sdp.KRR, k=1, n=100), "k must be at least 2, got 1"),
    (lambda: calibrate(sdp.KRR, k=3, n=100, rounds=0), "rounds must be at least 1, got 0"),
    (lambda: calibrate(sdp.KRR, n=100), "the family must accept epsilon0 and no more"),
    (lambda: calibrate(sdp.KRR, n=100, k=3, size=2), "the family must accept epsilon0 and k, size"),
    (
        lambda: calibrate(sdp.KRR, n=100, k=3, adversary="evil"),
        "adversary must be one of shuffled, weak, strong, got 'evil'",
    ),
    (lambda: calibrate(KRR, k=3), "k must not be given with a randomizer"),
    (
        lambda: calibrate(sdp.KRR(k=3, epsilon0=20.0), n=100, rounds=None, epsilon=0.1),
        "no rounds from 1 to 1e+07 meets epsilon = 0.1",
    ),
    (lambda: calibrate(sdp.KRR(k=3, epsilon0=45.0), epsilon=0.1), "no n from 1 to 1e+12 meets epsilon = 0.1"),
    *(
        (lambda share=share: calibrate(sdp.KRR, k=3, n=100, honest_share=share), "honest_share must")
        for share in (0.0, -0.5, 1.5, math.nan)
    ),
]


@pytest.mark.parametrize("make, message", BAD, ids=[f"{i}-{message[:40]}" for i, (_, message) in enumerate(BAD)])
def test_bad_input_is_refused_with_a_remedy(make: Callable[[], object], message: str) -> None:
    with pytest.raises(sdp.InvalidInput) as refusal:
        make()
    text = str(refusal.value)
    name, _, value = message.partition(", got ")
    assert text.startswith(name.split(" must")[0] + " ")  # the exact wording of the rule is free
    assert not value or "got " + value in text
    assert "\n" not in text
    rule, _, remedy = text.partition(". ")
    assert len(rule) > 10
    assert len(remedy) > 15, text
    assert text.endswith("."), text
    assert isinstance(refusal.value, ValueError)


def test_privacy_parameters_are_keywords() -> None:
    for call in (
        lambda: SURVEY.epsilon(1e-6),
        lambda: SURVEY.delta(0.1),
        lambda: sdp.shuffle(KRR, 100),
        lambda: sdp.KRR(3, 1.0),
        lambda: SURVEY.rdp(2.0),
    ):
        with pytest.raises(TypeError):
            call()


def test_whole_numbers_may_come_as_floats() -> None:
    assert sdp.shuffle(sdp.KRR(k=3.0, epsilon0=1), n=100.0).n == 100  # type: ignore[arg-type]
    assert sdp.shuffle(KRR, n=np.int64(100), honest=np.int64(50)).honest == 50
    assert tuple(SURVEY.delta(epsilon=np.float64(0.1))) == tuple(SURVEY.delta(epsilon=0.1))


def test_numbers_beyond_any_meaning_are_refused_too() -> None:
    survey = sdp.shuffle(sdp.KRR(k=3, epsilon0=1.0), n=10)
    for call in (
        lambda: sdp.RR(epsilon0=10**400),
        lambda: sdp.shuffle(sdp.RR(epsilon0=1.0), n=10**5000),
        lambda: sdp.Gaussian(sigma=1e300),
        lambda: survey.profile([]),
        lambda: survey.profile(["a"]),
        lambda: survey.tradeoff([]),
        lambda: survey.delta(epsilon=800.0),
    ):
        with pytest.raises(sdp.InvalidInput, match=r"must .*, got .*\. \w"):
            call()
