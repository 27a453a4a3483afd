"""What a count takes, on the command line and as ``sdp.count``."""

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Required, TypedDict, Unpack

from shuffledp.errors import Argument, InvalidInput, Refusal, check_words
from shuffledp.release import options as shared
from shuffledp.release.options import LISTS, Option, PathLike, keywords

if TYPE_CHECKING:
    from shuffledp.release.released import Release
    from shuffledp.release.request import Request
    from shuffledp.sampling import Rng
    from shuffledp.tables.values import OneValue

OF_TABLE = ("categories", "other")  # a design holds the value alone: what else people hold, a table shows


class Valued(TypedDict, total=False):
    """The value, and the others there are."""

    value: Required[Annotated[object, Option("Value to count.", example="yes")]]
    categories: Annotated[
        PathLike | Iterable[object] | None,
        Option(f"{LISTS}.", kind="text", metavar="FILE|LIST"),
    ]


class Options(
    Valued, shared.Other, shared.Epsilon, shared.Common, shared.Texts, shared.Titled, shared.Reaching, total=False
):
    """How many people have one value."""


def request(rows: dict[str, Any], column: object, given: dict[str, Any]) -> "Request":
    """The count of a column that the options describe."""
    from shuffledp.poll import Poll
    from shuffledp.questions.count.question import ELSE, CountQuestion
    from shuffledp.release.arguments import column_name
    from shuffledp.release.categories import categories_of, label_text
    from shuffledp.release.request import Request
    from shuffledp.tables.values import OneValue, Places

    if given["categories"] is None and given["other"] is not None:
        remedy = "Without them every other value is else."
        raise InvalidInput(Refusal((Argument("other"), " must come with ", Argument("categories")), "none", remedy))
    value = label_text(given["value"])
    check_words(Argument("value"), value)
    if value == ELSE:
        rule = (Argument("value"), " must be a value that people hold")
        raise InvalidInput(Refusal(rule, repr(value), "That is what all others are."))
    listed, outside = None, None
    if given["categories"] is not None:
        listed = categories_of(given["categories"], other=given["other"])
        _check_listed(value, listed.all)
        outside = "refused" if listed.other is None else f"counted as {listed.other}"

    question = CountQuestion(value=value)

    def reads() -> "OneValue":
        """Where other values are listed, they are read by the list; else they are looked at."""
        cleaning = rows["cleaning"]
        places = None if listed is None else Places(listed.checked(), other=listed.other, cleaning=cleaning)
        return OneValue(labels=(ELSE, value), other=ELSE, listed=places, cleaning=cleaning)

    def chooses(terms: dict[str, Any]) -> Poll:
        return Poll(question, most_messages=given.get("messages"), most_error=given["error"], **terms)

    return Request(
        question=question,
        column=column_name("column", column),
        origins=("one value",),
        outside=outside,
        reads=reads,
        chooses=chooses,
        **rows,
    )


def _check_listed(value: str, labels: tuple[str, ...]) -> None:
    """Refuse a value that is not one of those that are listed."""
    if value not in labels:
        near = difflib.get_close_matches(value, labels, n=1)
        remedy = f"Did you mean {near[0]!r}?" if near else ("Add it to ", Argument("categories"), ".")
        raise InvalidInput(Refusal((Argument("value"), " must be one of the categories"), repr(value), remedy))


@keywords(Options)
def count(data: object, column: str | None = None, *, rng: "Rng" = None, **given: Unpack[Options]) -> "Release":
    """How many people hold ``value``, as accurately as a curator would tell.

    Each person sends some twenty messages, most of them blank; ``messages`` is how many there may
    be at most, and ``error`` a standard error to stay below. All must be sealed to the analyst.
    With ``categories``, values outside that list are refused, or count as ``other``; without them,
    a ``value`` that no row holds is refused. Everything else is as for ``histogram``.

    >>> yes = count(["yes"] * 700 + ["no"] * 300, value="yes", epsilon=1.0, delta=1e-6)
    >>> (row,) = yes.estimates
    >>> abs(row.estimate - 700) < 10 * row.stderr, row.stderr < 1.6
    (True, True)
    """
    from shuffledp.release.pipeline import answered

    return answered("count", data, column, given, rng)
