"""A question and its noise, written down: what clients, shuffler and analyst must agree on before
anybody reports.

This is plain data. It knows no accountant, and no randomizer: ``randomizers.law`` says whether a
law's integers are those that this version draws with, and ``protocols.settling`` builds the
protocol again and certifies its promise.

Rules of evolution: a field is never removed and its meaning never changes; a new one has a default
that means what its absence meant. What an older version wrote is read for ever.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self
from typing import Protocol as Structure

from shuffledp.errors import InvalidInput, check_count, check_finite, check_probability
from shuffledp.protocols.tasks import REMEDY, TASKS, Task, task_named
from shuffledp.protocols.tasks.quantile_task import FLAT, LEVELS
from shuffledp.storage.canonical import digest_of
from shuffledp.wording import exactly, short

if TYPE_CHECKING:
    from shuffledp.protocols.protocol import Protocol

__all__ = ["Design", "Law"]

VERSION = 1
COMMON = ("version", "task", "n", "honest", "rounds", "epsilon", "delta", "law")
LARGEST_EPSILON = 700.0
OUT_OF = 1 << 64
CHECK_IN = "check-in"
MOST_NESTED = 32  # as in randomizers.law_file; here nobody counts in a recursion that a file could exhaust


@dataclass(frozen=True)
class Law:
    """How one report is drawn: a family of randomizers, its parameters, and the whole numbers, out
    of 2^64, that decide every draw.

    >>> law = Law("krr", {"k": 2, "epsilon0": 1.0}, (9922187141663961708,))
    >>> law.as_json()
    {'randomizer': 'krr', 'k': 2, 'epsilon0': 1.0, 'integers': ['9922187141663961708']}
    >>> Law.from_json(law.as_json()) == law
    True
    """

    family: str
    parameters: Mapping[str, Any] = field(hash=False)
    integers: tuple[int, ...]

    @classmethod
    def from_json(cls, law: object) -> Self:
        """The law of ``as_json``, if it has that form; whether its integers are right is for
        ``randomizers.law``.
        """
        family = law.get("randomizer") if isinstance(law, Mapping) else None
        if not isinstance(law, Mapping) or not isinstance(family, str):
            raise InvalidInput(
                f"a law's randomizer must be one of those that shuffledp knows, got {family!r}. {REMEDY}"
            )
        written = law.get("integers")
        if not isinstance(written, list) or not written or not all(map(_is_integer, written)):
            raise InvalidInput(
                f"the integers of a law must be whole numbers out of 2^64, as text, got {written!r}. {REMEDY}"
            )
        parameters = {name: value for name, value in law.items() if name not in ("randomizer", "integers")}
        if family == CHECK_IN:
            return cls._checked_in(parameters, tuple(map(int, written)))
        if family == LEVELS:
            return cls._of_levels(parameters, tuple(map(int, written)))
        for name, value in parameters.items():
            kinds = (int, float) if name in ("k", "epsilon0") else (int, float, str)
            if not (type(value) in kinds or (name == "epsilon0" and value is None)):
                raise InvalidInput(f"{name} of a law must be a number as shuffledp writes it, got {value!r}. {REMEDY}")
        if wrong := {"k", "epsilon0"} - set(parameters):
            raise InvalidInput(f"a law must have {' and '.join(sorted(wrong))}, got none. {REMEDY}")
        return cls(family, parameters, tuple(map(int, written)))

    @classmethod
    def _checked_in(cls, parameters: dict[str, Any], integers: tuple[int, ...]) -> Self:
        """The law of a check-in, which has that of its reports inside."""
        nested, inner = 1, parameters.get("of")
        while isinstance(inner, Mapping) and inner.get("randomizer") == CHECK_IN:
            nested, inner = nested + 1, inner.get("of")
        if nested > MOST_NESTED:
            raise InvalidInput(f"a law must hold at most {MOST_NESTED} others in each other, got {nested}. {REMEDY}")
        inside = cls.from_json(parameters.get("of"))
        numbers = [parameters.get(name) for name in ("epsilon0", "probability")]
        if set(parameters) != {"epsilon0", "probability", "of"} or not all(isinstance(each, float) for each in numbers):
            raise InvalidInput(
                f"the law of a check-in must have epsilon0, probability and of, got {', '.join(parameters)}. {REMEDY}"
            )
        return cls(CHECK_IN, parameters | {"of": inside.as_json()}, integers)

    @classmethod
    def _of_levels(cls, parameters: dict[str, Any], integers: tuple[int, ...]) -> Self:
        """The law of one of several levels, which has that of each level inside; none of these has
        others inside.
        """
        questions, weights = parameters.get("questions"), parameters.get("weights")
        sound = set(parameters) == {"epsilon0", "weights", "questions"} and isinstance(parameters["epsilon0"], float)
        lists = isinstance(questions, list) and isinstance(weights, list) and len(questions) == len(weights) > 0
        if not sound or not lists or not all(isinstance(each, float) for each in weights or ()):
            raise InvalidInput(
                f"the law of one of several levels must have epsilon0, weights and questions, got "
                f"{', '.join(parameters)}. {REMEDY}"
            )
        assert questions is not None
        plain = all(isinstance(each, Mapping) and each.get("randomizer") in FLAT for each in questions)
        if not plain:
            raise InvalidInput(f"the levels of a law must be of {', '.join(FLAT)}, got others. {REMEDY}")
        inside = [cls.from_json(each).as_json() for each in questions]
        return cls(LEVELS, parameters | {"questions": inside}, integers)

    @property
    def inside(self) -> Law:
        """The law of the reports that are not blank."""
        return Law.from_json(self.parameters["of"]).inside if self.family == CHECK_IN else self

    def as_json(self) -> dict[str, Any]:
        """Plain data. The integers are text: many readers of JSON round large numbers."""
        return {"randomizer": self.family, **self.parameters, "integers": [str(each) for each in self.integers]}

    @property
    def k(self) -> int:
        """How many values a report can be about."""
        parameters = self.inside.parameters
        return int(parameters["questions"][-1]["k"] if self.inside.family == LEVELS else parameters["k"])

    @property
    def epsilon0(self) -> float:
        """What one report gives away by itself, at most: ``math.inf`` where it is the truth, and
        must be sealed.
        """
        written = self.parameters["epsilon0"]
        return math.inf if written is None else float(written)


class Written(Structure):
    """What a protocol must say of itself to be written down; ``task`` is None where it has no
    design.
    """

    @property
    def task(self) -> Task | None: ...
    @property
    def n(self) -> int: ...
    @property
    def honest(self) -> int | None: ...
    @property
    def rounds(self) -> int: ...
    @property
    def epsilon(self) -> float | None: ...
    @property
    def delta(self) -> float | None: ...
    @property
    def law(self) -> Law: ...


@dataclass(frozen=True)
class Design:
    """What is asked, of how many, with which noise, and what that promises.

    ``n`` people report ``rounds`` times; as long as ``honest`` of them are honest, ``epsilon`` at
    ``delta`` is promised to each for all rounds together (None: nothing is).

    >>> from shuffledp import Histogram
    >>> poll = Histogram(categories=["yes", "no"], n=1000, epsilon=1.0, delta=1e-6)
    >>> again = Design.from_json(Design.of(poll).as_json())
    >>> again == Design.of(poll), str(again.task), again.law.family, again.honest
    (True, 'histogram', 'krr', 1000)
    """

    task: Task
    n: int
    honest: int
    rounds: int
    epsilon: float | None
    delta: float
    law: Law

    @classmethod
    def of(cls, protocol: Written, *, epsilon: float | None = None) -> Self:
        """Write a protocol down, with what it promises, or else with ``epsilon``."""
        task = getattr(protocol, "task", None)
        if task is None:
            kinds = " or ".join(name.capitalize() for name in TASKS)
            raise InvalidInput(f"the protocol must be a {kinds}, got {type(protocol).__name__}. Use one of those.")
        if protocol.delta is None:
            raise InvalidInput(
                "delta must be given to a protocol that is written down, got none. Its certificate says epsilon at "
                "that delta."
            )
        assert protocol.honest is not None
        design = cls(
            task=task.checked(),
            n=protocol.n,
            honest=protocol.honest,
            rounds=protocol.rounds,
            epsilon=epsilon if protocol.epsilon is None else protocol.epsilon,
            delta=protocol.delta,
            law=protocol.law,
        )
        design.check_law()
        vars(design)["protocol"] = protocol  # it stands already: nothing is built or certified twice
        return design

    @classmethod
    def from_json(cls, written: object) -> Self:
        """Read ``as_json``; any other form is refused. It is read, and not yet certified: see
        ``protocols.settling``.
        """
        task = task_named(written.get("task") if isinstance(written, Mapping) else None)
        assert isinstance(written, Mapping)
        if type(written.get("version")) is not int or written["version"] != VERSION:
            raise InvalidInput(
                f"a design must have version {VERSION}, got {written.get('version')!r}. Use the version of shuffledp "
                f"that wrote it."
            )
        if wrong := {*COMMON, *task.field_names()} ^ set(written):
            raise InvalidInput(
                f"the design of a {task.name} must have its own fields, got a difference in "
                f"{', '.join(sorted(map(str, wrong)))}. {REMEDY}"
            )
        n, honest, rounds = (_whole(name, written[name]) for name in ("n", "honest", "rounds"))
        if honest > n:
            raise InvalidInput(f"honest must be at most n = {n} in a design, got {honest}. {REMEDY}")
        design = cls(
            task=task.from_json({name: written[name] for name in task.field_names()}),
            n=n,
            honest=honest,
            rounds=rounds,
            epsilon=_epsilon(written["epsilon"]),
            delta=check_probability("delta", written["delta"], remedy=REMEDY),
            law=Law.from_json(written["law"]),
        )
        design.check_law()
        return design

    def __repr__(self) -> str:
        """In a line: what is asked, of whom, with what noise, and what that promises."""
        promise = (
            "" if self.epsilon is None else f"epsilon = {short(self.epsilon)} at delta = {exactly(self.delta)} by "
        )
        many = f" of {len(self.task.labels):,} values" if self.task.labels else ""
        return (
            f"<Design: {self.task}{many}, {self.n:,} people; {promise}{self.law.family} with epsilon0 = "
            f"{self.law.epsilon0:.4g}>"
        )

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, strings and lists."""
        return {
            "version": VERSION,
            "task": self.task.name,
            "n": self.n,
            "honest": self.honest,
            "rounds": self.rounds,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "law": self.law.as_json(),
            **self.task.as_json(),
        }

    def file_text(self) -> str:
        """The file that clients, shuffler and analyst share, letter by letter."""
        return json.dumps(self.as_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @cached_property
    def digest(self) -> str:
        """What tells designs apart."""
        return digest_of(self.as_json())

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol that it describes: the one that was written down, or, of a design that was
        read, one that is built again.
        """
        from shuffledp.protocols.settling import protocol_of

        return protocol_of(self)

    def check_law(self) -> None:
        """Refuse a law that answers another question."""
        if not self.task.fits(self.law.inside.family, self.law.k) or (self.law.family == CHECK_IN and self.task.bounds):
            raise InvalidInput(
                f"the law of a design must fit its question, got {self.law.as_json()!r} for a {self.task.name}. "
                f"{REMEDY}"
            )


def _is_integer(text: object) -> bool:
    return isinstance(text, str) and re.fullmatch("0|[1-9][0-9]{0,19}", text) is not None and int(text) <= OUT_OF


def _whole(name: str, value: object) -> int:
    if type(value) is not int:
        raise InvalidInput(f"{name} must be a whole number in a design, without a point, got {value!r}. {REMEDY}")
    return check_count(name, value, least=1, remedy=REMEDY)


def _epsilon(value: object) -> float | None:
    """The promise as it was written: 1 and 1.0 are the same promise, and different bytes."""
    if value is None:
        return None
    if not 0.0 <= check_finite("epsilon", value, remedy=REMEDY) <= LARGEST_EPSILON:
        raise InvalidInput(f"epsilon must lie in [0, {LARGEST_EPSILON:g}] in a design, got {value!r}. {REMEDY}")
    assert isinstance(value, (int, float))
    return value
