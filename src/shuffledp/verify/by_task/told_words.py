"""The most frequent words: what a search found at its levels."""

from __future__ import annotations

from shuffledp.judge.laws import CountedLaw
from shuffledp.record import Designed, Record
from shuffledp.verify.by_task.told_values import ToldValues
from shuffledp.verify.check_search import check_search
from shuffledp.verify.outcomes import Check

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
