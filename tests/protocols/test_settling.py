"""A constructor describes; the noise is chosen when it is first asked for, once."""

from collections.abc import Callable

import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms import one_message
from shuffledp.protocols.design import Design
from shuffledp.protocols.protocol import ShuffledProtocol
from shuffledp.protocols.settling import certify, protocol_of

PROMISE = {"n": 400, "epsilon": 1.0, "delta": 1e-6}
BUILDERS: dict[str, Callable[[], ShuffledProtocol]] = {
    "histogram": lambda: sdp.Histogram(categories=["a", "b"], **PROMISE),
    "hadamard": lambda: sdp.Histogram(categories=5, mechanism="subset", **PROMISE),
    "mean": lambda: sdp.Mean(k=2, **PROMISE),
    "best grid": lambda: sdp.Sum(**PROMISE),
}
ASKED: dict[str, Callable[[ShuffledProtocol], object]] = {
    "settle": lambda made: made.settle(),
    "randomizer": lambda made: made.randomizer,
    "epsilon0": lambda made: made.epsilon0,
    "guarantee": lambda made: made.guarantee,
}


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("asked", ASKED)
def test_nothing_is_calibrated_before_it_is_asked_for_and_nothing_twice(
    name: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []
    real = one_message.strongest

    def watched(*given: object) -> float:
        calls.append(given)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("shuffledp.mechanisms.one_message.strongest", watched)
    made = BUILDERS[name]()
    shown = repr(made)
    assert calls == []
    ASKED[asked](made)
    assert len(calls) == 1
    assert made.settle() is made
    assert (made.randomizer, made.guarantee, made.epsilon0) == (
        made.randomizer,
        made.guarantee,
        made.randomizer.epsilon0,
    )
    assert len(calls) == 1
    assert repr(made) == shown or name == "best grid"


def test_an_impossible_promise_is_refused_whenever_the_noise_is_asked_for() -> None:
    impossible = sdp.Histogram(categories=["a", "b"], n=10, epsilon=1e-9, delta=1e-12)
    for _ in range(2):
        with pytest.raises(InvalidInput, match="Use more users"):
            impossible.encode(["a"])


def test_a_design_keeps_its_very_randomizer() -> None:
    poll = sdp.Histogram(categories=["a", "b"], **PROMISE)
    design = Design.of(poll)
    again = protocol_of(design)
    assert (again.randomizer, again.epsilon0, again.epsilon) == (poll.randomizer, poll.epsilon0, None)
    assert certify(design).protocol.guarantee.delta_at_most(epsilon=1.0) <= 1e-6


def test_a_mean_takes_its_grid_from_a_randomizer() -> None:
    mean = sdp.Mean(n=100, randomizer=sdp.KRR(k=5, epsilon0=2.0))
    assert mean.k == 4
    with pytest.raises(InvalidInput, match="k must be one less"):
        sdp.Mean(n=100, k=3, randomizer=sdp.KRR(k=5, epsilon0=2.0))


def test_a_histogram_takes_anybodys_randomizer_that_votes_for_many() -> None:
    words = sdp.Histogram(categories=["x", "y", "z"], n=100, randomizer=sdp.RAPPOR(k=3, epsilon0=2.0))
    assert words.analyse(words.shuffle(words.encode(["x"] * 100))).n == 100


def test_whoever_sees_the_noise_sees_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may ask between any two assignments."""
    poll = sdp.Histogram(categories=["a", "b"], n=1000, epsilon=1.0, delta=1e-6)
    assign, seen = object.__setattr__, list[object]()

    def watched(self: sdp.Histogram, **found: object) -> None:
        for name, value in found.items():
            assign(self, name, value)
            if vars(self)["randomizer"] is not None:
                seen.append(self.epsilon0)

    monkeypatch.setattr(sdp.Histogram, "_set", watched)
    poll.settle()
    assert seen
    assert None not in seen
