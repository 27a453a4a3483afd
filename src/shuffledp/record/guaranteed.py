"""What is certified, and what other kinds of trust would bring."""

from __future__ import annotations

from typing import Self

from shuffledp.errors import InvalidInput
from shuffledp.record.forms import (
    CHANCE,
    EPSILON,
    REMEDY,
    SIZE,
    Floats,
    Part,
    Reading,
    between,
    count,
    needed,
    or_none,
    part,
    perhaps,
    text,
)

__all__ = ["Alternative", "Certificate", "Curve", "DeltaBound", "EpsilonBound"]

MOST_POINTS = 400  # of a curve; shuffledp writes 49
MOST_NUMERICAL_ERROR = 1.0  # relative: of randomized values among dummies, the lower end of delta may be far off


@part
class EpsilonBound(Part):
    """Between which ends epsilon lies, at a delta."""

    delta: float = needed(CHANCE)
    lower: float = needed(EPSILON)
    upper: float = needed(EPSILON)


@part
class DeltaBound(Part):
    """Between which ends delta lies, at an epsilon."""

    epsilon: float = needed(SIZE)
    lower: float = needed(CHANCE)
    upper: float = needed(CHANCE)


@part
class Curve(Part):
    """Delta at many an epsilon, between two ends."""

    epsilon: Floats = needed([EPSILON])
    lower: Floats = needed([CHANCE])
    upper: Floats = needed([CHANCE])

    @classmethod
    def read(cls, value: object, reading: Reading, where: str = "") -> Self:
        """Few points: each costs time to verify. A class with slots is made twice: super needs its
        name.
        """
        lists = value.values() if isinstance(value, dict) else ()
        if any(isinstance(each, list) and len(each) > MOST_POINTS for each in lists):
            raise InvalidInput(
                f"the record of a release must have at most {MOST_POINTS} points of its curve, got more. {REMEDY}"
            )
        return super(Curve, cls).read(value, reading, where)  # noqa: UP008


@part
class Certificate(Part):
    """What a privacy officer signs. ``delta`` is what is certified at the promised epsilon, if one
    was promised; ``alone`` the epsilon0 of one report without the shuffler, null where nothing is
    left without it. The ids are of the sentences in ``wording.SENTENCES`` that ``method`` and
    ``assumptions`` say.
    """

    epsilon: EpsilonBound = needed(EpsilonBound)
    delta: DeltaBound | None = needed(or_none(DeltaBound))
    curve: Curve = needed(Curve)
    method: str = needed(text)
    assumptions: tuple[str, ...] = needed([text])
    adversary: str = needed(text)
    adjacency: str = needed(text)
    users: int = needed(count)
    honest: int = needed(count)
    rounds: int = needed(count)
    alone: float | None = needed(or_none(EPSILON))
    numerical_error: float | None = needed(or_none(between(0.0, MOST_NUMERICAL_ERROR)))
    theorem_ids: tuple[str, ...] = perhaps([text], default=())
    assumption_ids: tuple[str, ...] = perhaps([text], default=())


@part
class Alternative(Part):
    """One kind of trust, and the error that it would bring under the same promise: where nobody or
    a curator is trusted, that of the best ``mechanism`` known here.
    """

    trust: str = needed(text)
    mechanism: str = needed(text)
    epsilon0: float | None = needed(or_none(EPSILON))
    stderr: float = needed(SIZE)
