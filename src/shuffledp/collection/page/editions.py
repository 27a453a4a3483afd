"""Editions of the page. What was once written is written again in the same words, for ever:
otherwise every honest older page would seem changed.

A page says its edition in its facts; the first one did not, and so absence means 1. The rules:

- whoever changes a word, a mark or the style of a page adds an edition, and leaves what earlier
  ones wrote as it was: ``since(facts, 3)`` tells them apart;
- a field of the facts is never removed and its meaning never changes; a new one has a default that
  means what its absence meant;
- a sentence of a certificate that is worded anew keeps its older wordings in
  ``statements.WORDINGS``;
- a page of an edition that is not known here is neither right nor wrong: its numbers are checked,
  and its words are "not checked".

1  shuffledp 0.1.0
2  ± means one thing; missing values are counted; of a sorted list the intervals hold all at once;
   of a cut one, all votes are bound by a digest
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["EDITION", "edition_of", "known", "since"]

EDITION = 2


def edition_of(facts: Mapping[str, Any]) -> int:
    """The edition in which facts are shown."""
    return int(facts.get("edition", 1))


def since(facts: Mapping[str, Any], edition: int) -> bool:
    """Whether facts are shown as ``edition`` or a later one does."""
    return edition_of(facts) >= edition


def known(facts: Mapping[str, Any]) -> bool:
    """Whether this version can write that edition."""
    return 1 <= edition_of(facts) <= EDITION
