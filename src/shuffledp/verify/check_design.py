"""The design of a release: read as a client would, and its integers computed again by rules of our
own.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from shuffledp.errors import InvalidInput
from shuffledp.judge.laws import CountedLaw, CountedLevels
from shuffledp.protocols.design import Design
from shuffledp.record import Designed, Record
from shuffledp.verify.by_task import told_by
from shuffledp.verify.outcomes import Check, equal, holds

__all__ = ["check_design"]

VERSION = 1
LEAST_EPSILON0, MOST_EPSILON0 = Decimal("1e-12"), Decimal(50)  # of a report that hides something, and not all


def check_design(record: Record, law: CountedLaw) -> list[Check]:
    """Everything that a design says of itself, but for its promise, which the oracle judges."""
    design = record.design
    broken = next(_broken(design, law), None)
    return [
        equal("version of the design", design.version, VERSION, "what shuffledp writes"),
        holds("the design", "one that runs", broken or "it does", "read as a client would", broken is None),
        *_check_law(design, law),
    ]


def _check_law(design: Designed, law: CountedLaw) -> list[Check]:
    told = told_by(design)
    families = told.families(design)
    family = law.family if law.family in families else families[0]
    digits = "the integers, as fractions; logarithm to 60 digits"
    least = "the least noise out of 2^64 that keeps epsilon0, to 60 digits"
    return [
        equal("the randomizer", law.family, family, "the task"),
        equal("values that a report can name", law.k, told.size(design, law), "the design"),
        holds(
            "where other values go",
            design.other,
            "one of the labels, or nowhere",
            "the design",
            told.known_rest(design),
        ),
        holds(
            "epsilon0 of one report",
            "none: it is the truth" if law.alone is None else law.epsilon0,
            f"{law.implied:.20}",
            digits,
            law.implied <= Decimal(law.epsilon0),
        ),
        equal("integers of the randomizer", _listed(law.integers), _listed(law.least_integers), least),
        *_check_levels(law),
    ]


def _check_levels(law: CountedLaw) -> list[Check]:
    """The integers of each level."""
    if not isinstance(law, CountedLevels):
        return []
    found = [_listed(level.least_integers) for level in law.levels]
    least = "the least noise out of 2^64 that keeps epsilon0, to 60 digits"
    loud = all(level.implied <= Decimal(level.epsilon0) for level in law.levels)
    return [
        equal("weights of the levels", list(law.weights), [float(each) for each in law.shares], "the integers"),
        equal("integers of the levels", [_listed(level.integers) for level in law.levels], found, least),
        holds("epsilon0 of the levels", law.epsilon0, "at least that of each", "the integers, as fractions", loud),
    ]


def _listed(integers: tuple[int, ...]) -> str:
    return ", ".join(map(str, integers))


def _broken(design: Designed, law: CountedLaw) -> Iterator[str]:
    """The rules of a client that a design breaks."""
    if strange := sorted(set(design.law.as_json()) ^ law.names):
        yield f"a law with another {strange[0]}"
    if law.alone is not None and not LEAST_EPSILON0 <= Decimal(law.epsilon0) <= MOST_EPSILON0:
        yield f"epsilon0 = {law.epsilon0:g}"
    try:
        Design.from_json(design.as_json())
    except InvalidInput as error:
        yield str(error)
