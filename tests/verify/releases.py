"""The facts of small releases of every kind, from seeded noise."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.client import Reporter
from shuffledp.design import Design
from shuffledp.judge.effort import Effort
from shuffledp.mechanisms.results import Tally
from shuffledp.page import html
from shuffledp.record import HASHED, Context, Record
from shuffledp.release.pipeline import Run, estimate_of, record_of
from shuffledp.release.released import Release
from shuffledp.storage.canonical import digest_of
from shuffledp.verify import Check
from shuffledp.verify.check_comparison import check_comparison
from shuffledp.verify.handed import Judge
from shuffledp.verify.rechecks import Rechecker
from shuffledp.wording import statement

LEDGER = {
    "population": "x",
    "id": 4,
    "record": "ab",
    "releases": 2,
    "limit": {"epsilon": 3.0, "delta": 1e-3},
    "total": {"lower": 2.0, "upper": 2.4},
}


WORDS: dict[str, Any] = {"words": 2, "longest": 2, "tokens": ["a", "b"], "epsilon": 2.0, "delta": 1e-3}
BINS: dict[str, Any] = {"lower": 0, "upper": 4, "ranges": [(0, 2)], "epsilon": 1.0, "delta": 1e-3}
# Releases that are more than a tally and its design.
ASKED: dict[str, Callable[[], Release]] = {
    "search": lambda: sdp.top(["ab"] * 1500 + ["ba"] * 500, **WORDS, rng=np.random.default_rng(8)),
    "quantile": lambda: sdp.quantile([1.0, 2.0, 3.0] * 30, **BINS, rng=np.random.default_rng(8)),
}


def facts(name: str) -> dict[str, Any]:
    """Facts that the caller may change."""
    return copy.deepcopy(_made(name))


def rehashed(made: dict[str, Any]) -> dict[str, Any]:
    """The same with hashes that fit, as a careful forger would make them."""
    made["hashes"] = {name: digest_of(made[name]) for name in HASHED}
    return made


def judged(made: dict[str, Any]) -> tuple[list[Check], Judge]:
    """What the recheck of its question says of these facts, and what it leaves to be done."""
    record = Record.from_json(made)
    judge = Judge.of(record, Effort())
    return Rechecker(judge).answer(), judge


def compared(made: dict[str, Any]) -> list[Check]:
    """What is said of other kinds of trust."""
    _, judge = judged(made)
    return check_comparison(judge.record, judge.law, judge.measure)


def as_page(made: dict[str, Any]) -> str:
    """The page that shows these facts."""
    return html(Record.from_json(made))


def told(name: str) -> dict[str, Any]:
    """A release of which all is told that can be."""
    return told_of(facts(name))


def told_of(made: dict[str, Any]) -> dict[str, Any]:
    """The same of these facts."""
    made["asked"] |= {"title": "Title", "what": "a question", "categories": "a list", "missing": "counted as c"}
    weeks = {"weeks": made["design"]["target"]["rounds"], "period": "2026-W47", "digest": "5e" * 32}
    made["asked"]["series"] = {"name": "cities", "week": 1, **weeks}
    made["counted"]["repeated"] = 3
    made["notes"] = ["a note", "another"]
    return rehashed(collected(made) | {"ledger": LEDGER})


def collected(made: dict[str, Any]) -> dict[str, Any]:
    """The same, as if its reports had come over the network."""
    certificate = made["certificate"]
    at = certificate["assumption_ids"].index("rows")
    certificate["assumptions"][at], certificate["assumption_ids"][at] = statement("senders"), "senders"
    people, law = made["counted"]["reports"], made["design"]["mechanism"]
    came = {"digest": "5e" * 32, "round": 1, "arrived": people + 4, "invalid": 4}
    if law["type"] in ("fakes", "dummies", "tree", "signed", "split"):
        added = law["type"] in ("dummies", "tree")
        each = law.get("messages", law.get("slots", 0) + 1)
        came |= {"arrived": people, "messages": sum(made["tally"]["votes"]) + 4 if added else each * people}
    made["counted"]["collected"] = came
    return made


@cache
def _made(name: str) -> dict[str, Any]:
    if name in ASKED:
        return json.loads(json.dumps(ASKED[name]().record.as_json()))  # type: ignore[no-any-return]
    return made_by(*_asked(name))


def made_by(protocol: Poll, values: Any = None) -> dict[str, Any]:
    """The facts of a release; without ``values``, everybody holds the first category."""
    design, values = Design.of(protocol), np.zeros(protocol.n, dtype=np.intp) if values is None else values
    rng = np.random.default_rng(7)
    tally = Tally.of(protocol.randomizer, Reporter.of(design).encode(values, rng=rng)).mixed(rng=rng)
    by = "region" if design.question.type == "crosstab" else None
    asked = Context(question=design.question.type, source="people.csv", column="x", by=by)
    made = record_of(design, tally, estimate_of(design, tally), Run(asked=asked, missing=3))
    return json.loads(json.dumps(made.as_json()))  # type: ignore[no-any-return]


def _asked(name: str) -> tuple[Poll, Any]:
    made, held = POLLS[name]
    poll, rng = made(), np.random.default_rng(1)
    return poll, rng.uniform(*held, poll.n) if isinstance(held, tuple) else rng.integers(0, held, poll.n)


LETTERS: dict[str, Any] = {"categories": ["a", "b", "c"], "delta": 1e-3}
FEW: dict[str, Any] = {"categories": ["x", "y", "z"], "n": 2000, "epsilon": 1.0, "delta": 1e-6}
LIGHT = FEW | {"light_epsilon0": 6.0}
MANY: dict[str, Any] = {"categories": 20, "epsilon0": 3.0, "delta": 1e-6}
CROSSED: dict[str, Any] = {"columns": ["region", "smoker"], "categories": [["n", "s"], 2], "other": ["s", None]}
counts = partial(Poll, "histogram")
# How each is asked, and what is drawn of people: so many values, or numbers between two.
POLLS: dict[str, tuple[Callable[[], Poll], int | tuple[float, float]]] = {
    "tiny": (partial(counts, **LETTERS, n=6, epsilon0=2.0), 3),
    "few rounds": (partial(counts, **LETTERS, n=4, epsilon0=1.0, rounds=2), 3),
    "poll": (partial(counts, categories=list("abcdefgh"), n=3000, honest=2500, epsilon0=4.0, delta=1e-6), 7),
    "promise": (partial(counts, **FEW), 3),
    "binary": (partial(counts, categories=["yes", "no"], n=800, epsilon0=3.0, delta=1e-6), 2),
    "mean": (partial(Poll, "mean", lower=-5.0, upper=20.0, n=2000, epsilon=1.0, delta=1e-6), (-5.0, 20.0)),
    "rounds": (partial(counts, **LETTERS | {"delta": 1e-5}, n=1500, epsilon0=2.0, rounds=5), 3),
    "binary rounds": (partial(counts, categories=["yes", "no"], n=300, epsilon0=2.0, delta=1e-5, rounds=4), 2),
    "crosstab": (partial(Poll, "crosstab", **CROSSED, n=900, epsilon0=3.0, delta=1e-6), 3),
    "fakes": (partial(counts, **FEW, mechanism="fakes"), 3),
    "light fakes": (partial(counts, **LIGHT, mechanism="fakes"), 3),
    "dummies": (partial(counts, **FEW, mechanism="dummies", keep=0.9), 3),
    "light dummies": (partial(counts, **LIGHT, mechanism="dummies", kind="poisson", keep=0.9), 3),
    "dummies in rounds": (partial(counts, **FEW, mechanism="dummies", rounds=3, kind="poisson"), 3),
    "count": (partial(Poll, "count", value="yes", n=500, epsilon=1.0, delta=1e-6), 2),
    "split": (
        partial(Poll, "sum", mechanism="split", lower=0.0, upper=8.0, n=500, epsilon=1.0, delta=1e-6),
        (0.0, 8.0),
    ),
    "one block": (partial(counts, categories=5, mechanism="hadamard", n=1000, epsilon0=0.6, delta=1e-6), 5),
    "hadamard": (partial(counts, **MANY, mechanism="hadamard", n=1000), 5),
    # The first-clone swap of more people is summed in half the time.
    **{each: (partial(counts, **MANY, mechanism=each, n=8000), 5) for each in ("hash", "subset", "oue")},
}
NAMES = tuple(each for each in POLLS if each not in ("count", "split"))
