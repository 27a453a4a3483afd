"""What can go wrong, and the checks that say so.

    ShuffledpError
    ├── InvalidInput (also a ValueError)   the request is wrong; the message names rule and remedy
    │   ├── DoesNotApply                   a theorem's condition fails here: it gives no number
    │   ├── Unwritable                     a figure cannot be written (papers.make)
    │   ├── Unreadable                     a file of check-ins cannot be read (papers.cities)
    │   ├── OverLimit                      a release would exceed its budget (ledger.charge)
    │   └── Damaged                        a ledger is not what it was (ledger.schema)
    ├── CertificateError                   an answer failed its own check and is withheld: our bug
    ├── Unnoted                            a release stands, and its ledger could not note that it
    │                                      does (release.budget)
    ├── Refused                            a shuffler refuses a request (survey.wire)
    ├── Unsent                             a report was not acknowledged, and is stored
    │                                      (survey.courier)
    ├── EngineFailed                       an engine could not finish (engines.spark_session)
    └── ReproductionError                  a figure could not be computed (papers.files)

Every message reads: name, rule, the value that broke it, remedy. What names an option of the
command is data, so that a terminal shows the option and Python the argument of the same meaning.
"""

from __future__ import annotations

import copyreg
import json
import math
import os
import re
from dataclasses import asdict, dataclass
from numbers import Integral, Real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

# What may be asked, for every package that reads a promise.
LARGEST_EPSILON = 700.0  # e to the power of more is no float
LEAST_DELTA = 1e-250  # floats end at 1e-308, and the accountant needs room below a delta
MOST_DELTA = 0.1  # a promise that is broken more often is none
LONGEST_SHOWN = 60  # characters of a text that a message repeats
LONGEST_WORDS = 500  # characters of a title, or of a category
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, and bytes that were no text
MOST_USERS = 10**15  # rounding grows with n times 2^-52: beyond, answers would not be certified
MOST_ROUNDS = 10**7  # beyond, rounding would decide what a round adds


KEYWORDS = {"id": "ids", "range": "ranges"}  # options that Python calls by another name


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument in Python, which is an option of the command, with a ``value`` as an example.

    >>> other, names = Argument("other", "elsewhere"), Argument("categories", ("yes", "no"))
    >>> str(other), str(names), str(Argument("ignore-case", True)), str(Argument("id"))
    ('other="elsewhere"', 'categories=["yes", "no"]', 'ignore_case=True', 'ids')
    >>> other.typed, names.typed, Argument("ignore-case", True).typed, Argument("id").typed
    ('--other elsewhere', '--categories yes,no', '--ignore-case', '--id')
    """

    name: str
    value: object = None

    @classmethod
    def of(cls, keyword: str) -> Argument:
        """The one that Python calls so."""
        return cls(next((name for name, each in KEYWORDS.items() if each == keyword), keyword.replace("_", "-")))

    @property
    def typed(self) -> str:
        """As it is typed after a command."""
        if self.value is None or self.value is True:
            return f"--{self.name}"
        listed = self.value if isinstance(self.value, tuple) else (self.value,)
        return f"--{self.name} {','.join(map(str, listed))}"

    def __str__(self) -> str:
        keyword = KEYWORDS.get(self.name, self.name.replace("-", "_"))
        if self.value is None:
            return keyword
        return f"{keyword}={'True' if self.value is True else json.dumps(self.value)}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is refused: the ``rule``, what was ``got`` instead, and the ``remedy``."""

    rule: Words
    got: Words
    remedy: Words


Words = str | Argument | Refusal | tuple["Words", ...]


def spelled(words: Words, *, typed: bool = False) -> str:
    """A sentence for Python, or ``typed``, for the command line.

    >>> refusal = Refusal(
    ...     (Argument("keep"), " must come with ", Argument("id")), "none", "Name it."
    ... )
    >>> print(spelled(refusal, typed=True))
    --keep must come with --id, got none. Name it.
    """
    if isinstance(words, Refusal):
        words = (words.rule, ", got ", words.got, ". ", words.remedy)
    if isinstance(words, tuple):
        return "".join(spelled(each, typed=typed) for each in words)
    return printable(words.typed if typed and isinstance(words, Argument) else str(words))


def printable(text: str) -> str:
    r"""A text of somebody else's, so that a terminal or a log shows it and does not obey it.

    >>> print(printable("São Paulo"), printable("\x1b[2J"), printable("\r\n\u202e"))
    São Paulo \x1b[2J \r\n\u202e
    """
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def packed(words: Words) -> str:
    """Words as one line of JSON, for another process that spells them as its user does.

    >>> unpacked(packed(("Name it: ", Argument("id", 3), ".")))
    ('Name it: ', Argument(name='id', value=3), '.')
    """

    return json.dumps(words, default=asdict)


def unpacked(line: str) -> Words:
    """The words of ``packed``, or the line itself, if it is none of those."""

    def words(each: Any) -> Words:
        if isinstance(each, list):
            return tuple(map(words, each))
        if not isinstance(each, dict):
            return each  # type: ignore[no-any-return]
        parts: Any = {name: words(part) for name, part in each.items()}
        return Refusal(**parts) if "rule" in parts else Argument(**parts)

    try:
        return words(json.loads(line))
    except (ValueError, TypeError):
        return line


class ShuffledpError(Exception):
    """Base class of everything this package raises on purpose. Its arguments are the words of one
    sentence.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Whatever an error is made from, a pickle has its words and attributes."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return spelled(self.args)

    @property
    def typed(self) -> str:
        """The sentence with the options of the command line."""
        return spelled(self.args, typed=True)


class InvalidInput(ShuffledpError, ValueError):
    """A parameter breaks a rule; the message is one sentence with a remedy."""


class DoesNotApply(InvalidInput):
    """A published theorem says nothing here; the message names the condition that fails."""


class CertificateError(ShuffledpError):
    """Two certified ends contradict each other, or a calibrated plan misses its target; no answer
    is better than a wrong one.
    """


def meant(name: object, known: Iterable[str]) -> str:
    """A question to the user who misspelled one of the ``known`` names, if one is close.

    >>> meant("histgram", ("histogram", "mean")), meant("x", ("histogram", "mean"))
    ("Did you mean 'histogram'? ", '')
    """
    from difflib import get_close_matches  # loaded when called

    return "".join(f"Did you mean {close!r}? " for close in get_close_matches(str(name), list(known), n=1))


def shown(value: object) -> str:
    """A short and plain value itself, and of all else what it is: it may be people's data."""
    plain = value is None or isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 10**30)
    if plain or (isinstance(value, (str, bytes)) and len(value) <= LONGEST_SHOWN):
        return repr(value)
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIO' or name == 'ndarray' else 'a'} {name}"


def check_finite(name: Words, value: object, *, remedy: Words) -> float:
    """Return ``value`` as a float, or refuse anything that is not a finite real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidInput(Refusal((name, " must be a number"), repr(value), remedy))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidInput(Refusal((name, " must be finite"), repr(number), remedy))
    return number


def check_positive(name: Words, value: object, *, remedy: Words) -> float:
    """Return ``value`` as a float greater than zero."""
    number = check_finite(name, value, remedy=remedy)
    if number <= 0.0:
        raise InvalidInput(Refusal((name, " must be positive"), repr(number), remedy))
    return number


def check_probability(name: Words, value: object, *, remedy: Words, zero: bool = False, one: bool = False) -> float:
    """Return ``value`` as a float in (0, 1); ``zero`` and ``one`` admit the end points."""
    number = check_finite(name, value, remedy=remedy)
    low = number >= 0.0 if zero else number > 0.0
    high = number <= 1.0 if one else number < 1.0
    if not (low and high):
        interval = f"{'[' if zero else '('}0, 1{']' if one else ')'}"
        raise InvalidInput(Refusal((name, f" must lie in {interval}"), repr(number), remedy))
    return number


def check_count(
    name: Words, value: object, *, least: int, remedy: Words, most: float = math.inf, beyond: Words | None = None
) -> int:
    """Return ``value`` as an int from ``least`` to ``most``; 3.0 counts as an integer, 3.5 does
    not. ``beyond`` is the remedy above ``most``, if it is another one.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidInput(Refusal((name, " must be a whole number"), repr(value), remedy))
    if not isinstance(value, Integral) and not (math.isfinite(value) and float(value).is_integer()):
        raise InvalidInput(Refusal((name, " must be a whole number"), repr(value), remedy))
    count = int(value) if isinstance(value, Integral) else int(float(value))
    if count < least:
        raise InvalidInput(Refusal((name, f" must be at least {least}"), shown(count), remedy))
    if count > most:
        raise InvalidInput(Refusal((name, f" must be at most {most}"), shown(count), beyond or remedy))
    return count


def check_needed(call: Callable[..., object], given: Mapping[str, object]) -> None:
    """Refuse to leave out what a call must be told by name."""
    if missing := [name for name, left_out in _named(call).items() if left_out and name not in given]:
        rule = f"the question must be asked with {' and '.join(missing)}"
        raise InvalidInput(Refusal(rule, "none", f"Give {missing[0]}=..."))


def check_taken(call: Callable[..., object], given: Mapping[str, object], whose: str, *others: str) -> None:
    """Refuse arguments that a call does not take by name; ``others`` may be given beside those."""
    taken = [*others, *_named(call)]
    for name in given:
        if name not in taken and "**" not in taken:
            rule = f"{name} must be left out of {whose}, which does not take it"
            raise InvalidInput(Refusal(rule, shown(given[name]), f"It takes {', '.join(taken)}."))


def _named(call: Callable[..., object]) -> dict[str, bool]:
    """What a call takes by name alone, and whether it must be given; "**" where it takes any."""
    from inspect import signature  # loaded when called

    taken = signature(call).parameters.values()
    named = {each.name: each.default is each.empty for each in taken if each.kind is each.KEYWORD_ONLY}
    return named | dict.fromkeys(("**" for each in taken if each.kind is each.VAR_KEYWORD), False)


def check_text(name: str, value: object, *, remedy: str) -> str:
    """Return ``value``, or refuse what is no text."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, got {shown(value)}. {remedy}")
    return value


def check_words(name: Words, text: object) -> None:
    """Refuse words of the user that a page cannot show."""
    if text is None:
        return
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_WORDS or UNPRINTABLE.search(text):
        rule = (name, f" must be one line of 1 to {LONGEST_WORDS} printable characters")
        raise InvalidInput(Refusal(rule, shortened(text), "Choose other words, or leave it out."))


def shortened(value: object) -> str:
    """What a message repeats of a text, or of anything else."""
    long = isinstance(value, str) and len(value) > LONGEST_SHOWN
    return repr(value[:LONGEST_SHOWN] + "..." if long else value)  # type: ignore[index]


def check_path(argument: str, given: object) -> str:
    """The path of a file, as text."""
    if not isinstance(given, (str, os.PathLike)) or "\0" in (path := os.fsdecode(given)):
        seen = repr(given) if isinstance(given, os.PathLike) else shown(given)
        rule = (Argument(argument), " must be the path of a file")
        raise InvalidInput(Refusal(rule, seen, "Pass a text or a pathlib.Path."))
    return path


def name_of(path: str | os.PathLike[str]) -> str:
    """The name of a file as text; it may hold bytes that are none."""
    return os.fsencode(os.path.basename(path)).decode(errors="replace")


def joined(words: Sequence[Words], between: str = " and ") -> tuple[Words, ...]:
    """The words with ``between`` between them."""
    return tuple(part for each in words for part in (between, each))[1:]


def check_epsilon(value: object) -> float:
    """Return ``value`` as a privacy parameter epsilon >= 0."""
    epsilon = check_finite("epsilon", value, remedy="epsilon is the privacy loss to test, 0 or more.")
    if not 0.0 <= epsilon <= LARGEST_EPSILON:
        raise InvalidInput(
            f"epsilon must lie in [0, {LARGEST_EPSILON:g}], got {epsilon!r}. It is the loss to test; at 0 delta "
            f"is the total variation."
        )
    return epsilon


def check_delta(value: object) -> float:
    """Return ``value`` as a delta in (0, 1)."""
    delta = check_probability("delta", value, remedy="delta is a small probability, such as 1e-6, well below 1/n.")
    if delta < LEAST_DELTA:
        raise InvalidInput(
            f"delta must be at least {LEAST_DELTA:g}, got {delta!r}. Below that, use epsilon0: the local guarantee has "
            f"delta = 0."
        )
    return delta


def check_promised(value: object) -> float:
    """Return ``value`` as the delta of a promise that noise is to be found for."""
    if (delta := check_delta(value)) > MOST_DELTA:
        raise InvalidInput(
            f"delta must be at most {MOST_DELTA:g} for a promise, got {delta!r}. It is the probability that the "
            f"promise is broken: allow a small one, such as 1e-6, well below 1/n."
        )
    return delta


def check_users(n: object, honest: object = None, *, name: Words = "honest") -> tuple[int, int]:
    """Return the number of people and how many of them are honest, by default all; ``name`` is what
    the latter is called.
    """
    beyond = "Answers are not certified beyond that; use a smaller n, which is safe."
    remedy: Words = "n counts the people whose reports are shuffled together."
    people = check_count("n", n, least=1, most=MOST_USERS, remedy=remedy, beyond=beyond)
    if honest is None:
        return people, people
    some = check_count(name, honest, least=1, remedy="The target itself is honest, so it is at least 1.")
    if some > people:
        remedy = "It counts the people, among the n, who follow the protocol."
        raise InvalidInput(Refusal((name, f" must be at most n = {people}"), str(some), remedy))
    return people, some


def check_rounds(value: object) -> int:
    """Return ``value`` as a number of rounds."""
    remedy = "rounds counts how often the same people report."
    beyond = "Nobody reports that often; split the population instead."
    return check_count("rounds", value, least=1, most=MOST_ROUNDS, remedy=remedy, beyond=beyond)
