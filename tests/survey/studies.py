"""Collections to try things on."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import AnalystKey

KEY = AnalystKey(bytes(range(32)))
ADDRESS = "http://127.0.0.1:8000"


def with_target(design: Design, **target: Any) -> Design:
    """The same design for another target, which its noise may not meet."""
    return replace(design, target=replace(design.target, **target))


@cache
def designs() -> dict[str, Design]:
    """One of each kind of report; few people and a large delta, so that they are settled at once."""
    common: dict[str, Any] = {"delta": 1e-2, "epsilon": 2.0}
    made = {
        "krr": Poll("histogram", categories=["yes", "no", "rather not say"], n=1000, honest=500, **common),
        "mean": Poll("mean", lower=0.0, upper=120.0, n=1000, honest=500, **common),
        **{
            mechanism: Poll("histogram", categories=range(300), n=1000, honest=500, mechanism=mechanism, **common)
            for mechanism in ("hadamard", "hash", "subset", "oue")
        },
    }
    return {name: Design.of(protocol) for name, protocol in made.items()}


def study(name: str = "krr", **changed: Any) -> Collection:
    """A collection of the design with that name."""
    return Collection(design=designs()[name], key=KEY.public, shuffler=ADDRESS, **changed)
