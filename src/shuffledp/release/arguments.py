"""The options of a question, read into its parts: data, columns, categories, bins, what is
promised, how answers are hidden and whose budget it takes. Command and Python give the same values
here.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import date
from fractions import Fraction
from importlib import import_module
from math import floor, isfinite
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shuffledp.domain import as_list, check_size
from shuffledp.errors import Argument, InvalidInput, Refusal, Words, check_finite, shown
from shuffledp.questions import OURS, kind_of
from shuffledp.questions.quantile.cuts import cut_points
from shuffledp.release.options import QUESTIONS, Option, options_of
from shuffledp.tables import Cleaning
from shuffledp.tables.cleaning import check_encoding
from shuffledp.tables.memory import held_table
from shuffledp.tables.people import check_keep
from shuffledp.tables.readers import per_column

if TYPE_CHECKING:
    from shuffledp.questions.quantile.question import QuantileQuestion

if TYPE_CHECKING:  # a client that reads a table loads no accountant
    from shuffledp.release.budget import Budget

__all__ = [
    "BY_NOISE",
    "Bins",
    "Categories",
    "Hiding",
    "Promise",
    "budget_of",
    "categories_of",
    "check_labels",
    "check_words",
    "cleaning_of",
    "column_name",
    "complete",
    "cut_pair",
    "described",
    "finite_numbers",
    "given_bins",
    "given_categories",
    "hiding_of",
    "label_text",
    "listed",
    "name_of",
    "numbered_categories",
    "parts_of",
    "path_text",
    "promise_of",
    "read_categories",
    "reading",
]

LONGEST, SHOWN = 500, 60
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, and bytes that were no text


@dataclass(frozen=True, slots=True)
class Categories:
    """The answers that count, and how they became known."""

    labels: tuple[str, ...]
    origin: str
    other: str | None = None
    missing: str | None = None

    def of(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """``labels`` and those that stand for the rest, which are counted like all others."""
        more = [label for label in (self.other, self.missing) if label is not None]
        return (*labels, *(label for label in dict.fromkeys(more) if label not in set(labels)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """Cut points, the quantiles that are asked for, and ranges between cut points."""

    cuts: tuple[float, ...]
    at: tuple[float, ...] = (0.5,)
    ranges: tuple[tuple[float, float], ...] = ()

    def question(self) -> QuantileQuestion:
        """The question, if it can be asked."""
        from shuffledp.questions.quantile.question import QuantileQuestion

        return QuantileQuestion(cuts=self.cuts, at=self.at, ranges=self.ranges).checked()


def given_bins(
    *,
    lower: float | None,
    upper: float | None,
    bins: int | None,
    scale: str | None,
    cuts: Sequence[float] | None,
    at: Sequence[float],
    ranges: Sequence[tuple[float, float]],
) -> Bins:
    """The bins as options give them: a range and how many, or every cut point."""
    counted = {"lower": lower, "upper": upper, "bins": bins, "scale": scale}
    given = [Argument(name) for name, value in counted.items() if value is not None]
    if cuts is not None and given:
        largest = "The cut points begin with the smallest possible value and end with the largest."
        raise InvalidInput(Refusal("the bins must be given in one way", listed([Argument("cuts"), *given]), largest))
    if cuts is None and (lower is None or upper is None):
        both, every = (Argument("lower"), " and ", Argument("upper")), Argument("cuts", (0, 1000, 2000, 5000))
        remedy = ("Add ", both, ", known without the data, or list all cut points: ", every, ".")
        raise InvalidInput(Refusal("the range must be given", "none", remedy))
    if cuts is None:
        assert lower is not None
        assert upper is not None

        cuts = cut_points(lower, upper, bins=bins, scale="linear" if scale is None else scale)  # type: ignore[arg-type]
    made = Bins(cuts=tuple(cuts), at=tuple(at), ranges=tuple(ranges))
    made.question()
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What is to be guaranteed for all rounds together, as long as ``honest`` of the people, or
    that share of them, follow the protocol.

    The noise may be given in place of ``epsilon``: ``epsilon0`` of one report, or the probability
    ``gamma`` that a report is uniformly random; and of a mean or a sum the ``k`` steps of its grid.
    The promise is then what is certified of it.
    """

    epsilon: float | None
    delta: float
    rounds: int = 1
    honest: int | Fraction | None = None
    epsilon0: float | None = None
    gamma: float | None = None
    k: int | None = None

    def __post_init__(self) -> None:
        epsilon, gamma, epsilon0 = ways = Argument("epsilon"), Argument("gamma"), Argument("epsilon0")
        given = [each for each in ways if getattr(self, each.name) is not None]
        if len(given) != 1:
            rule = ("exactly one of ", epsilon, ", ", gamma, " and ", epsilon0, " must be given")
            remedy = (
                *("With ", epsilon, " the noise is chosen; with ", gamma, " or ", epsilon0),
                ", epsilon is computed for that noise.",
            )
            raise InvalidInput(Refusal(rule, listed(given), remedy) if given else (rule, ". ", remedy))
        if self.k is not None and self.epsilon is not None:
            with_noise = (Argument("k"), " must come with ", gamma, " or ", epsilon0)
            raise InvalidInput(Refusal(with_noise, ("it with ", epsilon), "Leave it out."))

    def terms(self, n: int, size: int | None = None) -> dict[str, Any]:
        """The promise to ``n`` people, as a poll takes it; with ``gamma``, a report names one
        of ``size`` values, or one of the k + 1 points of a grid.
        """
        honest = max(1, floor(n * self.honest)) if isinstance(self.honest, Fraction) else self.honest
        terms = {"n": n, "honest": honest, "epsilon": self.epsilon, "delta": self.delta, "rounds": self.rounds}
        if self.k is not None:
            terms["k"], size = self.k, self.k + 1
        if self.gamma is not None and size is not None:
            from shuffledp.randomizers import KRR

            return terms | {"epsilon0": KRR.from_gamma(k=size, gamma=self.gamma).epsilon0}
        return terms if self.epsilon0 is None else terms | {"epsilon0": self.epsilon0}


def listed(words: Sequence[Words], between: str = " and ") -> tuple[Words, ...]:
    """The words with ``between`` between them."""
    return tuple(part for each in words for part in (between, each))[1:]


CHOICES = {"fakes": ("slots", "kind", "light_epsilon0"), "dummies": ("kept", "kind", "light_epsilon0")}


@dataclass(frozen=True, slots=True)
class Hiding:
    """What hides the answers to a question: noise in every report (krr, and the encodings for many
    categories), fakes that people send, or dummies that the shuffler adds; and the choices that
    this leaves, each None for the usual one.
    """

    question: str = "histogram"
    mechanism: str = "krr"
    _: KW_ONLY
    slots: int | None = None
    kept: float | None = None
    kind: str | None = None
    light_epsilon0: float | None = None

    def __post_init__(self) -> None:
        if not self.by_noise:
            self._check_mechanism()
        own = CHOICES.get(self.mechanism, ())
        for choice in ("slots", "kept", "kind", "light_epsilon0"):
            if choice not in own and (given := getattr(self, choice)) is not None:
                fits = [each for each, choices in CHOICES.items() if choice in choices]
                wanted: tuple[Words, ...] = (Argument("mechanism", fits[0]), *fits[1:])
                fitting = (Argument(choice.replace("_", "-")), " must come with ", listed(wanted, " or "))
                raise InvalidInput(Refusal(fitting, f"{given!r} with {self.mechanism}", "Leave it out."))

    def _check_mechanism(self) -> None:
        """Refuse what does not answer the question."""
        known = kind_of(self.question).choices
        name, got = Argument("mechanism"), repr(self.mechanism)
        if not known:
            remedy = f"It is for a {' or a '.join(each for each in OURS if kind_of(each).choices)}."
            raise InvalidInput(Refusal((name, f" must be left out of a {self.question}"), got, remedy))
        if self.mechanism not in known:
            remedy = "Leave it out for krr, noise in every report, which asks for the least trust."
            raise InvalidInput(Refusal((name, f" of a {self.question} must be one of {', '.join(known)}"), got, remedy))

    @property
    def by_noise(self) -> bool:
        """Whether nothing but the usual noise hides the answers."""
        return self.mechanism == "krr"

    def terms(self) -> dict[str, Any]:
        """The mechanism and its choices, as a poll takes them."""
        names = {"kept": "keep"}
        given = {name: getattr(self, name) for name in CHOICES.get(self.mechanism, ())}
        own = {names.get(name, name): value for name, value in given.items() if value is not None}
        return own if self.by_noise else {"mechanism": self.mechanism, **own}


BY_NOISE = Hiding()


def read_categories(text: str, *, other: str | None, missing: str | None) -> Categories:
    """The categories in a file with one per line, or in a text with commas."""
    check_rest(other, missing)
    path = Path(text)
    if "," in text and not os.path.exists(text):  # not Path.exists, which fails on a long list
        return Categories(_distinct([part.strip() for part in text.split(",")], "the list"), "a list", other, missing)
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{text!r} must be a text file in UTF-8, got other bytes. Save it as UTF-8, one category per line."
        ) from None
    except OSError as error:
        near = (
            difflib.get_close_matches(path.name, [each.name for each in path.parent.iterdir() if each.is_file()], n=1)
            if path.parent.is_dir()
            else []
        )
        hint = f" Did you mean {near[0]!r}?" if near else ""
        rule = " must name a file with one category per line, or list them with commas"
        remedy = f"{hint.lstrip()} A single category is nothing to choose from.".lstrip()
        got = f"{text!r}: {error.strerror}"
        raise InvalidInput(Refusal((Argument("categories"), rule), got, remedy)) from None
    return Categories(_distinct([line.strip() for line in lines], text), name_of(path), other, missing)


def numbered_categories(size: int, *, other: str | None, missing: str | None) -> Categories:
    """The whole numbers below ``size``."""

    check_rest(other, missing)
    labels = tuple(map(str, range(check_size("domain", size))))
    return Categories(labels, f"the whole numbers from 0 to {size - 1}", other, missing)


def given_categories(labels: list[str], *, other: str | None, missing: str | None) -> Categories:
    """The categories as a list gives them, letter by letter."""
    check_rest(other, missing)
    for label in labels:
        check_words("a category", label)
    return Categories(_distinct(labels, "the list"), "a list", other, missing)


def check_rest(other: str | None, missing: str | None) -> None:
    """Refuse names that no page can show."""
    check_words(Argument("other"), other)
    check_words(Argument("missing"), missing)


def name_of(path: Path) -> str:
    """The name of a file as text; it may hold bytes that are none."""
    return os.fsencode(path.name).decode(errors="replace")


def check_words(name: Words, text: object) -> None:
    """Refuse words of the user that a page cannot show."""
    if text is None:
        return
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST or UNPRINTABLE.search(text):
        rule = (name, f" must be one line of 1 to {LONGEST} printable characters")
        raise InvalidInput(Refusal(rule, _shown(text), "Choose other words, or leave it out."))


def check_labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse fewer than two categories, and those that no page can show."""

    check_size("categories", len(labels))
    if len(labels) < 2:
        remedy = ("List all answers that count, or add one for the rest: ", Argument("other"), ".")
        raise InvalidInput(Refusal("categories must number at least two", str(len(labels)), remedy))
    if max(map(len, labels)) > LONGEST or UNPRINTABLE.search("".join(labels)):
        wrong = next(label for label in labels if len(label) > LONGEST or UNPRINTABLE.search(label))
        raise InvalidInput(
            f"a category must be one line of at most {LONGEST} printable characters, got {_shown(wrong)}. Rename it, "
            f"in the data too."
        )
    return labels


def _shown(text: object) -> str:
    if not isinstance(text, str):
        return repr(text)
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")


def _distinct(labels: list[str], where: str) -> tuple[str, ...]:
    """The labels that are not empty, each once."""
    kept = [label for label in labels if label]
    if len(set(kept)) < len(kept):
        twice = next(label for place, label in enumerate(kept) if label in set(kept[:place]))
        raise InvalidInput(f"categories must be distinct, got {twice!r} twice in {where}. Remove one.")
    return tuple(kept)


LARGEST_LABEL = 10**18  # of whole numbers as categories
CLEANING = ("strip", "ignore_case", "decimal", "thousands")
PROMISE, NOISE = ("epsilon", "delta", "rounds"), ("gamma", "epsilon0", "k")
HIDING = ("mechanism", "slots", "kept", "kind", "light_epsilon0")


def described(name: str, data: object, column: object, given: Mapping[str, Any]) -> tuple[Any, Promise, Budget | None]:
    """The question of that name, what is promised, and whose budget it takes."""
    known = complete(options_of(QUESTIONS[name]), given)
    build = getattr(import_module("shuffledp"), name).question
    return build(reading(data, known), column, known), promise_of(known), budget_of(known)


def complete(options: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, checked by its type, with the defaults of what was not."""
    for name, option in options.items():
        if option.required and name not in given:
            example = (" Add, for example, ", Argument(option.argument.name, option.example), ".")
            raise InvalidInput(option.argument, " is missing. ", *option.words, *example)
    usual = {name: option.default for name, option in options.items()}
    return usual | {name: _checked(options[name], value) for name, value in given.items()}


def _checked(option: Option, value: Any) -> Any:
    """A switch or a number that is one; of the rest more is known where it is used."""
    if option.kind == "switch":  # a text such as "no" would pass for True
        if not isinstance(value, (bool, np.bool_)):
            remedy = "Leave it out for False."
            raise InvalidInput(Refusal((option.argument, " must be True or False"), shown(value), remedy))
        return bool(value)
    if option.kind != "number" or (isinstance(value, float) and isfinite(value)) or (value is None and option.optional):
        return value
    return check_finite(option.argument, value, remedy=option.words)


def reading(data: object, given: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a question that says what is read, and whose rows."""
    whose, format, encoding = column_name("id", given["ids"]), given["format"], given["encoding"]
    rows = {"ids": whose, "keep": check_keep(given["keep"], whose), "one_row_per_person": given["one_row_per_person"]}
    rows["cleaning"] = cleaning_of(given)
    if isinstance(data, (str, os.PathLike)):
        known = None if encoding is None else check_encoding(encoding)
        return {"source": path_text("data", data), "format": format, "encoding": known, **rows}
    source = held_table(data)
    for name, value in (("format", format), ("encoding", encoding)):
        if value is not None:
            rule = (Argument(name), " must be left out for values in memory")
            raise InvalidInput(Refusal(rule, f"{value!r} for {source.title}", "It is for files."))
    return {"source": source, **rows}


def cleaning_of(given: Mapping[str, Any]) -> Cleaning:
    """What is forgiven in a column."""
    na = given["na"]
    listed = [na] if isinstance(na, str) else as_list("na", na, remedy='Pass a list such as ["NA", "?"].')
    if wrong := [word for word in listed if not isinstance(word, str)]:
        raise InvalidInput(
            Refusal((Argument("na"), " must list texts"), repr(wrong[0]), "None and NaN are missing anyway.")
        )
    return Cleaning(na=tuple(map(str, listed)), **{name: given[name] for name in CLEANING if name in given})


def column_name(argument: str, given: object) -> str | None:
    """The name of a column; pandas also numbers them."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Integral):
        return str(given)
    raise InvalidInput(Refusal((Argument(argument), " must be the name of a column"), repr(given), "Pass a string."))


def categories_of(given: object, *, other: object, missing: object) -> Categories:
    """The categories as they are given: a list, a number, a file, or a text with commas."""
    rest = {name: None if each is None else label_text(each) for name, each in (("other", other), ("missing", missing))}
    if given is None:
        file, names = Argument("categories", "FILE"), Argument("categories", ("yes", "no"))
        remedy = ("Add ", file, " (one per line) or ", names, "; `shuffledp look FILE` prints a list to copy.")
        raise InvalidInput(Refusal("the categories must be given", "none", remedy))
    if isinstance(given, (str, os.PathLike)):
        return read_categories(path_text("categories", given), **rest)
    if isinstance(given, Integral):
        return numbered_categories(int(given), **rest)
    listed = as_list("categories", given, remedy='Pass a list such as ["yes", "no"].')
    return given_categories([label_text(label) for label in listed], **rest)


def parts_of(columns: Sequence[str], given: object, *, other: object, missing: object) -> tuple[Categories, ...]:
    """The same for each column of a crosstab: in their order, or, as texts, COLUMN=LIST."""
    remedy = 'Pass a list with the categories of each column, such as [["north", "south"], ["yes", "no"]].'
    known = as_list("categories", () if given is None else given, remedy=remedy)
    if all(isinstance(each, str) for each in known):
        known = _by_column(columns, [str(each) for each in known])
    if len(known) != len(columns):
        rule = (Argument("categories"), f" must have an entry for each of the columns {', '.join(columns)}")
        first = "The column of the groups comes first if only by names it."
        raise InvalidInput(Refusal(rule, str(len(known)), first))
    rests, gaps = per_column(Argument("other"), other, columns), per_column(Argument("missing"), missing, columns)
    return tuple(
        categories_of(listed, other=rest, missing=gap) for listed, rest, gap in zip(known, rests, gaps, strict=True)
    )


def _by_column(columns: Sequence[str], given: Sequence[str]) -> list[Any]:
    """Texts in the order of the columns, where they may begin with the name of one."""
    texts = dict[str, str]()
    for text in given:
        name, sign, listed = text.partition("=")
        free = [column for column in columns if column not in texts]
        if sign and name in columns and not Path(text).exists():
            if name in texts:
                rule = "the categories of a column must be given once"
                raise InvalidInput(Refusal(rule, f"{name!r} again", "Leave one out."))
            texts[name] = listed
        elif free:
            texts[free[0]] = text
        else:
            rules = (Argument("categories"), f" must be given once for each of the {len(columns)} columns")
            raise InvalidInput(Refusal(rules, str(len(given)), "Leave out what is too many."))
    if without := [name for name in columns if name not in texts]:
        once = ("Repeat ", Argument("categories"), " once for each column, in their order; ")
        remedy = (*once, "`shuffledp look FILE --column NAME` prints a list to copy.")
        raise InvalidInput(Refusal(f"the categories of column {without[0]!r} must be given", "none", remedy))
    return [texts[name] for name in columns]


def label_text(label: Any) -> str:
    """A category as the text that values are compared by."""
    plain = label.item() if isinstance(label, np.generic) else label
    plain = plain.as_py() if isinstance(plain, pa.Scalar) else plain
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, str) or (isinstance(plain, int) and abs(plain) < LARGEST_LABEL):
        return str(plain)
    if type(plain) is date:
        return plain.isoformat()
    given = "a larger one" if isinstance(plain, int) else repr(label)
    rule = "a category must be text, a whole number of at most 18 digits, a boolean or a date"
    raise InvalidInput(
        Refusal(rule, given, ("Write it as text; missing values are counted with ", Argument("missing", "NAME"), "."))
    )


def finite_numbers(name: str, given: object) -> list[float]:
    """A list of numbers."""
    each: Words = ("each of ", Argument(name))
    listed = as_list(Argument(name), given, remedy="Pass a list of numbers.")
    return [check_finite(each, value, remedy="Pass a list of numbers.") for value in listed]


def cut_pair(given: object) -> tuple[float, float]:
    """From which cut point to below which."""
    pair = finite_numbers("range", given)
    if len(pair) != 2:
        raise InvalidInput(Refusal("a range must be two cut points", repr(given), "Pass pairs such as (18, 65)."))
    return pair[0], pair[1]


def path_text(argument: str, given: object) -> str:
    """The path of a file, as text."""
    if not isinstance(given, (str, os.PathLike)) or "\0" in (path := os.fsdecode(given)):
        seen = repr(given) if isinstance(given, os.PathLike) else shown(given)
        rule = (Argument(argument), " must be the path of a file")
        raise InvalidInput(Refusal(rule, seen, "Pass a text or a pathlib.Path."))
    return path


def hiding_of(question: str, given: Mapping[str, Any]) -> Hiding:
    """How answers are hidden."""
    return Hiding(question, **{name: given[name] for name in HIDING if name in given})


def promise_of(given: Mapping[str, Any]) -> Promise:
    """What is promised, or the noise where that may be given instead. A share of the people is
    meant as it is written: 0.9 is nine tenths.
    """
    honest = given["honest"]
    if isinstance(honest, float) and 0.0 < honest <= 1.0:
        honest = Fraction(repr(float(honest)))
    names = (*PROMISE, *NOISE) if "gamma" in given else PROMISE  # the k of top is another one
    return Promise(honest=honest, **{name: given[name] for name in names if name in given})


def budget_of(given: Mapping[str, Any]) -> Budget | None:
    """Whose budget it takes, if there is a ledger."""
    from shuffledp.release.budget import Budget

    path = None if given["ledger"] is None else Path(path_text("ledger", given["ledger"]))
    return Budget.of(path, *(given[name] for name in ("population", "limit_epsilon", "limit_delta")))
