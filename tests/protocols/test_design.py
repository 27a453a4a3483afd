"""A design is a protocol on paper: built again, it draws, counts and certifies the same."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.client import Encoder
from shuffledp.errors import InvalidInput
from shuffledp.protocols import tasks
from shuffledp.protocols.design import Design
from shuffledp.protocols.settling import certify
from shuffledp.randomizers.law_file import law_of

HOW = {"n": 500, "epsilon": 1.0, "delta": 1e-6}
PROTOCOLS: dict[str, Callable[[], sdp.Histogram]] = {
    "histogram": lambda: sdp.Histogram(categories=["a", "b", "c"], other="c", honest=400, rounds=2, **HOW),
    "binary": lambda: sdp.Histogram(categories=["yes", "no"], **HOW),
    "numbers": lambda: sdp.Histogram(categories=5, n=500, epsilon0=3.0, delta=1e-6),
    "mean": lambda: sdp.Mean(lower=-1.0, upper=2.0, **HOW),
    **{
        f"histogram {each}": partial(sdp.Histogram, categories=40, mechanism=each, n=500, epsilon=2.0, delta=1e-6)
        for each in ("hadamard", "hash", "subset", "oue")
    },
}


@cache
def made(name: str) -> sdp.Histogram:
    return PROTOCOLS[name]()


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> sdp.Histogram:
    return made(request.param)


def test_json_and_back_is_the_same_protocol(protocol: sdp.Histogram) -> None:
    design = Design.from_json(json.loads(json.dumps(Design.of(protocol).as_json())))
    again = design.protocol
    assert again.describe() == protocol.describe()
    assert again.randomizer == protocol.randomizer or design.law.family == "subset"
    assert again.guarantee.epsilon(delta=1e-6) == protocol.guarantee.epsilon(delta=1e-6)
    assert design.digest == Design.of(protocol).digest


def test_a_design_encodes_and_counts_as_its_protocol_does(protocol: sdp.Histogram) -> None:
    design, values = Design.of(protocol), np.arange(500) % min(3, protocol.randomizer.k)
    if design.task.bounds is not None:
        values = np.linspace(-1.0, 2.0, 500)
    rows = Encoder.of(design).encode(values, rng=np.random.default_rng(5))
    parts = design.protocol.tally(rows[:150]) + design.protocol.tally(rows[150:])
    assert np.array_equal(parts, design.protocol.tally(rows))
    direct = protocol.analyse(protocol.shuffle(rows))
    assert np.array_equal(design.protocol.analyse_counts(parts).values, direct.values)
    assert np.array_equal(design.protocol.analyse_counts(parts).stderr, direct.stderr)


def test_any_changed_field_is_refused(protocol: sdp.Histogram) -> None:
    facts = Design.of(protocol).as_json()
    optional = {"epsilon", "other"}
    for name, value in facts.items():
        for wrong in (None, "nonsense", -1, [], {}, 0.001):
            if (
                wrong == value
                or (wrong is None and name in optional)
                or (wrong == 0.001 and name in {"delta", "lower", "upper"})
            ):
                continue
            with pytest.raises(InvalidInput):
                certify(Design.from_json(facts | {name: wrong}))
    with pytest.raises(InvalidInput):
        Design.from_json({key: value for key, value in facts.items() if key != "law"})
    with pytest.raises(InvalidInput, match="version"):
        Design.from_json(facts | {"version": 2})


def test_a_law_that_no_mechanism_draws_by_is_refused() -> None:
    facts = Design.of(made("histogram hadamard")).as_json()
    with pytest.raises(InvalidInput, match="must fit its question"):
        Design.from_json(facts | {"law": law_of(sdp.RAPPOR(k=40, epsilon0=1.0))})


def test_a_promise_that_the_noise_does_not_keep_is_refused() -> None:
    facts = Design.of(made("binary")).as_json()
    with pytest.raises(InvalidInput, match="must keep its promise"):
        certify(Design.from_json(facts | {"epsilon": 0.9}))


def test_labels_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(InvalidInput, match="strings or whole numbers"):
        Design.of(sdp.Histogram(categories=[("a", 1), ("b", 2)], n=10, epsilon0=1.0, delta=1e-3))


def test_a_baseline_has_no_design() -> None:
    with pytest.raises(InvalidInput, match="must be a Histogram or Count or "):
        Design.of(sdp.StatisticalQuery(query=float, n=10, epsilon0=1.0, k=1))


def test_a_design_needs_a_delta() -> None:
    with pytest.raises(InvalidInput, match="delta must be given"):
        Design.of(sdp.Histogram(categories=["a", "b"], n=10, epsilon0=1.0))


def test_reading_a_design_loads_no_accountant_and_no_numbers() -> None:
    program = "import sys, shuffledp.protocols.design; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "matplotlib", "pyarrow", "shuffledp.accounting", "shuffledp.randomizers"} & set(
        loaded
    )


def test_a_task_from_outside_is_written_down_and_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.protocols.tasks.task.TASKS", dict(tasks.TASKS))  # the one that register fills

    @tasks.register
    @dataclass(frozen=True)
    class RankingTask(tasks.CountingTask):
        name: ClassVar[str] = "ranking"
        listed: ClassVar[str] = "candidates"
        candidates: tuple[tasks.Label, ...]
        other: tasks.Label | None = None

        def fits(self, family: str, k: int) -> bool:
            return family == "krr" and k == self.size

    law = Design.of(made("histogram")).law
    ranking = Design(RankingTask(("x", "y", "z")), n=500, honest=400, rounds=1, epsilon=1.0, delta=1e-6, law=law)
    again = Design.from_json(json.loads(json.dumps(ranking.as_json())))
    assert again == ranking
    assert again.digest == ranking.digest
    with pytest.raises(InvalidInput, match="must be its own"):
        tasks.register(type("Copy", (RankingTask,), {}))
