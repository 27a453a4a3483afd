"""A search for frequent words, level by level."""

from __future__ import annotations

from typing import Any


def recheck(record: dict[str, Any], judge: Any) -> list[Any]:
    """Every level, every threshold, and the estimates."""
    domain = {**record["design"]["question"], "type": "prefixes"}
    return [judge.answers("krr"), judge.domain(domain), judge.complete(), *judge.searched(record)]
