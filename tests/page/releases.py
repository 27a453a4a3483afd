"""The facts of a few releases, as ``release`` makes them of seeded noise, and of one that is meant
to break a page.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from shuffledp import Poll
from shuffledp.client import Reporter
from shuffledp.design import Design
from shuffledp.mechanisms.results import Tally
from shuffledp.record import Context, LedgerEntry, Limit, Record, Total
from shuffledp.release.pipeline import Run, estimate_of, record_of

CITIES = [
    "Lisbon",
    "Porto",
    "Braga",
    "Coimbra",
    "Faro",
    "Évora",
    "Aveiro",
    "Setúbal",
    "Viseu",
    "Leiria",
    "Guarda",
    "elsewhere",
]
PEOPLE = [300_000, 200_000, 90_000, 80_000, 70_000, 60_000, 50_000, 40_000, 30_000, 30_000, 20_000, 30_000]
DIGITS = list("0123456789")
HOSTILE = [
    "</script><b>bold</b>",
    "x" * 300,
    "שלום עולם, مرحبا بالعالم",
    'W" onload="alert(1)' + "W" * 60,
    "とても長いラベルがここにありますよねえ",
    "\x00\r\n\t\ud800 nothing \u202egnihton",
]
LEDGER = LedgerEntry(
    population="app-users",
    id=17,
    record=None,
    releases=3,
    limit=Limit(epsilon=3.0, delta=1e-6),
    total=Total(lower=2.0912, upper=2.1234),
)


def facts(name: str) -> dict[str, Any]:
    """The facts of a release, which the caller may change."""
    return copy.deepcopy(_made(name))


def record(name: str) -> Record:
    """The same, as it is read."""
    return Record.from_json(_made(name))


@cache
def _made(name: str) -> dict[str, Any]:
    if name == "hostile":
        return _hostile(facts("rounds"))
    protocol, values, column = _asked(name)
    design = Design.of(protocol)
    reports = Reporter.of(design).encode(values, rng=np.random.default_rng(7))
    tally = Tally.of(protocol.randomizer, reports).mixed()
    asked = Context(
        question=design.question.type,
        what=f"{design.question.type} of {column}",
        source="people.parquet",
        column=column,
        categories=f"{column}.txt" if design.resolved.counts else None,
        missing="left out",
        outside="refused",
    )
    found = record_of(design, tally, estimate_of(design, tally), Run(asked=asked, missing=17))
    made = replace(found, ledger=LEDGER if name == "survey" else None).sealed().as_json()
    made["made"]["when"] = "2026-11-15T12:00:00+00:00"  # screenshots change only with the page
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


def _asked(name: str) -> tuple[Poll, Any, str]:
    rng = np.random.default_rng(1)
    if name == "survey":
        return (
            Poll("histogram", categories=CITIES, n=1_000_000, epsilon=1.0, delta=1e-8),
            np.repeat(np.arange(12), PEOPLE),
            "city",
        )
    if name == "mean":
        return (
            Poll("mean", lower=0.0, upper=100.0, n=50_000, k=8, epsilon0=5.9, delta=1e-6),
            rng.uniform(0.0, 100.0, 50_000),
            "age",
        )
    if name == "rounds":
        return (
            Poll("histogram", categories=list("abcdef"), n=20_000, epsilon0=3.8, delta=1e-6, rounds=12, honest=18_000),
            rng.integers(0, 6, 20_000),
            "letter",
        )
    if name == "many":
        return (
            Poll("histogram", categories=300, mechanism="hadamard", n=20_000, epsilon0=6.0, delta=1e-6),
            rng.zipf(1.5, 20_000) % 300,
            "page",
        )
    if name == "quantile":
        return (
            Poll("quantile", cuts=range(0, 101, 5), at=[0.25, 0.5, 0.75], n=20_000, epsilon=1.0, delta=1e-6),
            rng.uniform(0.0, 100.0, 20_000),
            "age",
        )
    if name == "crosstab":
        return (
            Poll(
                "crosstab",
                columns=["region", "drink"],
                categories=[["north", "south"], ["tea", "coffee", "water"]],
                n=20_000,
                epsilon=1.0,
                delta=1e-6,
            ),
            rng.integers(0, 6, 20_000),
            "region × drink",
        )
    if name == "wide crosstab":
        return (
            Poll("crosstab", columns=["tens", "ones"], categories=[DIGITS, DIGITS], n=20_000, epsilon=1.0, delta=1e-6),
            rng.integers(0, 100, 20_000),
            "tens × ones",
        )
    assert name == "tiny"
    return Poll("histogram", categories=["a", "b"], n=4, epsilon0=2.0, delta=1e-3), np.array([0, 1, 0, 0]), "letter"


def _hostile(made: dict[str, Any]) -> dict[str, Any]:
    """Every name that a user chooses tries to break out of its place; numbers are wide and
    negative.
    """
    made["asked"] |= {
        "column": "</title><script>alert(1)</script>" + "endless_" * 20,
        "source": "\"'&<i>.csv",
        "categories": "a&b<c",
    }
    made["asked"] |= {"missing": "counted as </dl>", "outside": "counted as <!--"}
    made["ledger"] = LEDGER.as_json() | {"population": "</p><img src=x onerror=alert(1)>", "record": "<code>"}
    made["notes"] = ["<img src=https://example.org/pixel.gif>"]
    made["secure"] = False
    found = made["tables"][0]
    found["label"] = made["design"]["question"]["categories"] = made["design"]["domain"]["labels"] = HOSTILE
    found["value"][:2], found["lower"][:2], found["upper"][:2] = (
        [1_234_567_890.5, -12.3],
        [1_234_560_000.0, -70.2],
        [1_234_570_000.0, 48.0],
    )
    return made
