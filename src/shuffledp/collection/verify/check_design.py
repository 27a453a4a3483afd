"""The design of a release, checked by rules of our own: whether its integers are the ones that its
epsilon0 demands, and whether it is one that clients could run.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from shuffledp.collection.verify.check_estimates import labels_of, places_of, size_of
from shuffledp.collection.verify.counted_law import CountedLaw
from shuffledp.collection.verify.outcomes import Check, equal, holds

__all__ = ["check_design"]

FAMILIES = {"hadamard": "hadamard", "hashing": "hash", "subset": "subset", "unary": "oue"}  # by the method's name
LEAST_EPSILON0, MOST_EPSILON0 = Decimal("1e-12"), Decimal(50)  # of a report that hides something, and not all
LARGEST_BOUND = 1e100  # of a range: squares of sums must be finite


def check_design(design: dict[str, Any], law: CountedLaw) -> list[Check]:
    """Everything that a design says of itself, but for its promise, which the oracle judges."""
    task = design["task"]
    family = FAMILIES.get(design["method"], "") if task == "frequency" else "krr"
    size = law.k if task == "mean" else size_of(design)
    other = design.get("other")
    broken = next(_broken(design, law), None)
    return [
        equal("version of the design", design["version"], 1, "what shuffledp writes"),
        holds("the design", "one that runs", broken or "it does", "the rules of a client", broken is None),
        equal("the randomizer", law.family, family, "the task"),
        equal("values that a report can name", law.k, size, "the design"),
        holds(
            "where other values go",
            other,
            "one of the labels, or nowhere",
            "the design",
            other is None or bool(places_of([str(other)], design)),
        ),
        holds(
            "epsilon0 of one report",
            law.epsilon0,
            f"{law.implied:.20}",
            "the integers, as fractions; logarithm to 60 digits",
            law.implied <= Decimal(law.epsilon0),
        ),
        equal(
            "integers of the randomizer",
            _listed(law.integers),
            _listed(law.least_integers),
            "the least noise out of 2^64 that keeps epsilon0, to 60 digits",
        ),
    ]


def _listed(integers: tuple[int, ...]) -> str:
    return ", ".join(map(str, integers))


def _broken(design: dict[str, Any], law: CountedLaw) -> Iterator[str]:
    """The rules of a client that a design breaks."""
    if strange := sorted(set(design["law"]) ^ law.names):
        yield f"a law with another {strange[0]}"
    if not LEAST_EPSILON0 <= Decimal(law.epsilon0) <= MOST_EPSILON0:
        yield f"epsilon0 = {law.epsilon0:g}"
    if not design["least"] <= design["n"]:
        yield f"at least {design['least']} of {design['n']} users"
    if not 0.0 < design["delta"] < 1.0:
        yield f"delta = {design['delta']:g}"
    if design["epsilon"] is not None and not design["epsilon"] > 0.0:
        yield f"epsilon = {design['epsilon']:g}"
    if design["task"] == "mean":
        lower, upper = design["lower"], design["upper"]
        if not -LARGEST_BOUND <= lower < upper <= LARGEST_BOUND:
            yield f"a range from {lower:g} to {upper:g}"
    elif not isinstance(design.get("categories", design.get("domain")), int):
        labels = labels_of(design)
        if len(set(labels)) < len(labels):
            yield "a label twice"
        if not all(label.isprintable() for label in labels):
            yield "a label that cannot be printed"
