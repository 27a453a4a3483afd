"""The facts of small releases of every kind, from seeded noise."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.client import Reporter
from shuffledp.design import Design
from shuffledp.judge.effort import Effort
from shuffledp.judge.reports import counted
from shuffledp.mechanisms.results import Tally
from shuffledp.page import html
from shuffledp.record import HASHED, Context, Record
from shuffledp.release.pipeline import estimate_of, record_of
from shuffledp.release.released import Release
from shuffledp.storage.canonical import digest_of
from shuffledp.verify import Check
from shuffledp.verify.check_comparison import check_comparison
from shuffledp.verify.handed import Judge
from shuffledp.verify.rechecks import Asked
from shuffledp.wording import statement

NAMES = (
    "tiny",
    "poll",
    "binary",
    "promise",
    "mean",
    "hadamard",
    "one block",
    "hash",
    "subset",
    "oue",
    "rounds",
    "few rounds",
    "binary rounds",
    "fakes",
    "light fakes",
    "dummies",
    "light dummies",
    "dummies in rounds",
    "crosstab",
)


LEDGER = {
    "population": "x",
    "id": 4,
    "record": "ab",
    "releases": 2,
    "limit": {"epsilon": 3.0, "delta": 1e-3},
    "total": {"lower": 2.0, "upper": 2.4},
}


# Releases that are more than a tally and its design.
ASKED: dict[str, Callable[[], Release]] = {
    "search": lambda: sdp.top(
        ["ab"] * 1500 + ["ba"] * 500,
        k=2,
        longest=2,
        tokens=["a", "b"],
        epsilon=2.0,
        delta=1e-3,
        rng=np.random.default_rng(8),
    ),
    "quantile": lambda: sdp.quantile(
        [1.0, 2.0, 3.0] * 30,
        lower=0,
        upper=4,
        ranges=[(0, 2)],
        epsilon=1.0,
        delta=1e-3,
        rng=np.random.default_rng(8),
    ),
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
    judge = Judge(record, counted(made["design"]["mechanism"]), Effort())
    return Asked(judge).answer(), judge


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
    week = {
        "name": "cities",
        "week": 1,
        "weeks": made["design"]["target"]["rounds"],
        "period": "2026-W47",
        "digest": "5e" * 32,
    }
    made["asked"]["series"] = week
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
    made = record_of(design, tally, estimate_of(design, tally), asked=asked, missing=3)
    return json.loads(json.dumps(made.as_json()))  # type: ignore[no-any-return]


def _asked(name: str) -> tuple[Poll, Any]:
    rng = np.random.default_rng(1)
    letters: dict[str, Any] = {"categories": ["a", "b", "c"], "delta": 1e-3}
    if name == "tiny":
        return Poll("histogram", **letters, n=6, epsilon0=2.0), rng.integers(0, 3, 6)
    if name == "few rounds":
        return Poll("histogram", **letters, n=4, epsilon0=1.0, rounds=2), rng.integers(0, 3, 4)
    if name == "poll":
        return Poll(
            "histogram", categories=list("abcdefgh"), n=3000, honest=2500, epsilon0=4.0, delta=1e-6
        ), rng.integers(0, 7, 3000)
    if name == "promise":
        return Poll("histogram", categories=["x", "y", "z"], n=2000, epsilon=1.0, delta=1e-6), rng.integers(0, 3, 2000)
    if name == "binary":
        return Poll("histogram", categories=["yes", "no"], n=800, epsilon0=3.0, delta=1e-6), rng.integers(0, 2, 800)
    if name == "mean":
        return Poll("mean", lower=-5.0, upper=20.0, n=2000, epsilon=1.0, delta=1e-6), rng.uniform(-5.0, 20.0, 2000)
    if name == "rounds":
        return Poll("histogram", **letters | {"delta": 1e-5}, n=1500, epsilon0=2.0, rounds=5), rng.integers(0, 3, 1500)
    if name == "binary rounds":
        return Poll("histogram", categories=["yes", "no"], n=300, epsilon0=2.0, delta=1e-5, rounds=4), rng.integers(
            0, 2, 300
        )
    if name == "crosstab":
        columns = {"columns": ["region", "smoker"], "categories": [["n", "s"], 2], "other": ["s", None]}
        return Poll("crosstab", **columns, n=900, epsilon0=3.0, delta=1e-6), rng.integers(0, 3, 900)  # type: ignore[arg-type]
    few: dict[str, Any] = {"categories": ["x", "y", "z"], "n": 2000, "epsilon": 1.0, "delta": 1e-6}
    if name.startswith("light"):
        few |= {"light_epsilon0": 6.0}
    if name.endswith("fakes"):
        return Poll("histogram", mechanism="fakes", **few), rng.integers(0, 3, 2000)
    if "dummies" in name:
        rounds = {"rounds": 3, "kind": "poisson"} if "rounds" in name else {"keep": 0.9}
        few |= {"kind": "poisson"} if "light" in name else {}
        return Poll("histogram", mechanism="dummies", **few | rounds), rng.integers(0, 3, 2000)
    if name == "count":
        return Poll("count", value="yes", n=500, epsilon=1.0, delta=1e-6), rng.integers(0, 2, 500)
    if name == "split":
        return Poll("sum", mechanism="split", lower=0.0, upper=8.0, n=500, epsilon=1.0, delta=1e-6), rng.uniform(
            0.0, 8.0, 500
        )
    small = name == "one block"
    method: Any = "hadamard" if small else name
    n = 1000 if method == "hadamard" else 8000  # the first-clone swap of more people is summed in half the time
    return Poll(
        "histogram", categories=5 if small else 20, mechanism=method, n=n, epsilon0=0.6 if small else 3.0, delta=1e-6
    ), rng.integers(0, 5, n)
