"""What a mean and a sum take, on the command line and as ``sdp.mean``."""

from typing import TYPE_CHECKING, Annotated, Any, Required, TypedDict, Unpack

from shuffledp.domain import check_bounds
from shuffledp.errors import Argument, InvalidInput, Words, check_count, joined
from shuffledp.release import options as shared
from shuffledp.release.options import QUESTION, Option, keywords

if TYPE_CHECKING:
    from shuffledp.poll import Poll
    from shuffledp.questions.question import Question
    from shuffledp.release.released import Release
    from shuffledp.release.request import Request
    from shuffledp.sampling import Rng


class Bounded(TypedDict, total=False):
    """Between which bounds."""

    lower: Required[Annotated[float, Option("Smallest possible value, known without the data.", example=0)]]
    upper: Required[Annotated[float, Option("Largest possible value, known without the data.", example=120)]]
    clip: Annotated[bool, Option("Move values outside the range to the nearest bound. If left out, they are refused.")]


class Steps(TypedDict, total=False):
    """How numbers are rounded."""

    k: Annotated[
        int | None, Option("With {gamma} or {epsilon0}: the number of steps that numbers are rounded to.", QUESTION)
    ]


class Options(Bounded, shared.Noise, Steps, shared.Common, shared.Figures, shared.Titled, shared.Reaching, total=False):
    """The mean or the sum of a number."""


def request(rows: dict[str, Any], column: object, given: dict[str, Any]) -> "Request":
    """The mean of a column that the options describe."""
    from shuffledp.questions.mean.question import MeanQuestion

    return requested(MeanQuestion(lower=given["lower"], upper=given["upper"]), rows, column, given)


def requested(question: "Question", rows: dict[str, Any], column: object, given: dict[str, Any]) -> "Request":
    """The mean or the sum of a column."""
    from functools import partial

    from shuffledp.mechanisms.signed_units import check_most_error, check_most_messages
    from shuffledp.release.arguments import column_name
    from shuffledp.release.request import Request

    check_bounds(given["lower"], given["upper"])
    messages, error = given.get("messages"), given["error"]
    if shared.by_noise(given):
        _check_noise(question, given)
    reach: dict[str, Any] = {"messages": check_most_messages(messages), "error": check_most_error(error)}
    return Request(
        question=question,
        column=column_name("column", column),
        clip=given["clip"],
        chooses=partial(_fewest, question, **reach),
        **rows,
    )


def _check_noise(question: "Question", given: dict[str, Any]) -> None:
    """Refuse noise that is not all that Algorithms 2 and 3 of Balle et al. 2019 take."""
    gamma, epsilon0 = Argument("gamma"), Argument("epsilon0")
    if given["k"] is None:
        need = (f"a {question} with ", gamma, " or ", epsilon0, " needs ", Argument("k"))
        steps = ": the steps of the grid that numbers are rounded to. Add it, such as "
        raise InvalidInput(*need, steps, Argument("k", 6), ".")
    remedy = "It counts the steps of the grid that numbers are rounded to."
    check_count(Argument("k"), given["k"], least=1, remedy=remedy)
    if reaching := [Argument(name) for name in ("messages", "error") if given.get(name) is not None]:
        one = " are the noise of a single message, and must come without "
        raise InvalidInput(gamma, " and ", epsilon0, one, joined(reaching), ". Leave one or the other out.")


def _fewest(question: "Question", terms: dict[str, Any], *, messages: int | None, error: float | None) -> "Poll":
    """The one with the fewest messages that reaches the error; without one, that errs least with as
    many messages.
    """
    from shuffledp.planning import reachable
    from shuffledp.poll import Poll

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


@keywords(Options)
def mean(data: object, column: str | None = None, *, rng: "Rng" = None, **given: Unpack[Options]) -> "Release":
    """The mean of a number that people hold, from ``lower`` to ``upper``: bounds that must not come
    from the data.

    Numbers outside are refused, or with ``clip`` moved to the nearest bound; missing ones are left
    out. Everything else is as for ``histogram``.

    Each person sends one message, unless more ``messages`` are allowed, or a standard ``error`` is
    asked for that takes several: those are shares, which say nothing one by one, and the answer is
    as accurate as a curator's. They need more trust: all messages must be sealed to the analyst,
    and one malicious person can move the answer anywhere.

    ``gamma`` or ``epsilon0`` may stand in place of ``epsilon``, as for ``histogram``, with ``k``:
    the steps of the grid that numbers are rounded to (Balle et al. 2019, Algorithms 2 and 3).

    >>> age = mean([30.0, 40.0] * 2000, lower=0, upper=120, epsilon=1.0, delta=1e-6)
    >>> (row,) = age.estimates
    >>> abs(row.estimate - 35.0) < 6 * row.stderr
    True
    """
    from shuffledp.release.pipeline import answered

    return answered("mean", data, column, given, rng)
