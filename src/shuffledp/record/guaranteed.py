"""What is certified, and what other kinds of trust would bring."""

from __future__ import annotations

from typing import Annotated

from shuffledp.schema import Chance, Count, Epsilon, Limits, Part, Size, Text, Texts, part

__all__ = ["Alternative", "Certificate", "Curve", "DeltaBound", "EpsilonBound"]

POINTS = Limits(0, 400)  # of a curve; shuffledp writes 49
# Relative: of randomized values among dummies, the lower end of delta may be far off.
NumericalError = Chance


@part
class EpsilonBound(Part):
    """Between which ends epsilon lies, at a delta."""

    delta: Chance
    lower: Epsilon
    upper: Epsilon


@part
class DeltaBound(Part):
    """Between which ends delta lies, at an epsilon."""

    epsilon: Size
    lower: Chance
    upper: Chance


@part
class Curve(Part):
    """Delta at many an epsilon, between two ends: each point costs time to verify."""

    epsilon: Annotated[tuple[Epsilon, ...], POINTS]
    lower: Annotated[tuple[Chance, ...], POINTS]
    upper: Annotated[tuple[Chance, ...], POINTS]


@part
class Certificate(Part):
    """What a privacy officer signs. ``delta`` is what is certified at the promised epsilon, if one
    was promised; ``alone`` the epsilon0 of one report without the shuffler, null where nothing is
    left without it. The ids are of the sentences in ``wording.SENTENCES`` that ``method`` and
    ``assumptions`` say.
    """

    epsilon: EpsilonBound
    delta: DeltaBound | None
    curve: Curve
    method: Text
    assumptions: Texts
    adversary: Text
    adjacency: Text
    users: Count
    honest: Count
    rounds: Count
    alone: Epsilon | None
    numerical_error: NumericalError | None
    theorem_ids: Texts = ()
    assumption_ids: Texts = ()


@part
class Alternative(Part):
    """One kind of trust, and the error that it would bring under the same promise: where nobody or
    a curator is trusted, that of the best ``mechanism`` known here.
    """

    trust: Text
    mechanism: Text
    epsilon0: Epsilon | None
    stderr: Size
