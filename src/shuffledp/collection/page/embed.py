"""The facts inside a document: every number exactly as it was, for a machine to check."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from shuffledp.collection.page.markup import Markup
from shuffledp.errors import InvalidInput

__all__ = ["FORMAT", "HASHED", "VERSION", "embed", "embedded"]

FORMAT, VERSION = "shuffledp-release", 1
ID = "shuffledp-facts"
MOST_EDITIONS = 10**6
OPEN, CLOSE = f'<script type="application/json" id="{ID}">', "</script>"
HASHED = (
    "made",
    "asked",
    "design",
    "counted",
    "certificate",
    "comparison",
    "tally",
    "estimates",
    "secure",
    "notes",
    "ledger",
)
PARTS = (*HASHED, "hashes")
REMEDY = "Pass the report.html or the estimates.json that shuffledp wrote, whole and unchanged."


def embed(facts: Mapping[str, Any]) -> Markup:
    """The facts as data that no browser runs. Letters beyond ASCII are escaped: no mail gateway and
    no editor can spoil them.
    """
    written = json.dumps(facts, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(f"{OPEN}{written}{CLOSE}")


def embedded(text: str) -> dict[str, Any]:
    """The facts in a report, or in the JSON beside it, with every float as it was; anything else is
    refused.

    >>> embedded("<html>")
    Traceback (most recent call last):
    shuffledp.errors.InvalidInput: a report must hold the facts of one release, got none. Pass the
    report.html or the estimates.json that shuffledp ...
    """
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        found, opened, rest = (
            text.count(f'id="{ID}"'),
            *text.partition(OPEN)[1:],
        )  # found in one pass, however often a stranger wrote half of it
        if found != 1 or not opened:
            raise InvalidInput(f"a report must hold the facts of one release, got {found or 'none'}. {REMEDY}")
        if not text.rstrip().endswith("</html>"):
            raise InvalidInput(f"a report must be whole, got one whose end is missing. {REMEDY}")
        text = rest.partition(CLOSE)[0]
    try:
        facts = json.loads(text.lstrip("\ufeff"), parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"the facts of a release must be whole, strict JSON, got {_where(error)}. {REMEDY}"
        ) from None
    return _checked(facts)


def _checked(facts: object) -> dict[str, Any]:
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        named = facts.get("format") if isinstance(facts, dict) else None
        raise InvalidInput(f"the format must be {FORMAT!r}, got {str(named)[:40]!r}. {REMEDY}")
    if type(facts.get("version")) is not int or facts["version"] != VERSION:
        raise InvalidInput(
            f"the version of the facts must be {VERSION}, got {str(facts.get('version'))[:40]!r}. Use the version of "
            f"shuffledp that wrote them."
        )
    edition = facts.get("edition", 1)
    if type(edition) is not int or not 1 <= edition <= MOST_EDITIONS:
        raise InvalidInput(
            f"the edition of a report must be a whole number from 1 on, got {str(edition)[:40]!r}. {REMEDY}"
        )
    if missing := [part for part in PARTS if part not in facts]:
        raise InvalidInput(f"the facts of a release must be complete, got none about {', '.join(missing)}. {REMEDY}")
    return facts


def _refuse(name: str) -> float:
    raise ValueError(name)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two values under one name: a reader and a checker might believe different ones."""
    facts = dict(pairs)
    if len(facts) != len(pairs):
        raise ValueError("a name twice")
    return facts


def _where(error: Exception) -> str:
    return (
        f"a fault at character {error.pos}"
        if isinstance(error, json.JSONDecodeError)
        else str(error)
        if isinstance(error, ValueError)
        else "too deep a nest"
    )
