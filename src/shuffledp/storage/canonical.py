"""The one way to write facts as JSON, so that equal facts have equal hashes; and the strict way to
read them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, Self

from shuffledp.errors import InvalidInput, Refusal
from shuffledp.schema import File, Part, check_format, part, rules_of

# Made once: a ledger of ten thousand releases is spelled ten thousand times whenever it is read.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(facts: object) -> str:
    """JSON with sorted keys and no spaces.

    >>> canonical({"b": 1, "a": [2.5]})
    '{"a":[2.5],"b":1}'
    """
    return _ENCODER.encode(facts)


def digest_of(facts: object) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal digits.

    >>> digest_of({"b": 1, "a": [2.0]}) == digest_of({"a": [2.0], "b": 1})
    True
    """
    return hashlib.sha256(canonical(facts).encode()).hexdigest()


def digest_of_votes(votes: Iterable[int]) -> str:
    """SHA-256 of whole numbers in their order, one per line: of many, without all their text at
    once.

    >>> digest_of_votes([3, -1]) == hashlib.sha256(b"3\\n-1\\n").hexdigest()
    True
    """
    digest = hashlib.sha256()
    for vote in votes:
        digest.update(b"%d\n" % int(vote))
    return digest.hexdigest()


def strict_json(text: str) -> Any:
    """What JSON says; a name twice, NaN and infinity are refused, as readers of JSON differ there.

    >>> strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: a name twice
    """
    return json.loads(text, object_pairs_hook=_once, parse_float=_finite, parse_constant=_refuse)


def parsed(content: bytes) -> Any:
    """What the bytes of a file or an answer say in strict JSON; None where they are none.

    >>> parsed(b'{"a": 1}'), parsed(b"{")
    ({'a': 1}, None)
    """
    try:
        return strict_json(content.decode())
    except (ValueError, RecursionError):
        return None


def _finite(digits: str) -> float:
    """A number, unless it is one that no double holds: 1e400 is another spelling of infinity."""
    number = float(digits)
    if math.isinf(number):
        raise ValueError(digits)
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two values under one name: a reader and a checker might believe different ones."""
    facts = dict(pairs)
    if len(facts) != len(pairs):
        raise ValueError("a name twice")
    return facts


def _refuse(name: str) -> float:
    raise ValueError(name)


@part
class Line(Part):
    """A part that is a file, or its first line: canonical JSON with a ``format`` and a ``version``,
    read only letter by letter as it was written; ``called`` is what another one is told to be.
    """

    called: ClassVar[str] = "as shuffledp wrote it"

    @cached_property
    def content(self) -> bytes:
        """Its bytes."""
        return canonical(self.as_json()).encode() + b"\n"

    @classmethod
    def from_bytes(cls, content: bytes, file: File, *, version: int | None = None) -> Self:
        """Read ``content``; any other bytes than this version writes are refused."""
        (form, usual), written = (rules_of(cls)[name].default for name in ("format", "version")), parsed(content)
        if not isinstance(written, dict) or written.get("format") != form:
            raise InvalidInput(Refusal(f"{file.title} must be {cls.called}", "something else", file.remedy))
        made = cls.read(check_format(file.title, written, form, version or usual, file.remedy), file)
        if made.content != content:
            rule = f"{file.title} must be spelled as shuffledp spells it"
            raise InvalidInput(Refusal(rule, "other bytes", file.remedy))
        return made
