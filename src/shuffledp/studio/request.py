"""What the page asks: a question, how many people, and either the promise or the noise. Checked
here, and written as the commands that ask the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Self

from shuffledp.design import Design
from shuffledp.domain import ENCODINGS, check_bounds, check_size
from shuffledp.errors import (
    InvalidInput,
    check_count,
    check_delta,
    check_epsilon,
    check_finite,
    check_positive,
    check_rounds,
    check_users,
    check_words,
    shown,
)
from shuffledp.questions import kind_of
from shuffledp.questions.histogram.question import HistogramQuestion
from shuffledp.questions.mean.question import MeanQuestion
from shuffledp.questions.question import Question
from shuffledp.release.arguments import Promise, hiding_of
from shuffledp.release.categories import Categories, given_categories
from shuffledp.release.request import Request
from shuffledp.wording import exactly, quote

ASKED = ("histogram", "mean")  # what the planner plans
GIVEN = ("epsilon", "epsilon0")
LEAST_PROMISED, MOST_PROMISED = 1e-5, 50.0  # epsilons that can be compared with other models
MOST_NAMES = 10_000  # characters of a list of names
# As --randomizer names what a mechanism draws with, where that is another word.
RANDOMIZERS = {"hash": "olh"}


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """``given`` says which of ``epsilon``, the promise, and ``epsilon0``, one report's, is the one
    to start from. ``honest`` is a share in percent. ``names`` are those of the categories, with
    commas, if they have any; else they are 0, ..., ``size`` - 1. Fields that the question does not
    ask for are ignored: requests that mean the same are equal.

    >>> asked = PlanRequest(
    ...     task="histogram", n=10_000, size=16, epsilon=1, delta=1e-6, honest=90
    ... )
    >>> asked.commands()["plan"]
    'shuffledp plan histogram --categories 16 --n 10000 --honest 90% --epsilon 1 --delta 1e-6'
    """

    task: str
    n: int
    delta: float
    size: int = 2
    names: str = ""
    mechanism: str = "krr"
    lower: float = 0.0
    upper: float = 1.0
    rounds: int = 1
    honest: float = 100.0
    given: str = "epsilon"
    epsilon: float = 1.0
    epsilon0: float = 1.0

    @classmethod
    def from_json(cls, asked: object) -> Self:
        """Read what the page sends; a field that it does not know is refused."""
        if not isinstance(asked, Mapping):
            raise InvalidInput(f"a request must be one JSON object, got {type(asked).__name__}. Reload the page.")
        known = {each.name for each in fields(cls)}
        if wrong := {*asked} - known or {"task", "n", "delta"} - {*asked}:
            raise InvalidInput(
                f"a request must have fields that the planner knows, got a difference in {', '.join(sorted(wrong))}. "
                f"Reload the page."
            )
        return cls(**asked)

    def __post_init__(self) -> None:
        _check_one_of("task", self.task, ASKED)
        _check_one_of("mechanism", self.mechanism, ("krr", *ENCODINGS))
        _check_one_of("given", self.given, GIVEN)
        checked: dict[str, Any] = {
            "n": check_users(self.n)[0],
            "delta": check_delta(self.delta),
            "rounds": check_rounds(self.rounds),
            "honest": check_finite("honest", self.honest, remedy="It is a share in percent; 100 means everybody."),
        }
        if not 0.0 < checked["honest"] <= 100.0:
            raise InvalidInput(
                f"honest must lie above 0 % and be at most 100 %, got {self.honest!r}. It is the share of the people "
                f"who follow the protocol."
            )
        if self.of_number and self.given == "epsilon0":
            raise InvalidInput(
                f"a {self.task} must be planned from epsilon, got epsilon0. Its grid is chosen for a promise: give "
                f"epsilon."
            )
        checked |= self._checked_strength()
        if self.of_number:
            checked |= zip(("lower", "upper"), check_bounds(self.lower, self.upper), strict=True)
        else:
            checked |= self._checked_categories()
        asked = {"task", "given", *checked} | (set() if self.of_number else {"mechanism"})
        idle = {each.name: each.default for each in fields(self) if each.name not in asked}
        for name, value in (idle | checked).items():
            object.__setattr__(self, name, value)

    def _checked_strength(self) -> dict[str, Any]:
        if self.given == "epsilon0":
            remedy = "It is what one report gives away by itself."
            return {"epsilon0": check_positive("epsilon0", self.epsilon0, remedy=remedy)}
        epsilon = check_epsilon(self.epsilon)
        if not LEAST_PROMISED <= epsilon <= MOST_PROMISED:
            raise InvalidInput(
                f"epsilon must lie in [{exactly(LEAST_PROMISED)}, {MOST_PROMISED:g}], got {exactly(epsilon)}. A "
                f"smaller one allows no useful report, and a larger one hides nothing."
            )
        return {"epsilon": epsilon}

    def _checked_categories(self) -> dict[str, Any]:
        names: object = self.names
        if not isinstance(names, str) or len(names) > MOST_NAMES:
            raise InvalidInput(
                f"names must be a list with commas, of at most {MOST_NAMES} characters, got {shown(names)}. Leave them "
                f"out to plan with a number of categories."
            )
        if self.names.strip():
            return {"names": self.names.strip(), "size": len(self._labels().labels)}
        size = check_count("categories", self.size, least=2, remedy="With a single one there is nothing to hide.")
        return {"size": check_size("categories", size)}

    def _labels(self) -> Categories:
        """The categories as ``shuffledp stage design --categories`` reads the same list."""
        listed = [part.strip() for part in self.names.split(",")]
        for name in listed:
            check_words("a category", name or None)
            if not name.isprintable():
                raise InvalidInput(f"a category must be printable to be written down, got {shown(name)}. Rename it.")
        known = given_categories([name for name in listed if name])
        if len(known.labels) < 2:
            raise InvalidInput("categories must number at least two, got one name. Separate them with commas.")
        return known

    @property
    def of_number(self) -> bool:
        """Whether it is about a number between two bounds; about categories otherwise."""
        return kind_of(self.task).unit != "people"

    @property
    def share(self) -> Fraction | None:
        """The share of honest people, as a fraction; None if all are."""
        return None if self.honest == 100.0 else Fraction(exactly(self.honest)) / 100

    @property
    def crowd(self) -> int:
        """How many people are relied on to be honest."""
        return int(self.promise.terms(self.n)["honest"] or self.n)

    @property
    def promise(self) -> Promise:
        """What is guaranteed, as ``shuffledp stage design`` takes it."""
        return Promise(epsilon=self.epsilon, delta=self.delta, rounds=self.rounds, honest=self.share)

    @cached_property
    def question(self) -> Question:
        """What is asked, in a few bytes however many categories there are."""
        if self.of_number:
            return MeanQuestion(lower=self.lower, upper=self.upper)
        return HistogramQuestion(categories=self.size)

    @property
    def hiding(self) -> dict[str, Any]:
        """How reports hide the answers."""
        return hiding_of(self.task, {"mechanism": self.mechanism})

    def design(self) -> Design:
        """The design that ``shuffledp stage design`` makes of the same."""
        if self.given != "epsilon":
            raise InvalidInput(
                "a design must promise an epsilon, got epsilon0 alone. Promise the epsilon that is certified for it."
            )
        question = self.question
        if not self.of_number:
            labels = self._labels().labels if self.names else tuple(map(str, range(self.size)))
            question = HistogramQuestion(categories=labels)
        return Request(source="-", question=question, hiding=self.hiding).design(self.n, self.promise)

    def commands(self) -> dict[Literal["design", "plan", "epsilon"], str]:
        """What to type for the same."""
        people = f"--n {self.n}{_unless(1, 'rounds', self.rounds)}{_unless(100.0, 'honest', self.honest, '%')}"
        if self.given == "epsilon0":
            encoded = RANDOMIZERS.get(self.mechanism, self.mechanism)
            noise = f"--randomizer {encoded} --k {self.size} --epsilon0 {exactly(self.epsilon0)}"
            return {"epsilon": f"shuffledp epsilon {noise} {people} --delta {exactly(self.delta)}"}
        promise = f"{people} --epsilon {exactly(self.epsilon)} --delta {exactly(self.delta)}"
        if self.of_number:
            bounds = f"--lower {exactly(self.lower)} --upper {exactly(self.upper)}"
            return {
                "design": f"shuffledp stage design {self.task} {bounds} {promise} --out design.json",
                "plan": f"shuffledp plan {self.task} {promise}",
            }
        listed = quote(",".join(self._labels().labels)) if self.names else ""
        values = f"--categories {listed or f'0..{self.size - 1}'}"
        hidden = _unless("krr", "mechanism", self.mechanism)
        return {
            "design": f"shuffledp stage design {self.task} {values}{hidden} {promise} --out design.json",
            "plan": f"shuffledp plan {self.task} --categories {self.size} {promise}",
        }


def _unless(usual: object, option: str, value: Any, unit: str = "") -> str:
    """An option that says something."""
    words = exactly(value) if isinstance(value, float) else value
    return "" if value == usual else f" --{option} {words}{unit}"


def _check_one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:
        raise InvalidInput(f"{name} must be one of {', '.join(known)}, got {value!r}. Choose one of those.")
