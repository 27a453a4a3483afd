"""What is promised to whom, and which answers count: the part of a question that needs no table."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from shuffledp.errors import Argument, InvalidInput, Refusal, Words
from shuffledp.protocols.tasks import ENCODINGS, TASKS, QuantileTask

__all__ = [
    "BY_NOISE",
    "Bins",
    "Categories",
    "Hiding",
    "Promise",
    "check_labels",
    "check_words",
    "given_bins",
    "given_categories",
    "listed",
    "name_of",
    "read_categories",
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

    def task(self) -> QuantileTask:
        """The question, if it can be asked."""
        return QuantileTask(self.cuts, self.at, self.ranges).checked()


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
        from shuffledp.protocols.binning import cut_points  # and NumPy, which no help needs

        cuts = cut_points(lower, upper, bins=bins, scale="linear" if scale is None else scale)  # type: ignore[arg-type]
    made = Bins(cuts=tuple(cuts), at=tuple(at), ranges=tuple(ranges))
    made.task()
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
        """The promise to ``n`` people, as a protocol takes it; with ``gamma``, a report names one
        of ``size`` values, or one of the k + 1 points of a grid.
        """
        honest = max(1, floor(n * self.honest)) if isinstance(self.honest, Fraction) else self.honest
        terms = {"n": n, "honest": honest, "epsilon": self.epsilon, "delta": self.delta, "rounds": self.rounds}
        if self.k is not None:
            terms["k"], size = self.k, self.k + 1
        if self.gamma is not None and size is not None:
            from shuffledp.randomizers import KRR  # and NumPy, which no help needs

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
        known = TASKS[self.question].mechanisms
        name, got = Argument("mechanism"), repr(self.mechanism)
        if not known and not self.by_noise:
            remedy = f"It is for a {' or a '.join(name for name, task in TASKS.items() if task.mechanisms)}."
            raise InvalidInput(Refusal((name, f" must be left out of a {self.question}"), got, remedy))
        if known and self.mechanism not in known:
            remedy = "Leave it out for krr, noise in every report, which asks for the least trust."
            raise InvalidInput(Refusal((name, f" of a {self.question} must be one of {', '.join(known)}"), got, remedy))
        own = CHOICES.get(self.mechanism, ())
        for choice in ("slots", "kept", "kind", "light_epsilon0"):
            if choice not in own and (given := getattr(self, choice)) is not None:
                fits = [each for each, choices in CHOICES.items() if choice in choices]
                wanted: tuple[Words, ...] = (Argument("mechanism", fits[0]), *fits[1:])
                fitting = (Argument(choice.replace("_", "-")), " must come with ", listed(wanted, " or "))
                raise InvalidInput(Refusal(fitting, f"{given!r} with {self.mechanism}", "Leave it out."))

    @property
    def by_noise(self) -> bool:
        """Whether nothing but the usual noise hides the answers."""
        return self.mechanism == "krr"

    @property
    def family(self) -> str | None:
        """The family of laws to choose from; None is the usual one of the task."""
        return None if self.by_noise else self.mechanism

    def terms(self) -> dict[str, Any]:
        """The choices, as a protocol takes them."""
        if self.mechanism in ENCODINGS:
            return {"mechanism": self.mechanism}
        names = {"kept": "keep"}
        given = {name: getattr(self, name) for name in CHOICES.get(self.mechanism, ())}
        return {names.get(name, name): value for name, value in given.items() if value is not None}


BY_NOISE = Hiding()


def read_categories(text: str | None, *, domain: int | None, other: str | None, missing: str | None) -> Categories:
    """The categories as the command line gives them: a file with one per line, a list with commas
    or a number.
    """
    _check_given(other, missing, categories=text is not None, domain=domain is not None)
    if domain is not None:
        from shuffledp.protocols.categories import check_size

        return Categories(
            tuple(map(str, range(check_size("domain", domain)))),
            f"the whole numbers from 0 to {domain - 1}",
            other,
            missing,
        )
    assert text is not None
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


def given_categories(labels: list[str], *, other: str | None, missing: str | None) -> Categories:
    """The categories as a list gives them, letter by letter."""
    _check_given(other, missing, categories=True, domain=False)
    for label in labels:
        check_words("a category", label)
    return Categories(_distinct(labels, "the list"), "a list", other, missing)


def _check_given(other: str | None, missing: str | None, *, categories: bool, domain: bool) -> None:
    """Refuse categories that are given in no way or in several, and names that no page can show."""
    given = [Argument(name) for name, there in (("categories", categories), ("domain", domain)) if there]
    if len(given) != 1:
        file, names = Argument("categories", "FILE"), Argument("categories", ("yes", "no"))
        remedy = ("Add ", file, " (one per line) or ", names, "; `shuffledp look FILE` prints a list to copy.")
        raise InvalidInput(Refusal("the categories must be given in one way", listed(given) or "none", remedy))
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
    from shuffledp.protocols.categories import check_size

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
