"""The published schemas, read as anybody would who has these files alone."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"
FILES: dict[str, Schema] = {
    name: json.loads((FOLDER / name).read_text(encoding="utf-8")) for name in ("design.json", "record.json")
}
TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "string": (str,),
    "integer": (int,),  # shuffledp takes 1.0 for none
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}


def record_of(question: str) -> Schema:
    """The schema of a record of this question, without conditions."""
    made = copy.deepcopy(FILES["record.json"])
    for each in made.pop("allOf"):
        known = each["if"]["properties"]["design"]["properties"]["question"]["properties"]["type"]["enum"]
        _narrow(made, each.get("then", {}) if question in known else each["else"])
    return made


def _narrow(schema: Schema, branch: Schema) -> None:
    schema["required"] = schema["required"] + branch.get("required", [])
    for name, inner in branch.get("properties", {}).items():
        if inner is False:
            del schema["properties"][name]
        else:
            _narrow(schema["properties"][name], inner)


def followed(schema: Schema) -> Schema:
    """What a reference stands for."""
    while "$ref" in schema:
        file, _, place = schema["$ref"].partition("#")
        schema = FILES[file or "design.json"]
        for name in filter(None, place.split("/")):
            schema = schema[name]
    return schema


def options(schema: Schema) -> list[Schema]:
    """The schemas of which a value has to fit one."""
    schema = followed(schema)
    listed = schema.get("anyOf") or schema.get("oneOf") or []
    return [leaf for each in listed for leaf in options(each)] if listed else [schema]


def chosen(schema: Schema, value: object) -> Schema | None:
    """The option that a value is of, by its type and by the fields whose value is prescribed."""
    return next((each for each in options(schema) if _is_of(each, value)), None)


def _is_of(schema: Schema, value: object) -> bool:
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    if type(value) not in TYPES[schema["type"]]:
        return False
    named = {name: each["const"] for name, each in schema.get("properties", {}).items() if "const" in each}
    named.pop("version", None)
    return not isinstance(value, dict) or all(value.get(name) == each for name, each in named.items())


def faults(schema: Schema, value: Any, where: str = "") -> Iterator[str]:
    """Where a value is not as the schema has it."""
    option = chosen(schema, value)
    if option is None or not _holds(option, value):
        yield where
    elif isinstance(value, dict):
        known = option["properties"]
        for name in sorted(value.keys() ^ known.keys()):
            if name in value or name in option["required"]:
                yield f"{where}.{name}"
        for name in value.keys() & known.keys():
            yield from faults(known[name], value[name], f"{where}.{name}")
    elif isinstance(value, list):
        for each in value:
            yield from faults(option["items"], each, where)


def _holds(schema: Schema, value: Any) -> bool:
    """Whether a value of the right type is within its limits."""
    if schema.get("format") == "date-time" and not _is_moment(value):
        return False
    if isinstance(value, str):
        fits = re.search(schema.get("pattern", ""), value) is not None
        return fits and len(value) <= schema.get("maxLength", len(value))
    if isinstance(value, list):
        return schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
    if isinstance(value, (int, float)):
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    return True


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
