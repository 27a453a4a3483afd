"""What a constructor makes is whole: its noise is chosen, once, and never changes."""

from collections.abc import Callable

import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms import one_message
from shuffledp.protocols.settling import certify, protocol_of

PROMISE = {"n": 400, "epsilon": 1.0, "delta": 1e-6}
BUILDERS: dict[str, Callable[[], Poll]] = {
    "histogram": lambda: Poll("histogram", categories=["a", "b"], **PROMISE),
    "hadamard": lambda: Poll("histogram", categories=5, mechanism="subset", **PROMISE),
    "mean": lambda: Poll("mean", k=2, **PROMISE),
    "best grid": lambda: Poll("sum", **PROMISE),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_what_is_built_is_whole_and_nothing_is_calibrated_twice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    real = one_message.strongest

    def watched(*given: object) -> float:
        calls.append(given)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("shuffledp.mechanisms.one_message.strongest", watched)
    made = BUILDERS[name]()
    before = dict(vars(made))
    assert len(calls) == 1
    assert made.epsilon0 == made.randomizer.epsilon0
    assert made.guarantee.delta_at_most(epsilon=1.0) <= 1e-6
    assert len(calls) == 1
    assert vars(made) == before


def test_an_impossible_promise_is_refused_when_it_is_made() -> None:
    with pytest.raises(InvalidInput, match="Use more users"):
        Poll("histogram", categories=["a", "b"], n=10, epsilon=1e-9, delta=1e-12)


def test_a_design_keeps_its_very_randomizer() -> None:
    poll = Poll("histogram", categories=["a", "b"], **PROMISE)
    design = Design.of(poll)
    again = protocol_of(design)
    assert (again.randomizer, again.epsilon0, again.epsilon) == (poll.randomizer, poll.epsilon0, None)
    assert certify(design).protocol.guarantee.delta_at_most(epsilon=1.0) <= 1e-6


def test_a_mean_takes_its_grid_from_a_randomizer() -> None:
    mean = Poll("mean", n=100, randomizer=sdp.KRR(k=5, epsilon0=2.0))
    assert mean.randomizer.k == 5
    with pytest.raises(InvalidInput, match="k must be one less"):
        Poll("mean", n=100, k=3, randomizer=sdp.KRR(k=5, epsilon0=2.0))


def test_a_histogram_takes_anybodys_randomizer_that_votes_for_many() -> None:
    words = Poll("histogram", categories=["x", "y", "z"], n=100, randomizer=sdp.RAPPOR(k=3, epsilon0=2.0))
    assert words.analyse(words.shuffle(words.encode(["x"] * 100))).n == 100
