"""A randomizer as JSON, with the integers that it runs on: what two machines must agree on,
exactly, before one reads the other's reports.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from shuffledp.errors import InvalidInput
from shuffledp.randomizers import hadamard, local_hash, subset, unary  # noqa: F401, they register
from shuffledp.randomizers.any_ldp import AnyDeletionLDP, AnyLDP, AnyRandomizer
from shuffledp.randomizers.family import FAMILIES, family_of
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.randomizers.wrappers import AllOf, CheckIn, OneLevel, OneOf, VotingCheckIn

REMEDY = "Take it from a file that shuffledp wrote, with the same version on both sides."
MOST_NESTED = 32  # a file may say anything
WRAPPERS = ("check-in", "one of", "all of")
ANY: Mapping[str, type[AnyRandomizer]] = {  # nobody draws by them: they stand for what a ledger knows no more of
    "any": AnyLDP,
    "deletion": AnyDeletionLDP,
}


def law_of(randomizer: Randomizer) -> dict[str, Any]:
    """The family, its parameters, and its probabilities as whole numbers out of 2^64, written as
    text: many readers of JSON round large numbers.

    >>> from shuffledp.randomizers import KRR
    >>> law_of(KRR(k=2, epsilon0=1.0))
    {'type': 'krr', 'k': 2, 'epsilon0': 1.0, 'integers': ['9922187141663961708']}
    """
    randomizer = _counted(randomizer)
    if isinstance(randomizer, CheckIn):
        own = {"probability": randomizer.probability, "of": law_of(randomizer.randomizer)}
        return _wrapped("check-in", randomizer, own)
    if isinstance(randomizer, OneOf):
        questions = [law_of(each) for each in randomizer.parts]
        return _wrapped("one of", randomizer, {"weights": list(randomizer.shares), "questions": questions})
    if isinstance(randomizer, AllOf):
        return _wrapped("all of", randomizer, {"questions": [law_of(each) for each in randomizer.parts]})
    if isinstance(randomizer, AnyRandomizer) and randomizer.describe()["randomizer"] in ANY:
        name, own = randomizer.describe()["randomizer"], {"epsilon0": randomizer.epsilon0, "delta0": randomizer.delta0}
        return {"type": name, **own, "integers": []}
    family = family_of(randomizer)
    if family is None or family.law is None:
        raise InvalidInput(
            f"the randomizer must be one of {', '.join(sorted(FAMILIES))}, got {type(randomizer).__name__}. Use one."
        )
    explicit = randomizer.explicit
    parameters = {each: _plain(getattr(explicit, each)) for each in family.parameters}
    return {"type": family.law, **parameters, "integers": [str(each) for each in explicit.integers]}


def _counted(randomizer: Any) -> Any:
    """The wrapper whose reports are counted, or the randomizer itself."""
    return randomizer.law if isinstance(randomizer, (VotingCheckIn, OneLevel)) else randomizer


def _plain(value: Any) -> Any:
    """A parameter as JSON has it: there is no infinity."""
    return None if value == math.inf else value


def _wrapped(name: str, randomizer: Randomizer, own: dict[str, Any]) -> dict[str, Any]:
    """The law of a wrapper; epsilon0 follows from its parts, and is there for those who read."""
    integers = [str(each) for each in randomizer.integers]
    return {"type": name, "epsilon0": randomizer.epsilon0, **own, "integers": integers}


def randomizer_of(law: object) -> Randomizer:
    """The randomizer of ``law_of``, or a wrapper; refused if this version runs other integers.

    >>> from shuffledp.randomizers import KRR, CheckIn
    >>> randomizer_of(law_of(CheckIn(KRR(k=4, epsilon0=2.0), probability=0.25)))
    CheckIn(randomizer=KRR(k=4, epsilon0=2.0), probability=0.25)
    """
    if not isinstance(law, Mapping) or str(law.get("type")) not in ANY:
        return _read(law, 0)
    made = ANY[law["type"]](epsilon0=law.get("epsilon0"), delta0=law.get("delta0"))  # type: ignore[arg-type]
    if law_of(made) != law:
        raise InvalidInput(f"a law of that type must have epsilon0, delta0 and no integers, got {law!r}. {REMEDY}")
    return made


def _read(law: object, depth: int) -> Randomizer:
    """``randomizer_of``, for a law inside so many others, of one message."""
    name = law.get("type") if isinstance(law, Mapping) else None
    if not isinstance(law, Mapping) or name not in WRAPPERS:
        inside = from_law(law)
        if isinstance(inside, MessageLaw) and depth:
            raise InvalidInput(f"a law inside another must be of one message, got {name}. {REMEDY}")
        return inside
    if depth >= MOST_NESTED:
        raise InvalidInput(f"a law must hold at most {MOST_NESTED} others in each other, got more. {REMEDY}")
    made: Randomizer
    try:
        if name == "check-in":
            made = CheckIn(_read(law["of"], depth + 1), probability=law["probability"])
        elif name == "one of":
            made = OneOf([_read(each, depth + 1) for each in law["questions"]], weights=law["weights"])
        else:
            made = AllOf([_read(each, depth + 1) for each in law["questions"]])
    except (KeyError, TypeError):
        raise InvalidInput(f"the law of {name} must name its randomizers, got {str(law)[:80]!r}. {REMEDY}") from None
    if (mine := law_of(made)) != law:
        wrong = sorted(key for key in {*mine, *law} if mine.get(key) != law.get(key))
        raise InvalidInput(
            f"the law of {name} must be what this version runs, got a difference in {', '.join(wrong)}. {REMEDY}"
        )
    return made


def scaled(randomizer: Any, factor: float) -> Any:
    """The same with every epsilon0 times ``factor``; None of a law of several messages.

    >>> from shuffledp.randomizers import RR, OneOf
    >>> scaled(OneOf([RR(epsilon0=1.0), RR(epsilon0=2.0)]), 0.5).epsilon0
    1.0
    """
    randomizer = _counted(randomizer)
    if isinstance(randomizer, MessageLaw):
        return None
    if isinstance(randomizer, CheckIn):
        return CheckIn(scaled(randomizer.randomizer, factor), probability=randomizer.probability)
    if isinstance(randomizer, OneOf):
        return OneOf([scaled(each, factor) for each in randomizer.parts], weights=randomizer.shares)
    if isinstance(randomizer, AllOf):
        return AllOf([scaled(each, factor) for each in randomizer.parts])
    return dataclasses.replace(randomizer, epsilon0=randomizer.epsilon0 * factor)


def from_law(law: object) -> VotingRandomizer | MessageLaw:
    """The randomizer of ``law_of``, if it reports, and if this version runs the same integers.

    >>> from shuffledp.randomizers import Hadamard
    >>> from_law(law_of(Hadamard(k=10, epsilon0=2.0)))
    Hadamard(k=10, epsilon0=2.0)
    """
    name = law.get("type") if isinstance(law, Mapping) else None
    if name == "check-in" and (voting := VotingCheckIn.of(randomizer_of(law))) is not None:
        return voting
    if name == "one of" and (levels := OneLevel.of(randomizer_of(law))) is not None:
        return levels
    if not isinstance(law, Mapping) or not isinstance(name, str) or name not in FAMILIES:
        raise InvalidInput(
            f"a law's type must be one of {', '.join(sorted(FAMILIES))}, got {name!r}. {REMEDY} Import other families."
        )
    family = FAMILIES[name]
    if wrong := {*family.parameters, "integers", "type"} ^ set(law):
        raise InvalidInput(
            f"the law of {name} must have its parameters and integers, got other {', '.join(sorted(wrong))}. {REMEDY}"
        )
    randomizer = family.make(**{each: math.inf if law[each] is None else law[each] for each in family.parameters})
    assert isinstance(randomizer, (VotingRandomizer, MessageLaw))  # ``register`` sees to it
    for each in family.parameters:
        if type(mine := _plain(getattr(randomizer, each))) is not type(law[each]) or mine != law[each]:
            raise InvalidInput(f"{each} of {name} must be written as {mine!r}, got {law[each]!r}. {REMEDY}")
    if law["integers"] != (mine := [str(each) for each in randomizer.integers]):
        raise InvalidInput(
            f"the integers of {name} must be {', '.join(mine):.80} out of 2^64, got {law['integers']!s:.80}. {REMEDY}"
        )
    return randomizer
