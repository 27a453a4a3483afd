"""A randomizer as JSON, with the integers that it runs on: what two machines must agree on,
exactly, before one reads the other's reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.family import FAMILIES, family_of
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.randomizers.votes import VotingRandomizer

__all__ = ["from_law", "law_of"]

REMEDY = "Take it from a file that shuffledp wrote, with the same version on both sides."


def law_of(randomizer: Randomizer) -> dict[str, Any]:
    """The family, its parameters, and its probabilities as whole numbers out of 2^64, written as
    text: many readers of JSON round large numbers.

    >>> from shuffledp.randomizers import KRR
    >>> law_of(KRR(k=2, epsilon0=1.0))
    {'randomizer': 'krr', 'k': 2, 'epsilon0': 1.0, 'integers': ['9922187141663961708']}
    """
    family = family_of(randomizer)
    if family is None or family.law is None:
        raise InvalidInput(
            f"the randomizer must be one of {', '.join(FAMILIES)} to be written down, got "
            f"{type(randomizer).__name__}. Use one of those."
        )
    settled = randomizer.settled
    parameters = {each: getattr(settled, each) for each in family.parameters}
    return {"randomizer": family.law, **parameters, "integers": [str(each) for each in settled.integers]}


def from_law(law: object) -> VotingRandomizer:
    """The randomizer of ``law_of``; refused if this version would run other integers.

    >>> from shuffledp.randomizers import Hadamard
    >>> from_law(law_of(Hadamard(k=10, epsilon0=2.0)))
    Hadamard(k=10, epsilon0=2.0)
    """
    name = law.get("randomizer") if isinstance(law, Mapping) else None
    if not isinstance(law, Mapping) or not isinstance(name, str) or name not in FAMILIES:
        raise InvalidInput(
            f"a law's randomizer must be one of {', '.join(FAMILIES)}, got {name!r}. {REMEDY} A family from elsewhere "
            f"must be imported first."
        )
    family = FAMILIES[name]
    if wrong := {*family.parameters, "integers", "randomizer"} ^ set(law):
        raise InvalidInput(
            f"the law of {name} must have {', '.join(family.parameters)} and integers, got a difference in "
            f"{', '.join(sorted(wrong))}. {REMEDY}"
        )
    randomizer = family.make(**{each: law[each] for each in family.parameters})
    assert isinstance(randomizer, VotingRandomizer)  # ``register`` sees to it
    if law["integers"] != (mine := [str(each) for each in randomizer.integers]):
        raise InvalidInput(
            f"the integers of {name} must be {', '.join(mine)} out of 2^64, got {law['integers']!r}. {REMEDY}"
        )
    return randomizer
