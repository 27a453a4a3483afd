"""The record inside a page, or in the JSON beside it: every number exactly as it was, for a machine
to check.
"""

from __future__ import annotations

import json

from shuffledp.errors import InvalidInput
from shuffledp.record.whole import REMEDY, Record
from shuffledp.storage.canonical import strict_json

__all__ = ["CLOSE", "OPEN", "data_block", "embedded_json", "read_record"]

ID = "shuffledp-facts"
OPEN, CLOSE = f'<script type="application/json" id="{ID}">', "</script>"


def data_block(facts: object) -> str:
    """The element of a page that holds its record, as data that no browser runs. Letters beyond
    ASCII are escaped: no mail gateway and no editor can spoil them.
    """
    written = json.dumps(facts, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return f"{OPEN}{written}{CLOSE}"


def read_record(text: str) -> Record:
    """The record in a page, or in the JSON beside it, with every float as it was; anything else is
    refused.
    """
    return Record.from_json(embedded_json(text))


def embedded_json(text: str) -> object:
    """The JSON in a page, or the one that ``text`` is; what it says is not looked at yet.

    >>> embedded_json("<html>")
    Traceback (most recent call last):
    shuffledp.errors.InvalidInput: a page must hold the record of one release, got none. Pass the
    page.html or the estimates.json that shuffledp ...
    """
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        found = text.count(f'id="{ID}"')
        # Found in one pass, however often a stranger wrote half of it.
        _, opened, rest = text.partition(OPEN)
        if found != 1 or not opened:
            raise InvalidInput(f"a page must hold the record of one release, got {found or 'none'}. {REMEDY}")
        if not text.rstrip().endswith("</html>"):
            raise InvalidInput(f"a page must be whole, got one whose end is missing. {REMEDY}")
        text = rest.partition(CLOSE)[0]
    try:
        return strict_json(text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"the record of a release must be whole, strict JSON, got {_fault(error)}. {REMEDY}"
        ) from None


def _fault(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"a fault at character {error.pos}"
    return str(error) if isinstance(error, ValueError) else "JSON that is nested too deeply"
