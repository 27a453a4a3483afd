"""From a design to the protocol that it describes, and to what is certified of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.domain import REMEDY
from shuffledp.errors import InvalidInput, check_delta, check_epsilon
from shuffledp.protocols.count import SignedCount
from shuffledp.protocols.crosstab import Crosstab, DummyCrosstab, FakesCrosstab
from shuffledp.protocols.histogram import DummyHistogram, FakesHistogram, Histogram
from shuffledp.protocols.protocol import Protocol
from shuffledp.protocols.quantiles import DummyQuantiles, FakesQuantiles, Quantiles
from shuffledp.protocols.sums import Mean, SplitMean, SplitSum, Sum
from shuffledp.questions.question import Question, lineage
from shuffledp.randomizers.law_file import from_law
from shuffledp.search.level import TopLevel

if TYPE_CHECKING:
    from shuffledp.design import Design

__all__ = ["Certified", "answering", "answering_by", "certify", "protocol_of", "register"]

PROTOCOLS: dict[tuple[str, str | None], type[Protocol]] = {}
Registered = TypeVar("Registered", bound=type[Protocol])


def register(question: str, protocol: Registered, *, families: tuple[str, ...] | None = None) -> Registered:
    """Let designs of the question of this name be answered by ``protocol``; see ``questions``.

    Where ``families`` of laws are named, it answers those of them alone, and the one without names
    answers all others, and promises without a law.
    """
    for family in (None,) if families is None else families:
        if PROTOCOLS.setdefault((question, family), protocol) is not protocol:
            raise InvalidInput(f"a question must have one protocol, got another for {question!r}. Rename your own.")
    return protocol


register("histogram", Histogram)
register("histogram", FakesHistogram, families=("fakes",))
register("histogram", DummyHistogram, families=("dummies",))
register("crosstab", Crosstab)
register("crosstab", FakesCrosstab, families=("fakes",))
register("crosstab", DummyCrosstab, families=("dummies",))
register("mean", Mean)
register("mean", SplitMean, families=("split",))
register("sum", Sum)
register("sum", SplitSum, families=("split",))
register("count", SignedCount)
register("quantile", Quantiles)
register("quantile", FakesQuantiles, families=("fakes",))
register("quantile", DummyQuantiles, families=("dummies", "tree"))
register("top", TopLevel)


def answering(question: Question, family: str | None = None, **terms: Any) -> Protocol:
    """The protocol that answers a question by a family of laws, or by the usual one; ``terms`` are
    what all protocols take, such as n and epsilon.
    """
    own = {name: getattr(question, name) for name in question.field_names()}
    kinds = [(name, of) for of in (family, None) for name in lineage(question.type)]
    make = next((PROTOCOLS[each] for each in kinds if each in PROTOCOLS), None)
    if make is None:
        raise InvalidInput(f"a question must have a protocol that answers it, got {question.type!r}. Register one.")
    return make(**own, **terms)


LAWS = {"UserFakes": "fakes", "ShufflerDummies": "dummies", "TreeDummies": "tree", "SplitShares": "split"}


def answering_by(question: str, mechanism: str | None = None, **terms: Any) -> Protocol:
    """The protocol of a question with these fields and terms, by a mechanism, or by that of the law
    that is given.
    """
    family = mechanism or LAWS.get(type(terms.get("randomizer")).__name__)
    make = PROTOCOLS.get((question, family)) if isinstance(family, str | None) else None  # a list has no hash
    if make is not None:
        return make(**terms)
    named = {} if mechanism is None else {"mechanism": mechanism}
    return PROTOCOLS[question, None](**terms, **named)


def protocol_of(design: Design) -> Protocol:
    """The protocol, with the very randomizer that was written down: hashing and subsets choose a
    size by epsilon0, and that one is in use. Nothing is calibrated.
    """
    terms = {"n": design.n, "honest": design.honest, "rounds": design.rounds, "delta": design.delta}
    return answering(design.resolved, design.mechanism.type, randomizer=from_law(design.mechanism.as_json()), **terms)


@dataclass(frozen=True, eq=False)
class Certified:
    """A design whose promise was found to hold, with the protocol that runs it."""

    design: Design
    protocol: Protocol

    @property
    def guarantee(self) -> Guarantee:
        """What is certified of all rounds, with the fewest honest reports that are promised."""
        return self.protocol.guarantee


def certify(design: Design) -> Certified:
    """Refuse a promise that the noise of a design does not keep. What is computed for that is kept
    by its protocol, and not computed again.
    """
    protocol, delta = design.protocol, check_delta(design.delta)
    certified = Certified(design, protocol)
    if design.epsilon is None:
        return certified
    if not certified.guarantee.delta_at_most(epsilon=check_epsilon(design.epsilon)) <= delta:
        raise InvalidInput(
            f"a design must keep its promise of epsilon = {design.epsilon!r} at delta = {delta!r}, got one whose noise "
            f"does not. {REMEDY}"
        )
    return certified
