"""Questions that several protocols answer, some with the accuracy of a trusted curator: the asked
error and the allowed messages choose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from shuffledp.collection.release.question import Question
from shuffledp.collection.release.terms import Categories, Promise, check_words
from shuffledp.errors import InvalidInput
from shuffledp.protocols.count import SignedCount, check_most_error, check_most_messages
from shuffledp.protocols.protocol import ReportingProtocol
from shuffledp.protocols.settling import answering
from shuffledp.protocols.split_and_mix import reachable
from shuffledp.protocols.tasks import CountTask

__all__ = ["CountQuestion", "SumQuestion", "count_categories"]

REST = "anything else"


@dataclass(frozen=True, slots=True, kw_only=True)
class SumQuestion(Question):
    """A mean or a sum: of one message of each person, or of several, where more accuracy is asked
    for or more ``messages`` are allowed.
    """

    messages: int | None = None
    error: float | None = None

    def protocol(self, n: int, promise: Promise) -> ReportingProtocol:
        """The one with the fewest messages that reaches the error; without one, that errs least
        with as many messages.
        """
        messages, error = check_most_messages(self.messages), check_most_error(self.error)
        task, terms = self._task(), promise.terms(n)
        one = answering(task, **terms)
        if messages in (None, 1) and error is None:
            return one
        if error is not None and one.settle().predicted_stderr() <= error:
            return one
        fitting, refused = [one], ""
        if messages is None or messages > 1:
            try:
                fitting.append(answering(task, "split", **terms).settle())
            except InvalidInput as why:
                refused = str(why)
        try:
            chosen: ReportingProtocol = reachable(fitting, most_messages=messages, most_error=error)
        except InvalidInput as why:
            raise InvalidInput(f"{why} {refused}".strip()) from None
        return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class CountQuestion(Question):
    """How many people hold ``value``."""

    task: str = "count"
    value: str
    messages: int | None = None
    error: float | None = None

    def settled(self) -> Question:
        check_words("--value", self.value)
        known = count_categories(self.value, None if self.categories is None else self.categories.missing)
        return Question.settled(replace(self, categories=known))

    def _task(self) -> CountTask:
        return CountTask(self.value)

    def protocol(self, n: int, promise: Promise) -> ReportingProtocol:
        terms: dict[str, Any] = promise.terms(n)
        return SignedCount(value=self.value, most_messages=self.messages, most_error=self.error, **terms)


def count_categories(value: str, missing: str | None = None) -> Categories:
    """A value, and everything else."""
    if value == REST:
        raise InvalidInput(f"--value must be a value that people hold, got {value!r}. That is what all others are.")
    return Categories((REST, value), "one value", other=REST, missing=missing)
