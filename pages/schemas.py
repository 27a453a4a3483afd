"""The published schemas of a design and of a record, docs/schemas: ``python -m pages.schemas``.

They follow from the types that shuffledp reads these files by, and from the parameters of its
families of randomizers. What holds between fields, such as that ``honest`` is at most ``n``, a
schema does not say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from shuffledp.design import VERSION, Design, Law
from shuffledp.domain import Stored
from shuffledp.questions import OURS, kind_of
from shuffledp.randomizers import law_file  # noqa: F401, it loads all families
from shuffledp.randomizers.family import FAMILIES
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.record import FORMAT, Record
from shuffledp.record.record import VERSION as RECORD_VERSION
from shuffledp.schema import Chance, Limits, Mark, Moment, Number, Open, Part, Rule, forms_of, rules_of

__all__ = ["design", "record", "texts"]

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
LIMITS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
ELSEWHERE: dict[Any, str] = {
    Design: "design.json",
    Law: "design.json#/$defs/mechanism",
}  # where a record refers to the design's
IN_LEDGERS = {"rappor"}  # a law that no question is answered by
INTEGER = {"type": "string", "pattern": "^(0|[1-9][0-9]{0,19})$"}  # out of 2^64: many readers round large numbers


def texts() -> dict[str, str]:
    """The files, by name."""
    made = {"design": design(), "record": record()}
    return {f"{name}.json": json.dumps(schema, indent=1, ensure_ascii=False) + "\n" for name, schema in made.items()}


def design() -> Schema:
    """The design, the questions, domains and laws that it can hold."""
    questions = {name: _object(kind_of(name), rules_of(kind_of(name))) for name in OURS}
    domains = {rules_of(each)["type"].default: _object(each, rules_of(each)) for each in get_args(Stored)}
    whole = _object(Design, rules_of(Design))
    own = {name: {"$ref": f"#/$defs/{name}"} for name in ("question", "domain", "mechanism")}
    whole["properties"] |= own | {"version": {"const": VERSION}}
    return (
        {"$schema": DIALECT, "title": "A design: what is asked, of how many, with which noise, and what that promises"}
        | whole
        | {
            "$defs": {
                "question": {"oneOf": list(questions.values())},
                "domain": {"oneOf": list(domains.values())},
                "mechanism": _laws(),
            }
        }
    )


def record() -> Schema:
    """The record of a release; a field that only some questions have is a condition at its end."""
    whole = _object(Record, rules_of(Record))
    whole["properties"] |= {"format": {"const": FORMAT}, "version": {"const": RECORD_VERSION}}
    conditions = [_condition(place, mark) for place, mark in _by_question(Record)]
    return {"$schema": DIALECT, "title": "The record of a release"} | whole | {"allOf": conditions}


def _laws() -> Schema:
    """One for each family that a design can hold, and two that have laws inside."""
    laws = []
    for name, family in sorted(FAMILIES.items()):  # they register in the order in which they are imported
        if name not in IN_LEDGERS and family.make.__module__.startswith("shuffledp."):
            types = forms_of(family.make)
            own = {each: _schema(_explicit(types[each])) for each in family.parameters}
            own["k"]["minimum"] = 2  # values
            if issubclass(family.make, MessageLaw):
                own["epsilon0"] = {"anyOf": [own["epsilon0"], {"type": "null"}]}  # its messages may be the truth
            laws.append(_law(name, own))
    number, some = _schema(Number), {"type": "array", "minItems": 1}
    level = next(each for each in laws if each["properties"]["type"] == {"const": "krr"})
    laws += [
        _law("check-in", {"epsilon0": number, "probability": _schema(Chance), "of": {"$ref": "#/$defs/mechanism"}}),
        _law("one of", {"epsilon0": number, "weights": some | {"items": number}, "questions": some | {"items": level}}),
    ]
    return {"oneOf": laws}


def _law(name: str, parameters: Schema) -> Schema:
    integers = {"type": "array", "minItems": 1, "items": INTEGER}
    return _closed({"type": {"const": name}, **parameters, "integers": integers})


def _explicit(form: Any) -> Any:
    """A parameter of a law is written down, also where Python may work it out."""
    known = [each for each in get_args(form) if each is not NoneType]
    return known[0] if get_origin(form) in (Union, UnionType) else form


def _schema(form: Any) -> Schema:
    base, limits = get_args(form) if get_origin(form) is Annotated else (form, None)
    items = get_args(base)
    if get_origin(base) is Literal:
        return {"const": items[0]} if len(items) == 1 else {"enum": list(items)}
    if base is Open:
        return {}
    if get_origin(base) in (Union, UnionType):
        return {"anyOf": [_schema(each) for each in items]}
    if isinstance(base, type) and issubclass(base, Part):
        return {"$ref": ELSEWHERE[base]} if base in ELSEWHERE else _object(base, rules_of(base))
    made: Schema = {"type": "array", "items": _schema(items[0])} if items else {"type": TYPES[base]}
    if items and items[-1] is not ...:
        limits = Limits(len(items), len(items))
    least, most = LIMITS.get(made["type"], ("minimum", "maximum"))
    if limits is not None:
        made |= ({least: limits.least} if limits.least or least == "minimum" else {}) | {most: limits.most}
    return made | ({"format": "date-time"} if isinstance(limits, Moment) else {})


def _object(part: type[Part], rules: dict[str, Rule]) -> Schema:
    made = _closed({name: _schema(rule.form) for name, rule in rules.items()})
    needed = [name for name, rule in rules.items() if rule.mark.needed and not rule.mark.special]
    return {"description": _said(part)} | made | {"required": needed}


def _closed(properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _said(cls: type) -> str:
    """The first paragraph of a class's docstring."""
    return " ".join((cls.__doc__ or "").split("\n\n")[0].split())


def _by_question(part: type[Part], *at: str) -> Iterator[tuple[tuple[str, ...], Mark]]:
    """Where fields stand that only some questions have."""
    for name, rule in rules_of(part).items():
        if rule.mark.special:
            yield (*at, name), rule.mark
        if isinstance(rule.form, type) and issubclass(rule.form, Part) and rule.form not in ELSEWHERE:
            yield from _by_question(rule.form, *at, name)


def _condition(place: tuple[str, ...], mark: Mark) -> Schema:
    """If the question is one of those, a field may or must be there; else it must not."""
    parts, name = place[:-1], place[-1]
    having = [each for each in OURS if name in kind_of(each).recorded]
    made = {"if": _inside(["design", "question", "type"], {"enum": having})}
    made |= {"then": _inside(parts, {"required": [name]})} if mark.needed else {}
    return made | {"else": _inside(place, False)}


def _inside(place: Sequence[str], schema: Schema | bool) -> Any:
    for name in reversed(place):
        schema = {"properties": {name: schema}}
    return schema


if __name__ == "__main__":
    for name, text in texts().items():
        (Path("docs/schemas") / name).write_text(text, encoding="utf-8")
        print(f"docs/schemas/{name}")
