"""How the answer to a task is shown: what every task says of its answer, in the usual words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from shuffledp.page import phrases
from shuffledp.page.margins import accuracy, together
from shuffledp.page.markup import Markup, join, label
from shuffledp.page.numerals import exact, level, many
from shuffledp.page.svg import Chart
from shuffledp.record import Record

__all__ = ["Drawn", "ShownAnswer", "ShownPeople"]

Rows = list[tuple[str, object]]


class Drawn(NamedTuple):
    """A chart and its caption; ``beside`` has the numbers that a page shows next to it."""

    chart: Chart
    caption: str
    beside: str = ""


class ShownAnswer(ABC):
    """How the answer to a task is shown; the modules of the tasks say what differs."""

    column: ClassVar[str] = "Column"

    @abstractmethod
    def kind(self, record: Record) -> str:
        """What is told of the column, in the title of the page."""

    @abstractmethod
    def section(self, record: Record) -> Markup:
        """The answer: drawn, and in numbers."""

    @abstractmethod
    def drawn(self, record: Record) -> Drawn:
        """The chart of the answer, for the page and for a file of its own."""

    def declared(self, record: Record) -> Rows:
        """What was known before the data: the range."""
        lower, upper = record.design.bounds
        return [("Range", f"{exact(lower)} to {exact(upper)}{self.divided(record)}, declared beforehand")]

    def divided(self, record: Record) -> str:
        """Into what the range is divided, if into anything."""
        return ""

    def accuracy(self, record: Record) -> str:
        """How far the worst estimate is from its true value at most."""
        return accuracy(record.estimates)

    def confidence(self, record: Record) -> str:
        """How sure the accuracy is, and of what."""
        found, sure = record.estimates, level(record.estimates.level)
        if together(found):
            return phrases.LEVEL_TOGETHER.format(level=sure)
        return phrases.LEVEL_EACH.format(level=sure, each="each " if len(found.label) > 1 else "")

    def crowd(self, record: Record) -> str:
        """What the people sent."""
        return "reports, shuffled"

    def movable(self, record: Record) -> str:
        """What malicious people could have moved."""
        several = len(record.estimates.sway or ()) > 1
        return phrases.ANY_ESTIMATE if several else phrases.THE_ESTIMATE

    def faked(self, record: Record) -> list[str]:
        """What else they could have done."""
        return []


class ShownPeople(ShownAnswer):
    """The same where people are counted, value by value."""

    def kind(self, record: Record) -> str:
        return "how many people hold each value"

    def declared(self, record: Record) -> Rows:
        """The values, and where they came from."""
        asked = record.asked
        if not asked.categories:
            return []
        return [("Values", join([self.told_apart(record), ", declared beforehand: ", label(asked.categories)]))]

    def told_apart(self, record: Record) -> str:
        """How many values there are."""
        return many(record.estimates.of, "value")
