"""What a family of randomizers declares about itself, in its own file, and all others ask.

A family is a class of randomizers. It registers once: the names it is asked for by, each with the
ways to build it (its parameters, and their other spellings), the name and the parameters of its law
in JSON, and a sentence for people who never heard of it. Everything about one report that takes
computing, such as its law or how it reads, is a method of the randomizer itself.

A class from elsewhere that registers itself is known to the command line, to designs and to ledgers
like those of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.randomizer import Randomizer, Reporting

__all__ = [
    "EPSILON0",
    "FAMILIES",
    "NAMES",
    "Family",
    "K",
    "Named",
    "Parameter",
    "Way",
    "family_of",
    "over_domain",
    "register",
]


class Parameter(NamedTuple):
    """One thing that a randomizer is made of: how it is typed, an example, and what it means."""

    name: str
    kind: Literal["count", "number", "file"]
    example: str
    meaning: str

    @property
    def flag(self) -> str:
        """The option of the command line."""
        return f"--{self.name.replace('_', '-')}"


K = Parameter("k", "count", "16", "how many different values a user can hold")
EPSILON0 = Parameter("epsilon0", "number", "4", "the privacy parameter of one report on its own, usually 0.5 to 8")


class Way(NamedTuple):
    """Parameters that make a randomizer together; the last of them says how much one report hides.

    ``value`` reads that last one from a randomizer that was built in another way: it is given in
    place of epsilon0.
    """

    parameters: tuple[Parameter, ...]
    build: Callable[..., Randomizer]
    value: Callable[[Any], float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A name that randomizers are asked for by: what it means in words, and the ways to build one.

    ``solvable``: whether the last parameter of the first way can be left open, for ``calibrate``.
    """

    name: str
    title: str
    ways: tuple[Way, ...]
    optional: tuple[Parameter, ...] = ()
    solvable: bool = True

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Every parameter of some way, by its name."""
        return {each.name: each for each in (*(each for way in self.ways for each in way.parameters), *self.optional)}

    @property
    def strengths(self) -> tuple[str, ...]:
        """The parameters that say how much one report hides; one of them is enough."""
        return tuple(way.parameters[-1].name for way in self.ways)

    @property
    def equivalents(self) -> dict[str, Callable[[Any], float]]:
        """What may be given in place of epsilon0, as a function of a randomizer."""
        return {way.parameters[-1].name: way.value for way in self.ways if way.value is not None}

    def usage(self) -> str:
        """The options of the command line, in a few words.

        >>> from shuffledp import randomizers
        >>> NAMES["krr"].usage(), NAMES["any"].usage()
        ('--k --epsilon0 or --k --gamma', '--epsilon0 [--delta0]')
        """
        ways = " or ".join(" ".join(each.flag for each in way.parameters) for way in self.ways)
        return ways + "".join(f" [{each.flag}]" for each in self.optional)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What a class of randomizers declares.

    ``law`` names it where others depend on it exactly: in designs, in ledgers, and for whoever
    counts its outputs again to verify a release. It takes a law that reports, and ``parameters``,
    epsilon0 among them, that the law is written with. Without a name a family can be accounted and
    drawn from, but not be written down. ``sentence`` says what one report does, for the page of a
    release.
    """

    make: type[Randomizer]
    names: tuple[Named, ...] = ()
    law: str | None = None
    parameters: tuple[str, ...] = ()
    sentence: str = ""


_families: dict[type[Randomizer], Family] = {}
_laws: dict[str, Family] = {}
_names: dict[str, Named] = {}
FAMILIES: Mapping[str, Family] = MappingProxyType(_laws)  # by the names of their laws
NAMES: Mapping[str, Named] = MappingProxyType(_names)  # as they are asked for


def register(family: Family) -> None:
    """Make a family known. Its names must be new; a class that is defined again, as in a notebook,
    takes the place of the one before.
    """
    earlier = [_families[each] for each in _families if _full_name(each) == _full_name(family.make)]
    own = [each.name for old in earlier for each in old.names]
    asked = [each.name for each in family.names]
    taken = [name for place, name in enumerate(asked) if (name in _names and name not in own) or name in asked[:place]]
    taken += [family.law] if family.law in _laws and _laws[family.law] not in earlier else []
    if taken:
        raise InvalidInput(
            f"the names of a family must be new, got {', '.join(taken)} for {family.make.__name__}. Choose others."
        )
    if family.law is not None and not (issubclass(family.make, Reporting) and "epsilon0" in family.parameters):
        raise InvalidInput(
            f"a family with a law must report and have epsilon0 among its parameters, got {family.make.__name__} with "
            f"{', '.join(family.parameters) or 'none'}. Implement VotingRandomizer, or leave out law."
        )
    _forget(family.make)
    _families[family.make] = family
    _names.update((each.name, each) for each in family.names)
    if family.law is not None:
        _laws[family.law] = family


def family_of(randomizer: Randomizer) -> Family | None:
    """What the family of this randomizer declared, if it did.

    >>> from shuffledp.randomizers import KRR
    >>> family_of(KRR(k=16, epsilon0=4.0)).law
    'krr'
    """
    return _families.get(type(randomizer))


def over_domain(
    name: str, title: str, build: Callable[..., Randomizer], *more: Way, optional: tuple[Parameter, ...] = ()
) -> Named:
    """A name whose randomizers take k and epsilon0, possibly among other ways."""
    return Named(name=name, title=title, ways=(Way((K, EPSILON0), build), *more), optional=optional)


def _forget(make: type[Randomizer]) -> None:
    """Undo the registration of a class that had the same full name."""
    for old in [each for each in _families if _full_name(each) == _full_name(make)]:
        family = _families.pop(old)
        for each in family.names:
            del _names[each.name]
        if family.law is not None:
            del _laws[family.law]


def _full_name(make: type[Randomizer]) -> tuple[str, str]:
    return make.__module__, make.__qualname__
