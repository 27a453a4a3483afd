"""The most frequent words: what a search found at its levels."""

from __future__ import annotations

from shuffledp.collection.record import Designed, Record
from shuffledp.collection.verify.by_task.told_values import ToldValues
from shuffledp.collection.verify.check_search import check_search
from shuffledp.collection.verify.counted_law import CountedLaw
from shuffledp.collection.verify.outcomes import Check

__all__ = ["ToldWords"]


class ToldWords(ToldValues):
    """The most frequent words."""

    def families(self, design: Designed) -> tuple[str, ...]:
        return ("krr",)

    def size(self, design: Designed, law: CountedLaw) -> int:
        return design.room or 0

    def check(self, record: Record, law: CountedLaw) -> list[Check]:
        """The estimates are made of the levels of the search."""
        return check_search(record, law)
