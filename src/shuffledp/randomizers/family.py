"""What a family of randomizers declares about itself, in its own file, and all others ask.

A family is a class of randomizers. It registers once: the name and the parameters of its law in
JSON. Everything about one report that takes computing, such as its law, is a method of the
randomizer itself. The names that it is asked for by are in ``names``, and what a page says of it in
``page/mechanisms/``.

A class from elsewhere registers its names as well; it is known to the command line, to designs and
to ledgers like those of this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.names import NAMES, Named
from shuffledp.randomizers.randomizer import Randomizer, Reporting


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What a class of randomizers declares.

    ``law`` names it where others depend on it exactly: in designs, in ledgers, and for whoever
    counts its outputs again to verify a release. It takes a law that reports, and ``parameters``,
    epsilon0 among them, that the law is written with. Without a name a family can be accounted and
    drawn from, but not be written down.
    """

    make: type[Randomizer]
    names: tuple[Named, ...] = ()
    law: str | None = None
    parameters: tuple[str, ...] = ()


_families: dict[type[Randomizer], Family] = {}
_laws: dict[str, Family] = {}
FAMILIES: Mapping[str, Family] = MappingProxyType(_laws)  # by the names of their laws; ``law_file`` loads all of ours


def register(family: Family) -> None:
    """Make a family known. Its names must be new, or those of a class defined again."""
    if not family.make.__module__.startswith("shuffledp."):
        import_module("shuffledp.randomizers.law_file")  # so that the laws of this package come first
    earlier = [_families[each] for each in _families if _full_name(each) == _full_name(family.make)]
    own = [each.name for old in earlier for each in old.names]
    asked = [each.name for each in family.names]
    taken = [name for place, name in enumerate(asked) if (name in NAMES and name not in own) or name in asked[:place]]
    taken += [family.law] if family.law in _laws and _laws[family.law] not in earlier else []
    if taken:
        raise InvalidInput(f"the names of a family must be new, got {', '.join(taken)}. Choose others.")
    if family.law is not None and not (issubclass(family.make, Reporting) and "epsilon0" in family.parameters):
        raise InvalidInput(
            f"a family with a law must report and have epsilon0, got {family.make.__name__}. Leave out law."
        )
    _forget(family.make)
    _families[family.make] = family
    NAMES.update((each.name, each) for each in family.names)
    if family.law is not None:
        _laws[family.law] = family


def family_of(randomizer: Randomizer) -> Family | None:
    """What the family of this randomizer declared, if it did.

    >>> from shuffledp.randomizers import KRR
    >>> family_of(KRR(k=16, epsilon0=4.0)).law
    'krr'
    """
    return _families.get(type(randomizer))


def _forget(make: type[Randomizer]) -> None:
    """Undo the registration of a class that had the same full name."""
    for old in [each for each in _families if _full_name(each) == _full_name(make)]:
        family = _families.pop(old)
        for each in family.names:
            del NAMES[each.name]
        if family.law is not None:
            del _laws[family.law]


def _full_name(make: type[Randomizer]) -> tuple[str, str]:
    return make.__module__, make.__qualname__
