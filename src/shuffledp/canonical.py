"""The one way to write facts as JSON, so that equal facts have equal hashes."""

from __future__ import annotations

import hashlib
import json

__all__ = ["canonical", "digest_of"]

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
