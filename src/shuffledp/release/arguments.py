"""The options of a question, read: which table, how its rows are read, what is promised, and whose
budget it takes. Command and Python give the same values here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from inspect import signature
from math import floor, isfinite
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.domain import as_list
from shuffledp.errors import Argument, InvalidInput, Refusal, check_finite, check_path, check_words, joined, shown
from shuffledp.mechanisms import kind_of as mechanism_kind
from shuffledp.questions import kind_of
from shuffledp.release.options import Option
from shuffledp.tables.cleaning import Cleaning, check_encoding
from shuffledp.tables.memory import held_table
from shuffledp.tables.people import check_keep

if TYPE_CHECKING:  # a client that reads a table loads no accountant
    from shuffledp.release.budget import Budget


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
            raise InvalidInput(Refusal(rule, joined(given), remedy) if given else (rule, ". ", remedy))
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


CLEANING = ("strip", "ignore_case", "decimal", "thousands")
CHOICES = {"slots": "slots", "kept": "keep", "kind": "kind", "light_epsilon0": "light_epsilon0"}  # of a mechanism
PROMISE, NOISE = ("epsilon", "delta", "rounds"), ("gamma", "epsilon0", "k")


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
    """The part of a request that says what is read, whose rows, and what the page is called."""
    check_words(Argument("title"), given.get("title"))
    whose, format, encoding = column_name("id", given["ids"]), given["format"], given["encoding"]
    rows = {"ids": whose, "keep": check_keep(given["keep"], whose), "one_row_per_person": given["one_row_per_person"]}
    rows |= {"cleaning": _cleaning(given), "title": given.get("title")}
    if isinstance(data, (str, os.PathLike)):
        known = None if encoding is None else check_encoding(encoding)
        return {"source": check_path("data", data), "format": format, "encoding": known, **rows}
    source = held_table(data)
    for name, value in (("format", format), ("encoding", encoding)):
        if value is not None:
            rule = (Argument(name), " must be left out for values in memory")
            raise InvalidInput(Refusal(rule, f"{value!r} for {source.title}", "It is for files."))
    return {"source": source, **rows}


def _cleaning(given: Mapping[str, Any]) -> Cleaning:
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


def hiding_of(question: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """How reports hide the answers, as a poll takes it: the mechanism, unless it is the usual one,
    and what that leaves to choose.
    """
    known, name = kind_of(question).choices, given["mechanism"]
    if not known:
        return {}
    if name not in known:
        rule = (Argument("mechanism"), f" of a {question} must be one of {', '.join(known)}")
        remedy = f"Leave it out for {known[0]}, noise in every report, which asks for the least trust."
        raise InvalidInput(Refusal(rule, repr(name), remedy))
    chosen = {each: given[each] for each in CHOICES if given.get(each) is not None}
    for each, value in chosen.items():
        fits = [other for other in known if CHOICES[each] in signature(mechanism_kind(other).calibrate).parameters]
        if name not in fits:
            wanted = joined((Argument("mechanism", fits[0]), *fits[1:]), " or ")
            fitting = (Argument(each.replace("_", "-")), " must come with ", *wanted)
            raise InvalidInput(Refusal(fitting, f"{value!r} with {name}", "Leave it out."))
    own = {CHOICES[each]: value for each, value in chosen.items()}
    return own if name == known[0] else {"mechanism": name, **own}


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
    names = ("ledger", "population", "limit_epsilon", "limit_delta")
    if all(given[name] is None for name in names):
        return None
    from shuffledp.release.budget import Budget

    path = None if given["ledger"] is None else Path(check_path("ledger", given["ledger"]))
    return Budget.of(path, *(given[name] for name in names[1:]))
