"""A randomizer as JSON, with the integers that it runs on: what two machines must agree on,
exactly, before one reads the other's reports.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.hadamard import Hadamard
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.local_hash import LocalHash
from shuffledp.randomizers.mixing import MixingRandomizer
from shuffledp.randomizers.subset import SubsetSelection
from shuffledp.randomizers.unary import OUE, RAPPOR, UnaryEncoding
from shuffledp.randomizers.votes import VotingRandomizer

__all__ = ["from_law", "law_of"]

FAMILIES: dict[str, tuple[Callable[..., VotingRandomizer], tuple[str, ...]]] = {
    "krr": (KRR, ("k", "epsilon0")),
    "hadamard": (Hadamard, ("k", "epsilon0")),
    "hash": (LocalHash, ("k", "g", "epsilon0")),
    "subset": (SubsetSelection, ("k", "epsilon0", "size")),
    "oue": (OUE, ("k", "epsilon0")),
    "rappor": (RAPPOR, ("k", "epsilon0")),
}
REMEDY = "Take it from a file that shuffledp wrote, with the same version on both sides."


def law_of(randomizer: VotingRandomizer) -> dict[str, Any]:
    """The family, its parameters, and its probabilities as whole numbers out of 2^64, written as
    text: many readers of JSON round large numbers.

    >>> law_of(KRR(k=2, epsilon0=1.0))
    {'randomizer': 'krr', 'k': 2, 'epsilon0': 1.0, 'integers': ['9922187141663961708']}
    """
    for name, (family, parameters) in FAMILIES.items():
        if type(randomizer) is family:
            settled = (
                randomizer
                if not isinstance(randomizer, SubsetSelection)
                else dataclasses.replace(randomizer, size=randomizer.w)
            )
            return {
                "randomizer": name,
                **{each: getattr(settled, each) for each in parameters},
                "integers": [str(each) for each in _integers(settled)],
            }
    raise InvalidInput(
        f"the randomizer must be one of {', '.join(FAMILIES)} to be written down, got {type(randomizer).__name__}. Use "
        f"one of those."
    )


def from_law(law: object) -> VotingRandomizer:
    """The randomizer of ``law_of``; refused if this version would run other integers.

    >>> from_law(law_of(Hadamard(k=10, epsilon0=2.0)))
    Hadamard(k=10, epsilon0=2.0)
    """
    name = law.get("randomizer") if isinstance(law, Mapping) else None
    if not isinstance(law, Mapping) or not isinstance(name, str) or name not in FAMILIES:
        raise InvalidInput(f"a law's randomizer must be one of {', '.join(FAMILIES)}, got {name!r}. {REMEDY}")
    family, parameters = FAMILIES[name]
    if wrong := {*parameters, "integers", "randomizer"} ^ set(law):
        raise InvalidInput(
            f"the law of {name} must have {', '.join(parameters)} and integers, got a difference in "
            f"{', '.join(sorted(wrong))}. {REMEDY}"
        )
    randomizer = family(**{each: law[each] for each in parameters})
    if law["integers"] != (mine := [str(each) for each in _integers(randomizer)]):
        raise InvalidInput(
            f"the integers of {name} must be {', '.join(mine)} out of 2^64, got {law['integers']!r}. {REMEDY}"
        )
    return randomizer


def _integers(randomizer: VotingRandomizer) -> tuple[int, ...]:
    """The numbers of words out of 2^64 that decide every draw."""
    if isinstance(randomizer, MixingRandomizer):
        return (randomizer.threshold,)
    assert isinstance(randomizer, UnaryEncoding)
    return randomizer.thresholds
