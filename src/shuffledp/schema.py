"""What a field of a file may hold, said once, as its type. Designs and records are read by it, and
docs/schemas is written from it (``pages.schemas``).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import datetime
from functools import cache
from math import nextafter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)
from typing import get_type_hints as hints_of

from shuffledp.errors import InvalidInput, Refusal
from shuffledp.wording import brief

REMEDY = "Pass a page that this version of shuffledp wrote, unchanged."
MOST, LARGEST = 10**15, nextafter(1e300, 0.0)
LONGEST = 10_000  # letters of one text
DEEPEST = 32  # lists and objects in each other, where a part may hold any value


class File(NamedTuple):
    """What is read, how a refusal ends, and which ``special`` fields it may have: None for all, as
    where the question is one of another distribution.
    """

    title: str
    remedy: str
    special: Container[str] | None = ()

    def has(self, name: str, mark: Mark) -> bool:
        """Whether the field of that name may be there."""
        return not mark.special or self.special is None or name in self.special

    def needs(self, mark: Mark) -> bool:
        """Whether it must be, where it may be."""
        return mark.needed and not (mark.special and self.special is None)


RELEASE = File("the record of a release", REMEDY)
C = TypeVar("C")
Read = Callable[[Any, File, str], Any]  # from a value in JSON, the file it stands in, and its place there with a dot


@dataclass(frozen=True)
class Limits:
    """From ``least`` to ``most``: a number itself; of a text or a list, its length."""

    least: float
    most: float

    def allow(self, value: Any) -> bool:
        """Whether a value of the right type lies there."""
        return self.least <= (value if isinstance(value, (int, float)) else len(value)) <= self.most


@dataclass(frozen=True)
class Moment(Limits):
    """A moment in ISO 8601, with its time zone."""

    def allow(self, value: Any) -> bool:
        try:
            return super().allow(value) and datetime.fromisoformat(value).tzinfo is not None
        except ValueError:
            return False


@dataclass(frozen=True)
class Digits(Limits):
    """So many hexadecimal digits, as of a SHA-256."""

    def allow(self, value: Any) -> bool:
        return super().allow(value) and not set(value) - set("0123456789abcdef")


Text = Annotated[str, Limits(0, LONGEST)]
Digest = Annotated[str, Digits(64, 64)]
Time = Annotated[str, Moment(0, LONGEST)]
Count = Annotated[int, Limits(0, MOST)]
Some = Annotated[int, Limits(1, MOST)]
Whole = Annotated[int, Limits(-MOST, MOST)]
Number = Annotated[float, Limits(-LARGEST, LARGEST)]
Size = Annotated[float, Limits(0.0, LARGEST)]
Chance = Annotated[float, Limits(0.0, 1.0)]
Epsilon = Annotated[float, Limits(0.0, 700.0)]  # what e^epsilon can be computed of
Texts = tuple[Text, ...]
Floats = tuple[Number, ...]
Label = Text | Whole
Keep = Literal["first", "random"]  # which row of a person with several
Format = Literal["csv", "parquet", "arrow"]  # of a table
Scale = Literal["linear", "log"]  # how bins grow


class Open:
    """Any value of JSON: it is for others to read."""


@dataclass(frozen=True)
class Mark:
    """What else holds for a field. It may be absent, which means its default, unless it is
    ``needed``; with its default it is not written, unless it ``always`` is; None stands for its
    absence, unless it may be ``null``; and a ``special`` one is there only if the question says so.
    """

    needed: bool = False
    always: bool = False
    null: bool = False
    special: bool = False


NEEDED = Mark(needed=True, always=True, null=True)  # without a word: a field that has no default
NULL, USUAL = Mark(null=True), Mark(null=True, always=True)  # the latter is written if only as null, and not needed


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for one field: the form of its values, and the rest."""

    form: Any
    mark: Mark
    default: Any = None

    @classmethod
    def of(cls, each: Field[Any], hint: Any) -> Rule:
        """A mark stands beside the form; without one, a field with a default may be absent."""
        mark = NEEDED if each.default is MISSING else Mark()
        args = get_args(hint) if get_origin(hint) is Annotated else ()
        if args and isinstance(args[-1], Mark):
            hint, mark = Annotated[args[:-1]] if len(args) > 2 else args[0], args[-1]
        return cls(hint if mark.null else _without_null(hint), mark, each.default)


@cache
def forms_of(cls: Any) -> dict[str, Any]:
    """The types of a dataclass's fields."""
    hints = hints_of(cls, include_extras=True)
    return {each.name: hints[each.name] for each in fields(cls)}


def _rules_of(cls: Any) -> dict[str, Rule]:
    return {each.name: Rule.of(each, forms_of(cls)[each.name]) for each in fields(cls) if each.name not in KEPT}


rules_of: Callable[[Any], dict[str, Rule]] = cache(_rules_of)  # what holds for each field of a part


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def part(cls: type[C]) -> type[C]:
    """Make a part of a file: a frozen dataclass."""
    return dataclass(frozen=True, kw_only=True, repr=False)(cls)


KEPT = ("more", "order")  # what a part remembers of the file, beside its fields


@part
class Part:
    """An object of a file. ``order`` holds the names as they were read, so that the part is written
    again byte by byte.

    A part that may have fields of any name says in ``others`` what they hold, and keeps them in
    ``more``. One of several that a field may hold says in its field ``type`` which it is.
    """

    others: ClassVar[Any] = None

    more: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    order: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def read(cls, value: object, file: File = RELEASE, where: str = "") -> Self:
        """The part that ``value`` is in JSON; ``where`` is its place in the file, with a dot."""
        if not isinstance(value, dict):
            raise unusual(where, value, file)
        rules = {name: rule for name, rule in rules_of(cls).items() if file.has(name, rule.mark)}
        strange = value.keys() - rules
        if cls.others is not None:
            for name in sorted(strange):
                _reader(cls.others)(value[name], file, f"{where}{name}.")
        refused = set() if cls.others is not None else strange
        if wrong := refused | {name for name, rule in rules.items() if file.needs(rule.mark) and name not in value}:
            named = (where + min(map(str, wrong)))[:80]
            raise InvalidInput(f"{file.title} must have its usual form, got a difference in {named!r}. {file.remedy}")
        found = {
            name: _reader(rule.form)(value[name], file, f"{where}{name}.")
            for name, rule in rules.items()
            if name in value
        }
        return cls(**found, more={name: value[name] for name in value if name in strange}, order=tuple(value))

    def __repr__(self) -> str:
        """Its fields, and of a long list the first few."""
        shown = (f"{name}={brief(getattr(self, name))}" for name in rules_of(type(self)))
        return f"{type(self).__name__}({', '.join(shown)})"

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts, in the order in which they were read; of a new
        part, all but what is as if it were absent.
        """
        rules = rules_of(type(self)).items()
        new = (name for name, rule in rules if rule.mark.always or getattr(self, name) != rule.default)
        names = new if self.order is None else self.order
        return {name: self.more[name] if name in self.more else as_plain(getattr(self, name)) for name in names}


def check_format(title: str, written: object, form: str, version: int, remedy: str) -> dict[str, Any]:
    """Return what a file holds, if it says that it has this form and version."""
    known = written if isinstance(written, Mapping) else {}
    if known.get("format") != form:
        named = repr(str(known.get("format"))[:40])
        raise InvalidInput(Refusal(f"{title} must have the format {form!r}", named, remedy))
    if type(known.get("version")) is not int or known["version"] != version:
        rule, got = f"{title} must have version {version}", repr(known.get("version"))[:40]
        raise InvalidInput(Refusal(rule, got, "Use the version of shuffledp that wrote it."))
    return dict(known)


def unusual(where: str, value: object, file: File = RELEASE) -> InvalidInput:
    """The refusal of a value that shuffledp does not write there."""
    place = f" for {where.rstrip('.')}" if where else ""
    return InvalidInput(f"{file.title} must have its usual form, got {str(value)[:60]!r}{place}. {file.remedy}")


@cache
def _reader(form: Any) -> Read:
    """How a value of that form is read: lists become tuples, anything else is refused."""
    base, limits = get_args(form) if get_origin(form) is Annotated else (form, None)
    if base is Open or base is Any:
        return _open
    if get_origin(base) is Literal:

        def one_of(value: Any, file: File, where: str) -> Any:
            if type(value) is not str or value not in get_args(base):
                raise unusual(where, value, file)
            return value

        return one_of
    if get_origin(base) in (Union, UnionType):
        options = {kind: _reader(each) for each in get_args(base) for kind in _kinds(each)}
        parts = [each for each in get_args(base) if _is_part(each)]
        tagged = {rules_of(each)["type"].default: each.read for each in parts} if len(parts) > 1 else {}

        def choose(value: Any, file: File, where: str) -> Any:
            named = value.get("type") if tagged and isinstance(value, dict) else None
            chosen = options.get(type(value)) if named is None else tagged.get(str(named))
            if chosen is None:
                raise unusual(where if named is None else f"{where}type.", value if named is None else named, file)
            return chosen(value, file, where)

        return choose
    if _is_part(base):
        return base.read  # type: ignore[no-any-return]
    kinds, items = _kinds(base), get_args(base)
    if items and items[-1] is not ...:
        limits = Limits(len(items), len(items))
    item = _reader(items[0]) if items else None

    def read(value: Any, file: File, where: str) -> Any:
        if item is not None and limits is not None and type(value) is list and not limits.allow(value):
            raise InvalidInput(
                f"{file.title} must have from {limits.least} to {limits.most} entries in {where.rstrip('.')}, got "
                f"{len(value)}. {file.remedy}"
            )
        if type(value) not in kinds or not (limits is None or limits.allow(value)):
            raise unusual(where, value, file)
        return value if item is None else tuple([item(each, file, where) for each in value])

    return read


def _open(value: Any, file: File, where: str) -> Any:
    """Any value that is not nested so deeply that some reader of it would give up."""
    inside = [value]
    for _ in range(DEEPEST):
        lists = (list(one.values()) if isinstance(one, dict) else one for one in inside)
        inside = [each for one in lists if isinstance(one, list) for each in one]
        if not inside:
            return value
    raise unusual(where, "lists in each other", file)


def _kinds(form: Any) -> tuple[type, ...]:
    """What JSON has for that form, as Python reads it; a number without a point is an int."""
    base = get_args(form)[0] if get_origin(form) is Annotated else form
    if get_origin(base) is tuple:
        return (list,)
    if _is_part(base):
        return (dict,)
    return (int, float) if base is float else (base,)


def _is_part(form: Any) -> bool:
    return isinstance(form, type) and issubclass(form, Part)


def _without_null(form: Any) -> Any:
    options = tuple(each for each in get_args(form) if each is not NoneType)
    return Union[options] if get_origin(form) in (Union, UnionType) else form  # noqa: UP007


def as_plain(value: Any) -> Any:
    """Parts as dicts and tuples as lists, at any depth."""
    if isinstance(value, Part):
        return value.as_json()
    return [as_plain(each) for each in value] if isinstance(value, tuple) else value
