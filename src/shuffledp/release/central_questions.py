"""Questions that several mechanisms answer, some with the accuracy of a trusted curator: the asked
error and the allowed messages choose.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace

from shuffledp.errors import Argument, InvalidInput, Refusal, Words, check_count
from shuffledp.mechanisms.signed_units import check_most_error, check_most_messages
from shuffledp.poll import Poll
from shuffledp.questions.count.question import CountQuestion
from shuffledp.record import Asked
from shuffledp.release.arguments import Categories, Promise, check_labels, check_words, listed
from shuffledp.release.request import Request
from shuffledp.sampling import Rng
from shuffledp.tables import Column, OneValue, Places, Values, read
from shuffledp.wording import rounded

__all__ = ["CountRequest", "SumRequest", "count_categories", "reachable"]

REST = "anything else"


@dataclass(frozen=True, slots=True, kw_only=True)
class SumRequest(Request):
    """A mean or a sum: of one message of each person, or of several, where more accuracy is asked
    for or more ``messages`` are allowed.
    """

    messages: int | None = None
    error: float | None = None

    def check(self, promise: Promise) -> None:
        """Refuse noise that is not all that Algorithms 2 and 3 of Balle et al. 2019 take."""
        if promise.epsilon is not None:
            return
        if promise.k is None:
            raise InvalidInput(
                *(
                    f"a {self.question} with ",
                    Argument("gamma"),
                    " or ",
                    Argument("epsilon0"),
                    " needs ",
                    Argument("k"),
                ),
                *(": the steps of the grid that numbers are rounded to. Add it, such as ", Argument("k", 6), "."),
            )
        remedy = "It counts the steps of the grid that numbers are rounded to."
        check_count(Argument("k"), promise.k, least=1, remedy=remedy)
        if reaching := [Argument(name) for name in ("messages", "error") if getattr(self, name) is not None]:
            raise InvalidInput(
                *(
                    Argument("gamma"),
                    " and ",
                    Argument("epsilon0"),
                    " are the noise of a single message, and must come ",
                ),
                *("without ", listed(reaching), ". Leave one or the other out."),
            )

    def poll(self, n: int, promise: Promise) -> Poll:
        """The one with the fewest messages that reaches the error; without one, that errs least
        with as many messages.
        """
        messages, error = check_most_messages(self.messages), check_most_error(self.error)
        question, terms = self._question(), promise.terms(n)
        one = Poll(question, **terms)
        if messages in (None, 1) and error is None:
            return one
        if error is not None and one.predicted_stderr() <= error:
            return one
        fitting, refused = [one], tuple[Words, ...]()
        if messages is None or messages > 1:
            try:
                fitting.append(Poll(question, mechanism="split", **terms))
            except InvalidInput as why:
                refused = (" ", *why.args)
        try:
            return reachable(fitting, most_messages=messages, most_error=error)
        except InvalidInput as why:
            raise InvalidInput(*why.args, *refused) from None


def reachable(polls: list[Poll], *, most_messages: int | None, most_error: float | None) -> Poll:
    """Of polls for one question the one with the fewest messages that errs by at most
    ``most_error``, or, where none is asked for, the one that errs least.
    """
    short = [each for each in polls if most_messages is None or each.messages <= most_messages]
    if not short:
        few = min(each.messages for each in polls)
        raise InvalidInput(f"messages must be at least {few} here, got {most_messages}. Allow more.")
    if most_error is None:
        return min(short, key=lambda each: each.predicted_stderr())
    sharp = [each for each in short if each.predicted_stderr() <= most_error]
    if not sharp:
        best = min(short, key=lambda each: each.predicted_stderr())
        raise InvalidInput(
            f"error must be at least {rounded(best.predicted_stderr(), up=True)}, which {best.messages} message"
            f"{'s' * (best.messages > 1)} of each person reach{'es' * (best.messages == 1)}, got {most_error:g}. Allow "
            f"a larger error or epsilon, more messages, or ask more people."
        )
    return min(sharp, key=lambda each: each.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRequest(Request):
    """How many people hold ``value``, one of the ``listed`` categories if there are any: values
    outside them are refused, or count as their ``other``.
    """

    question: str = "count"
    value: str
    listed: Categories | None = None
    messages: int | None = None
    error: float | None = None

    def settled(self) -> Request:
        check_words(Argument("value"), self.value)
        known = count_categories(self.value, None if self.categories is None else self.categories.missing)
        if self.listed is not None:
            labels = self.listed.of(self.listed.labels or ())
            if self.value not in labels:
                near = difflib.get_close_matches(self.value, labels, n=1)
                remedy = f"Did you mean {near[0]!r}?" if near else ("Add it to ", Argument("categories"), ".")
                raise InvalidInput(
                    Refusal((Argument("value"), " must be one of the categories"), repr(self.value), remedy)
                )
        return Request.settled(replace(self, categories=known))

    def reader(self) -> OneValue:
        known, given = self.categories, self.listed
        assert known is not None
        assert known.labels is not None
        places = None
        if given is not None:
            places = Places(check_labels(given.of(given.labels or ())), other=given.other, cleaning=self.cleaning)
        rules = {"other": known.other, "missing": known.missing, "cleaning": self.cleaning}
        return OneValue(labels=known.labels, listed=places, **rules)  # type: ignore[arg-type]

    def values(self, column: Column, *, rng: Rng = None, tick: Callable[[int], object] | None = None) -> Values:
        """The same; a value that no row holds is refused, where none are listed."""
        reader = self.reader()
        values = read(column, reader, keep=self.keep, rng=rng, tick=tick)
        if self.listed is None and not reader.held[self.value]:
            values.close()
            raise self.unheld(column.title, reader.remarks())
        values.remarks = reader.remarks()
        return values

    def unheld(self, title: str, instead: list[Words]) -> InvalidInput:
        """What to say where no row holds the value, but perhaps others like it."""
        all_there_are = ("If that may be, list all values there can be: ", Argument("categories", "FILE"))
        rule, got = (Argument("value"), f" must be a value of {title}"), f"{self.value!r}, which no row holds"
        return InvalidInput(Refusal(rule, got, (listed(instead, "; ") or all_there_are, ".")))

    def asked(self) -> Asked:
        if self.listed is None:
            return Request.asked(self)
        other = self.listed.other
        return replace(Request.asked(self), outside="refused" if other is None else f"counted as {other}")

    def _question(self) -> CountQuestion:
        return CountQuestion(value=self.value)

    def poll(self, n: int, promise: Promise) -> Poll:
        return Poll(self._question(), most_messages=self.messages, most_error=self.error, **promise.terms(n))


def count_categories(value: str, missing: str | None = None) -> Categories:
    """A value, and everything else."""
    if value == REST:
        rule = (Argument("value"), " must be a value that people hold")
        raise InvalidInput(Refusal(rule, repr(value), "That is what all others are."))
    return Categories((REST, value), "one value", other=REST, missing=missing)
