"""How reports hide the answers to a question, as its options say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from shuffledp.errors import Argument, InvalidInput, Refusal, Words, joined
from shuffledp.questions import OURS, kind_of

__all__ = ["BY_NOISE", "Hiding", "hiding_of"]

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
                fitting = (Argument(choice.replace("_", "-")), " must come with ", joined(wanted, " or "))
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


def hiding_of(question: str, given: Mapping[str, Any]) -> Hiding:
    """The same from the options of a question."""
    names = ("mechanism", "slots", "kept", "kind", "light_epsilon0")
    return Hiding(question, **{name: given[name] for name in names if name in given})
