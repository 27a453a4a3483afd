"""The words of a search, symbol by symbol: whatever went on from a level begins as it was followed
there, and is as long as what the level looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import accumulate
from urllib.parse import unquote_to_bytes

from shuffledp.record import Record, Searched, SearchLevel
from shuffledp.verify.outcomes import Check, holds, unchecked

__all__ = ["check_symbols"]

Symbols = tuple[object, ...]
Reader = Callable[[str], Symbols | None]


def check_symbols(record: Record, search: Searched) -> Iterator[Check]:
    """Every value that went on, and the tokens that none of them has."""
    tokens, seen = record.design.tokens, set[object]()
    read, depths = _reader(tokens), list(accumulate(search.spans))
    for number, level in enumerate(search.levels, 1):
        texts, followed = list(map(read, level.passed)), _Followed(level, read, depths[min(number, len(depths)) - 1])
        seen.update(symbol for text in texts for symbol in text or ())
        right = len(set(zip(level.passed, level.whole, strict=True))) == len(texts) and all(
            text is not None and followed.by(text, whole) for text, whole in zip(texts, level.whole, strict=True)
        )
        found = "each once, as it was followed" if right else "something else"
        yield holds(f"level {number}: symbols", f"{len(texts)} values", found, "the symbols of each", right)
    unseen = [token for token in tokens or () if token not in seen]
    if unseen:
        why = "nothing that went on has them; the ledger binds the design"
        yield unchecked("tokens that no word has", ", ".join(unseen), why)


def _reader(tokens: tuple[str, ...] | list[str] | None) -> Reader:
    """How a text is cut into symbols, the longest first; none of a text that cannot be."""
    if tokens is None:
        return lambda text: tuple(unquote_to_bytes(text))
    pattern = "|".join(map(re.escape, sorted(tokens, key=len, reverse=True)))

    def cut(text: str) -> Symbols | None:
        found = re.findall(pattern, text)
        return tuple(found) if "".join(found) == text else None

    return cut


class _Followed:
    """What can have gone on from a level that looked at ``depth`` symbols."""

    def __init__(self, level: SearchLevel, read: Reader, depth: int) -> None:
        self._words, self._prefixes = set(map(read, level.words)), set(map(read, level.prefixes))
        self._begun = {len(prefix) for prefix in self._prefixes if prefix is not None}
        self._depth, self._span = depth, level.span

    def by(self, text: Symbols, whole: bool) -> bool:
        """Whether a word, or a beginning, did."""
        if self._words:
            return text in (self._words if whole else self._prefixes)
        begun = any(text[:length] in self._prefixes for length in self._begun)
        return begun and (self._depth - self._span <= len(text) < self._depth if whole else len(text) == self._depth)
