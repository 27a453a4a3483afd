"""The one file that clients, shuffler and analyst share: what is asked, how a value becomes a
place, how reports hide it, and the target that this meets.

Clients, engines and shufflers read domain and mechanism, and never the question: that is why a
question from another distribution runs everywhere. The question is decoded where something is
computed from it (``resolved``), and must then resolve to the very domain that is stored.

This is plain data. It knows no accountant and no randomizer: ``randomizers.law_file`` says whether
a law's integers are those that this version draws with, and ``poll`` builds the poll again and
certifies its target.
"""

from __future__ import annotations

import json
import math
import re
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from shuffledp.domain import MOST_BINS, NAMING, REMEDY, Stored
from shuffledp.errors import InvalidInput, check_probability
from shuffledp.schema import (
    NEEDED,
    RELEASE,
    Chance,
    Epsilon,
    File,
    Limits,
    Number,
    Open,
    Part,
    Some,
    Text,
    Texts,
    Whole,
    check_format,
    part,
)
from shuffledp.storage.canonical import digest_of
from shuffledp.wording import exactly, in_percent, large_delta, right, short

if TYPE_CHECKING:
    from shuffledp.poll import Poll
    from shuffledp.questions.question import Question

FORMAT: Literal["shuffledp-design"] = "shuffledp-design"
VERSION = 1
SEARCH: Literal["shuffledp-search"] = "shuffledp-search"  # the format of what all levels of a search agree on
DESIGN = File("a design", REMEDY)
OUT_OF = 1 << 64
SPARSE = 40  # people for each cell below which a table is called sparse
CHECK_IN, LEVELS = "check-in", "one of"
MOST_NESTED = 32  # as in randomizers.law_file; here nobody counts in a recursion that a file could exhaust


@part
class Law(Part):
    """How one report is drawn: a family of randomizers, its parameters, and the whole numbers out
    of 2^64 that decide every draw, as text, which readers of JSON do not round. Every family has
    parameters of its own; epsilon0 is null where a report is the truth, which only fakes hide.

    A check-in has the law of its reports inside (``of``), one of several levels the law of each
    (``questions``) and how likely each is (``weights``); any other has ``k`` values.

    >>> law = Law.from_json(
    ...     {"type": "krr", "k": 2, "epsilon0": 1.0, "integers": ["9922187141663961708"]}
    ... )
    >>> law.type, law.values, law.alone
    ('krr', 2, 1.0)
    """

    others = Number | Text

    type: Text
    k: Some | None = None
    epsilon0: Number | None
    integers: Texts
    weights: tuple[Chance, ...] = ()
    questions: Annotated[tuple[Law, ...], Limits(1, MOST_BINS)] | None = None
    of: Law | None = None

    @classmethod
    def read(cls, value: object, file: File = RELEASE, where: str = "") -> Self:
        """The law of ``as_json``, if it has that form; whether its integers are right is for
        ``randomizers.law_file``.
        """
        if where.count(".") > MOST_NESTED:
            raise InvalidInput(f"a law must hold at most {MOST_NESTED} others in each other, got more. {file.remedy}")
        law = super().read(value, file, where)
        if sum(each is not None for each in (law.k, law.questions, law.of)) != 1:
            raise InvalidInput(f"{file.title} must have its usual form, got a difference in '{where}k'. {file.remedy}")
        return law

    @classmethod
    def from_json(cls, law: object) -> Self:
        """What a law writes, checked."""
        return cls.read(law, DESIGN, "mechanism.").checked()

    def checked(self) -> Self:
        """The same, if it could be drawn from: its integers are whole numbers, and levels are of
        the flat kind.
        """
        if not self.integers or not all(map(_is_integer, self.integers)):
            raise InvalidInput(
                f"the integers of a law must be whole numbers out of 2^64, as text, got {str(self.integers)[:80]}. "
                f"{REMEDY}"
            )
        if self.questions is not None:
            flat = all(each.type == NAMING[0] for each in self.questions)
            if self.type != LEVELS or len(self.questions) != len(self.weights) or not flat:
                raise InvalidInput(
                    f"the levels of a law must be of {NAMING[0]}, each with a weight, got others. {REMEDY}"
                )
        if (self.of is not None) != (self.type == CHECK_IN):
            raise InvalidInput(f"a check-in must have a law inside, and no other law, got {self.type!r}. {REMEDY}")
        for each in (*(self.questions or ()), *(() if self.of is None else (self.of,))):
            each.checked()
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """All that its family is told, in the order of the design."""
        return {name: value for name, value in self.as_json().items() if name not in ("type", "integers")}

    @property
    def inside(self) -> Law:
        """The law of the reports that are not blank."""
        return self if self.of is None else self.of.inside

    @property
    def values(self) -> int:
        """How many values a report can be about."""
        law = self.inside
        return (law.questions[-1].k if law.questions else law.k) or 0

    @property
    def alone(self) -> float:
        """What one report gives away by itself, at most: ``math.inf`` where it is the truth, and
        must be sealed.
        """
        return math.inf if self.epsilon0 is None else float(self.epsilon0)

    @property
    def shared(self) -> bool:
        """Whether its noise is that of all honest people together, and no report has its own."""
        return "honest" in self.parameters

    def reveals(self, place: str = "answer") -> str:
        """How much one report shows by itself, to stand beside its epsilon0; ``place`` is what it
        can name. Where it names one, the closed form is more than an upper bound.

        >>> Law(type="krr", k=2, epsilon0=5.1212, integers=()).reveals()
        'a report is the true answer with probability 99.4 %'
        >>> Law(type="dummies", k=2, epsilon0=None, integers=()).reveals()
        "a person's messages contain the true answer"
        """
        epsilon0, k = self.epsilon0, self.values or 1
        truth = "true number, rounded," if place == "number" else f"true {place}"
        if epsilon0 is None or epsilon0 == math.inf:
            if self.shared:
                return f"added up, a person's messages are the {truth} plus their share of the noise"
            return f"a person's messages contain the {truth.rstrip(',')}"
        if self.type == NAMING[0]:
            return f"a report is the {truth} with probability {in_percent(right(epsilon0, k), up=False)}"
        share, before = in_percent(right(epsilon0, k), up=True), f"where all {k:,} {place}s seemed equally likely"
        return f"the best guess from a report is right with probability at most {share}, {before}"


@part
class Target(Part):
    """Who reports, and the privacy that this gives them: ``n`` people ``rounds`` times; as long as
    ``honest`` of them follow the protocol, ``epsilon`` at ``delta`` for all rounds together (null:
    nothing is promised).
    """

    n: Some
    epsilon: Epsilon | None
    delta: Chance
    honest: Some
    rounds: Some

    def checked(self) -> Self:
        """The same, if it can be met."""
        if self.honest > self.n:
            raise InvalidInput(f"honest must be at most n = {self.n} in a design, got {self.honest}. {REMEDY}")
        check_probability("delta", self.delta, remedy=REMEDY)
        return self


@part
class Tagged(Part):
    """A question as a design stores it: its ``type``, and fields that only code which knows that
    type reads.
    """

    others = Open

    type: Text


@part
class Design(Part):
    """What is asked, how a value becomes a place, how reports hide it, and which target that meets.

    >>> from shuffledp import Poll
    >>> poll = Poll("histogram", categories=["yes", "no"], n=1000, epsilon=1.0, delta=1e-6)
    >>> again = Design.from_json(Design.of(poll).as_json())
    >>> again == Design.of(poll), again.question.type, again.mechanism.type, again.honest
    (True, 'histogram', 'krr', 1000)
    """

    format: Annotated[Literal["shuffledp-design"], NEEDED] = FORMAT
    version: Annotated[Whole, NEEDED] = VERSION
    question: Tagged
    domain: Stored
    mechanism: Law
    target: Target

    @classmethod
    def of(cls, poll: Any, *, epsilon: float | None = None) -> Self:
        """Write a poll down, with what it promises, or else with ``epsilon``; a design is that."""
        if isinstance(poll, cls):
            return poll
        if poll.delta is None:
            raise InvalidInput(
                "delta must be given to a poll that is written down, got none. Its certificate says epsilon at that "
                "delta."
            )
        promised = epsilon if poll.epsilon is None else poll.epsilon
        target = Target(n=poll.n, epsilon=promised, delta=poll.delta, honest=poll.honest, rounds=poll.rounds)
        design = cls.asked(poll.question, poll.law, target)
        vars(design)["poll"] = poll  # it stands already: nothing is built or certified twice
        return design

    @classmethod
    def asked(cls, question: Question, law: Law, target: Target) -> Self:
        """The design of a question, with a law that answers it."""
        checked = question.checked()
        if law.inside.type not in question.mechanisms:
            raise InvalidInput(
                f"the randomizer of a {question} must be one of {', '.join(question.mechanisms)} to be written down, "
                f"got {law.inside.type}. Name its mechanism instead."
            )
        domain: Any = checked.domain(law.values)
        stored = Tagged.read(checked.as_json(), DESIGN, "question.")
        return cls(question=stored, domain=domain, mechanism=law, target=target).checked()

    @classmethod
    def from_json(cls, written: object) -> Self:
        """Read ``as_json``; any other form is refused. It is read, and not yet certified: see
        ``poll.certify``.
        """
        return cls.read(check_format(DESIGN.title, written, FORMAT, VERSION, REMEDY), DESIGN).checked()

    def checked(self) -> Self:
        """The same, if a client could report by it: every part of it is sound, and the mechanism is
        about the very places of the domain.
        """
        law = self.mechanism.checked()
        domain = self.domain.checked()
        self.target.checked()
        blanks = law.type == CHECK_IN and not domain.checks_in
        if law.inside.type not in domain.families or law.values != domain.size or blanks:
            raise InvalidInput(
                f"the mechanism of a design must fit its domain of {domain.size} places, got "
                f"{law.as_json()!r:.200}. {REMEDY}"
            )
        return self

    @property
    def n(self) -> int:
        """How many people report."""
        return self.target.n

    @property
    def honest(self) -> int:
        """How many of them are counted on to follow the protocol."""
        return self.target.honest

    @property
    def rounds(self) -> int:
        """How often they report."""
        return self.target.rounds

    @property
    def epsilon(self) -> float | None:
        """The promise as it was written: 1 and 1.0 are the same promise, and different bytes."""
        return self.target.epsilon

    @property
    def delta(self) -> float:
        """At which the promise holds."""
        return self.target.delta

    @property
    def reveals(self) -> str:
        """How much one report shows by itself."""
        return self.mechanism.reveals(self.domain.place)

    def cautions(self, error: float, scale: float) -> list[str]:
        """What a careful colleague would say about a design with that standard error to expect, of
        an answer that is at most as large as ``scale``.
        """
        said = large_delta(self.delta, self.n) + self.sparse(error)
        if error > scale:
            said.append(
                "the noise drowns the answer: the error to expect is larger than anything that could be true; allow a "
                "larger epsilon, or ask more people"
            )
        return said

    def sparse(self, error: float) -> list[str]:
        """What is to be said of several columns with more cells than people fill."""
        size = self.domain.size
        if self.domain.column_names is None or (self.n / size >= SPARSE and self.n / size >= error):
            return []
        return [
            f"the table is sparse: {self.n:,} people in {size:,} cells are about {self.n / size:,.0f} in each, with a "
            f"standard error of about {error:,.0f}; merge rare categories, or leave a column out"
        ]

    def __repr__(self) -> str:
        """In a line: what is asked, of whom, with what noise, and what that promises."""
        promise = (
            "" if self.epsilon is None else f"epsilon = {short(self.epsilon)} at delta = {exactly(self.delta)} by "
        )
        many = f" of {len(self.domain.names):,} values" if self.domain.names else ""
        return (
            f"<Design: {self.question.type}{many}, {self.n:,} people; {promise}{self.mechanism.type} with epsilon0 = "
            f"{self.mechanism.alone:.4g}>"
        )

    def file_text(self) -> str:
        """The file that clients, shuffler and analyst share, letter by letter."""
        return json.dumps(self.as_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @property
    def charge(self) -> tuple[Design, None]:
        """What a ledger records of a release: this design, and nothing besides."""
        return self, None

    @cached_property
    def digest(self) -> str:
        """What tells designs apart."""
        return digest_of(self.as_json())

    @cached_property
    def resolved(self) -> Any:
        """The ``Question``, decoded by the code that knows it: refused unless it is installed,
        answered by this mechanism, and resolves to the stored domain, labels in order.
        """
        from shuffledp.questions.question import resolved

        return resolved(self)

    @cached_property
    def poll(self) -> Poll:
        """The poll that it describes: the one that was written down, or, of a design that was read,
        one that is built again.
        """
        from shuffledp.poll import poll_of

        return poll_of(self)


def _is_integer(text: str) -> bool:
    return re.fullmatch("0|[1-9][0-9]{0,19}", text) is not None and int(text) <= OUT_OF
