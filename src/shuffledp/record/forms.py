"""What a value may be, and how a part of a record is read and written. A class names its fields
once, with their forms; reading, refusing and writing follow from that.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from shuffledp.errors import InvalidInput
from shuffledp.wording import brief

__all__ = [
    "CHANCE",
    "EPSILON",
    "REMEDY",
    "SIZE",
    "Floats",
    "Form",
    "Part",
    "Reading",
    "between",
    "count",
    "either",
    "needed",
    "needed_by",
    "number",
    "or_none",
    "part",
    "perhaps",
    "some",
    "text",
    "time",
    "truth",
    "unusual",
    "usual",
    "whole",
]

LARGEST_EPSILON = 700.0  # what e^epsilon can be computed of
LARGEST_NUMBER = 1e300
MOST_USERS = 10**15
LONGEST = 10_000  # letters of one text
REMEDY = "Pass a page that this version of shuffledp wrote, unchanged."

C = TypeVar("C")

Test = Callable[[Any], bool]
Floats = tuple[float, ...]
Form = Any  # a test, a Part, a list with the form of its items, or OrNone


def text(value: Any) -> bool:
    """A string that is not endless."""
    return type(value) is str and len(value) <= LONGEST


def truth(value: Any) -> bool:
    """True or false, and no number."""
    return type(value) is bool


def count(value: Any) -> bool:
    """How many: 0 or more."""
    return type(value) is int and 0 <= value <= MOST_USERS


def some(value: Any) -> bool:
    """How many: 1 or more."""
    return count(value) and value > 0


def whole(value: Any) -> bool:
    """An integer, also a negative one."""
    return type(value) is int and abs(value) <= MOST_USERS


def number(value: Any) -> bool:
    """A number that is neither NaN nor infinite."""
    return type(value) in (int, float) and abs(value) < LARGEST_NUMBER


def between(least: float, most: float) -> Test:
    """A number from ``least`` to ``most``."""
    return lambda value: number(value) and least <= value <= most


def either(*tests: Test) -> Test:
    """What passes one of several tests."""
    return lambda value: any(test(value) for test in tests)


def time(value: Any) -> bool:
    """A moment in ISO 8601, with its time zone."""
    try:
        return text(value) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


EPSILON, CHANCE, SIZE = between(0.0, LARGEST_EPSILON), between(0.0, 1.0), between(0.0, LARGEST_NUMBER)


@dataclass(frozen=True, slots=True)
class OrNone:
    """A form, or null."""

    form: Form


def or_none(form: Form) -> OrNone:
    """What has that form, or is null."""
    return OrNone(form)


def needed(form: Form, *, default: Any = MISSING) -> Any:
    """A field without which a record is refused; ``default`` is what a new one has."""
    return field(default=default, metadata={"form": form, "needed": True, "tasks": None, "quiet": False})


def needed_by(tasks: Container[str], form: Form, *, default: None) -> Any:
    """A field that releases of these tasks must have, and others must not."""
    return field(default=default, metadata={"form": form, "needed": True, "tasks": tasks, "quiet": True})


def usual(form: Form, *, default: None) -> Any:
    """A field that shuffledp always writes, if only as null, and does not insist on."""
    return field(default=default, metadata={"form": OrNone(form), "needed": False, "tasks": None, "quiet": False})


def perhaps(form: Form, *, default: Any, tasks: Container[str] | None = None) -> Any:
    """A field that may be absent; ``default`` is what its absence means, and is not written."""
    return field(default=default, metadata={"form": form, "needed": False, "tasks": tasks, "quiet": True})


@dataclass_transform(
    kw_only_default=True, frozen_default=True, field_specifiers=(field, needed, needed_by, usual, perhaps)
)
def part(cls: type[C]) -> type[C]:
    """Make a part of a record: a frozen dataclass whose fields have forms."""
    return dataclass(frozen=True, slots=True, kw_only=True, repr=False)(cls)


@dataclass(slots=True)
class Reading:
    """How one record is read: which task it is of."""

    task: str


@part
class Part:
    """An object of a record. ``order`` holds the names as they were read, so that the part is
    written again byte by byte.

    A part that may have fields of any name says in ``others`` what they hold, and keeps them in
    ``more``.
    """

    others: ClassVar[tuple[Test, ...]] = ()

    more: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    order: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def read(cls, value: object, reading: Reading, where: str = "") -> Self:
        """The part that ``value`` is in JSON; ``where`` is its place in the record, with a dot."""
        if not isinstance(value, dict):
            raise unusual(where, value)
        known = _known(cls, reading.task)
        strange = set(value) - set(known)
        if cls.others:
            for name in sorted(strange):
                if not any(test(value[name]) for test in cls.others):
                    raise unusual(f"{where}{name}.", value[name])
        refused = set() if cls.others else strange
        missing = {name for name, each in known.items() if each.metadata["needed"] and name not in value}
        if wrong := refused | missing:
            raise InvalidInput(
                f"the record of a release must have its usual form, got a difference in "
                f"{(where + min(wrong))[:80]!r}. {REMEDY}"
            )
        found = {
            name: _read(each.metadata["form"], value[name], reading, f"{where}{name}.")
            for name, each in known.items()
            if name in value
        }
        return cls(**found, more={name: value[name] for name in value if name in strange}, order=tuple(value))

    def __repr__(self) -> str:
        """Its fields, and of a long list the first few."""
        shown = (f"{each.name}={brief(getattr(self, each.name))}" for each in fields(self) if each.repr)
        return f"{type(self).__name__}({', '.join(shown)})"

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts, in the order in which they were read."""
        names = self._usual() if self.order is None else self.order
        return {name: self.more[name] if name in self.more else _plain(getattr(self, name)) for name in names}

    def _usual(self) -> list[str]:
        """What a new part writes: all but what is as if it were absent."""
        return [
            name
            for name, each in _declared(type(self)).items()
            if not (each.metadata["quiet"] and getattr(self, name) == each.default)
        ]


def unusual(where: str, value: object) -> InvalidInput:
    """The refusal of a value that shuffledp does not write there."""
    return InvalidInput(
        f"the record of a release must have its usual form, got {str(value)[:60]!r} for {where.rstrip('.')}. {REMEDY}"
    )


def _declared(cls: type[Any]) -> dict[str, Field[Any]]:
    return {each.name: each for each in fields(cls) if "form" in each.metadata}


def _known(cls: type[Any], task: str) -> dict[str, Field[Any]]:
    """The fields that a part has in a release of this task."""
    return {
        name: each
        for name, each in _declared(cls).items()
        if each.metadata["tasks"] is None or task in each.metadata["tasks"]
    }


def _read(form: Form, value: Any, reading: Reading, where: str) -> Any:
    if isinstance(form, OrNone):
        return None if value is None else _read(form.form, value, reading, where)
    if isinstance(form, type) and issubclass(form, Part):
        return form.read(value, reading, where)
    if isinstance(form, list):
        if not isinstance(value, list):
            raise unusual(where, value)
        return tuple(_read(form[0], each, reading, where) for each in value)
    if not form(value):
        raise unusual(where, value)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Part):
        return value.as_json()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value
