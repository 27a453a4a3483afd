"""A protocol as JSON: what clients, shuffler and analyst must agree on before anybody reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

from numpy.typing import NDArray

from shuffledp.accounting.guarantee import check_delta, check_epsilon
from shuffledp.errors import InvalidInput
from shuffledp.protocols.frequency import Frequency
from shuffledp.protocols.histogram import Histogram
from shuffledp.protocols.protocol import ShuffledProtocol
from shuffledp.protocols.sums import Mean
from shuffledp.randomizers.law import from_law, law_of
from shuffledp.sampling import Source
from shuffledp.storage.canonical import canonical, digest_of

__all__ = ["Design", "Task"]

Task = Literal["histogram", "frequency", "mean"]
VERSION = 1
COMMON = ("version", "task", "n", "least", "rounds", "epsilon", "delta", "law", "learned")
PROMISE = ("n", "least", "rounds", "epsilon", "delta")
OWN = {"histogram": ("categories", "other"), "frequency": ("domain", "method", "other"), "mean": ("lower", "upper")}
REMEDY = "Take a design that `shuffledp design` wrote, unchanged."


@dataclass(frozen=True, eq=False)
class Design:
    """A question and its noise, settled: building it again calibrates nothing, and draws with the
    very same integers.

    >>> poll = Histogram(categories=["yes", "no"], n=1000, epsilon=1.0, delta=1e-6)
    >>> again = Design.from_json(Design.of(poll).as_json())
    >>> again.protocol.randomizer == poll.randomizer, again.task
    (True, 'histogram')
    """

    facts: Mapping[str, Any]

    @classmethod
    def of(cls, protocol: ShuffledProtocol, *, learned: bool = False) -> Design:
        """Write a protocol down; ``learned`` says that its categories came from the data, which no
        certificate covers.
        """
        task = next((task for task, kind in KINDS.items() if type(protocol) is kind), None)
        if task is None:
            raise InvalidInput(
                f"the protocol must be a {' or '.join(kind.__name__ for kind in KINDS.values())}, got "
                f"{type(protocol).__name__}. Use one of those."
            )
        if protocol.delta is None:
            raise InvalidInput(
                "delta must be given to a protocol that is written down, got none. Its certificate says epsilon at "
                "that delta."
            )
        common = {name: getattr(protocol, name) for name in PROMISE}
        own = {name: _plain(name, getattr(protocol, name)) for name in OWN[task]}
        return cls(
            {"version": VERSION, "task": task, **common, "law": law_of(protocol.randomizer), "learned": learned, **own}
        )

    @classmethod
    def from_json(cls, facts: object) -> Design:
        """Read ``as_json``; anything that this version would not run as written is refused."""
        if not isinstance(facts, Mapping) or facts.get("task") not in tuple(OWN):
            raise InvalidInput(f"a design must have a task, one of {', '.join(OWN)}, got none. {REMEDY}")
        if facts.get("version") != VERSION:
            raise InvalidInput(
                f"a design must have version {VERSION}, got {facts.get('version')!r}. Use the version of shuffledp "
                f"that wrote it."
            )
        if wrong := {*COMMON, *OWN[facts["task"]]} ^ set(facts):
            raise InvalidInput(
                f"the design of a {facts['task']} must have its own fields, got a difference in "
                f"{', '.join(sorted(wrong))}. {REMEDY}"
            )
        if not isinstance(facts["learned"], bool):
            raise InvalidInput(f"learned must be true or false in a design, got {facts['learned']!r}. {REMEDY}")
        if facts["epsilon"] is not None:
            check_epsilon(facts["epsilon"])
        design = cls(dict(facts))
        if canonical(
            Design.of(design.protocol, learned=facts["learned"]).as_json() | {"epsilon": facts["epsilon"]}
        ) != canonical(design.as_json()):
            raise InvalidInput(f"a design must be what its own numbers imply, got one that was changed. {REMEDY}")
        design._check_promise()
        return design

    def as_json(self) -> dict[str, Any]:
        """Plain numbers, strings and lists."""
        return dict(self.facts)

    @cached_property
    def digest(self) -> str:
        """What tells designs apart."""
        return digest_of(self.as_json())

    @property
    def task(self) -> Task:
        """What is asked."""
        return cast(Task, self.facts["task"])

    @cached_property
    def protocol(self) -> ShuffledProtocol:
        """The protocol, with the very randomizer that was written down."""
        return self.with_users(self.facts["n"], self.facts["least"])

    def with_users(self, n: int, least: int) -> ShuffledProtocol:
        """The same noise for another number of users."""
        randomizer = from_law(self.facts["law"])
        own = {name: _read(name, self.facts[name]) for name in OWN[self.task]}
        grid = {"k": randomizer.k - 1} if self.task == "mean" else {}
        common = {
            "n": n,
            "least": least,
            "rounds": self.facts["rounds"],
            "delta": self.facts["delta"],
            "epsilon0": randomizer.epsilon0,
        }
        protocol: ShuffledProtocol = KINDS[self.task](**common, **own, **grid)
        if type(protocol.randomizer) is not type(randomizer) or protocol.randomizer.k != randomizer.k:
            raise InvalidInput(f"the law of a design must fit its question, got {self.facts['law']!r}. {REMEDY}")
        protocol._set(
            randomizer=randomizer
        )  # hashing and subsets choose a size by epsilon0, and the one written down is the one in use
        return protocol

    def encode(self, values: NDArray[Any], source: Source) -> NDArray[Any]:
        """Reports for places in the list of categories, or for numbers."""
        if self.task == "mean":
            return self.protocol.encode(values, rng=source).rows
        return self.protocol.randomizer.randomize(values, rng=source)

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories as text; a mean has none."""
        own = self.facts.get("categories", self.facts.get("domain", []))
        return tuple(str(each) for each in (range(own) if isinstance(own, int) else own))

    def _check_promise(self) -> None:
        epsilon, delta = self.facts["epsilon"], check_delta(self.facts["delta"])
        if epsilon is not None and not self.protocol.guarantee.delta_at_most(epsilon=check_epsilon(epsilon)) <= delta:
            raise InvalidInput(
                f"a design must keep its promise of epsilon = {epsilon!r} at delta = {delta!r}, got one whose noise "
                f"does not. {REMEDY}"
            )


KINDS: dict[Task, Any] = {"histogram": Histogram, "frequency": Frequency, "mean": Mean}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, range):
        return len(value)
    if isinstance(value, tuple):
        if not all(type(each) in (str, int) and str(each).isprintable() for each in value):
            raise InvalidInput(
                f"{name} must be printable strings or whole numbers to be written down, got {value!r}. Rename them."
            )
        return list(value)
    return value


def _read(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if name in {"categories", "domain"} and (not isinstance(value, int) or isinstance(value, bool)):
        raise InvalidInput(f"{name} must be a list or a whole number, got {value!r}. {REMEDY}")
    return value
