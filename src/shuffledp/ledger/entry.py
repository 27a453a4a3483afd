"""What is to be released, as plain data that a later reader can certify again."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from shuffledp import schema
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.rounds import Rounds
from shuffledp.accounting.shuffled import Shuffled, shuffle, shuffled_parts
from shuffledp.errors import InvalidInput, Refusal, check_count, check_delta, check_positive, check_rounds, check_users
from shuffledp.ledger.total import AtMost, added
from shuffledp.randomizers.law_file import law_of, randomizer_of
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.schema import NEEDED, File, Number, Some, Text, Texts, part
from shuffledp.storage.canonical import canonical

LONGEST = 500  # characters of a name or of a description
SERIES = "series"  # stands in no entry but those of a series
REMEDY = "Take it from what shuffledp wrote."
ENTRY = File("an entry", REMEDY)
Key = TypeVar("Key")
Kept = TypeVar("Kept")


@part
class Part(schema.Part):
    """One mechanism: ``honest`` of ``n`` users report ``rounds`` times, by this law (``law_of``),
    to an adversary who sees shuffled reports. What ran shows as much, or ``at_most`` as much, as a
    search does; no lower end follows from that.
    """

    law: Any
    n: Some
    honest: Some
    rounds: Some
    at_most: bool = False

    @classmethod
    def of(cls, mechanism: Shuffled, rounds: int, *, at_most: bool = False) -> Part:
        """A mechanism of an accountant."""
        law = _law_kept(mechanism)
        return cls(law=law, n=mechanism.n, honest=mechanism.honest, rounds=rounds, at_most=at_most)


@part
class Turn(schema.Part):
    """A place in the series ``name`` of so many ``weeks``: one of its weeks, or, without a
    ``week``, the payment for all of them in advance.
    """

    name: Text
    weeks: Some
    week: Annotated[Some | None, NEEDED] = None

    def __post_init__(self) -> None:
        check_count("weeks", self.weeks, least=2, remedy="A series has at least two.")
        if self.week is not None and check_count("week", self.week, least=1, remedy=REMEDY) > self.weeks:
            rule = f"week must be at most the {self.weeks} that series {self.name!r} has"
            raise InvalidInput(Refusal(rule, str(self.week), REMEDY))
        object.__setattr__(self, "name", unicodedata.normalize("NFC", check_text("series", self.name)))
        object.__setattr__(self, "order", None)

    def __str__(self) -> str:
        if self.week is None:
            return f"{self.weeks} weeks of series {self.name}"
        return f"week {self.week} of {self.weeks} of series {self.name}"


@part
class Entry(schema.Part):
    """A release: its mechanisms, what it is, the digest of its design, and the (epsilon, delta)
    that it promises by itself.

    ``batches`` names the calls of ``encode`` whose reports it holds, where they were made apart: no
    report may be in two different releases. ``series`` says that this pays for a series, or is a
    week of one, which costs nothing more.
    """

    parts: tuple[Part, ...]
    what: Text
    design: Text
    epsilon: Number
    delta: Number
    batches: Annotated[Texts, NEEDED] = ()
    series: Turn | None = None

    def __post_init__(self) -> None:
        if not self.parts:
            remedy = "A release that uses no reports needs no budget."
            raise InvalidInput(Refusal("an entry must have at least one part", "none", remedy))
        if not all(re.fullmatch("[0-9a-f]{32}", str(batch)) for batch in self.batches):
            raise InvalidInput(Refusal("batches must be names of 32 digits 0-9 and a-f", repr(self.batches), REMEDY))
        checked: dict[str, Any] = {
            "parts": tuple(_checked(part) for part in self.parts),
            "what": check_text("what", self.what),
            "design": check_digest("design", self.design),
            "epsilon": check_positive("epsilon", self.epsilon, remedy="It is what the release promises by itself."),
            "delta": check_delta(self.delta),
            "batches": tuple(sorted(set(self.batches))),
            "order": None,  # which is that of the fields, whoever wrote it
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls,
        guarantee: Guarantee,
        *,
        what: str,
        design: str,
        epsilon: float,
        delta: float,
        batches: tuple[str, ...] = (),
        series: Turn | None = None,
        at_most: bool = False,
    ) -> Entry:
        """The entry of a guarantee from ``shuffle``, ``compose`` or ``Accountant.total``; what runs
        shows ``at_most`` that, or the same.
        """
        if not isinstance(guarantee, (Shuffled, Rounds)):
            rule = "guarantee must come from shuffle(...) or compose(...)"
            raise InvalidInput(Refusal(rule, repr(guarantee), "For an Accountant, pass its total."))
        mechanisms = shuffled_parts(guarantee)
        if others := sorted({each.adversary for each, _ in mechanisms} - {"shuffled"}):
            rule = 'a recorded release must face the adversary "shuffled"'
            raise InvalidInput(Refusal(rule, repr(others[0]), "The others are for comparison with other work."))
        if any(each.view != "reports" for each, _ in mechanisms):
            remedy = 'Record the same with view="reports", which promises less and holds for sums, too.'
            raise InvalidInput(Refusal("a recorded release must be of whole reports", 'the view "sums"', remedy))
        parts = tuple(Part.of(*each, at_most=at_most) for each in mechanisms)
        return cls(parts=parts, what=what, design=design, epsilon=epsilon, delta=delta, batches=batches, series=series)

    @property
    def mechanisms(self) -> tuple[tuple[Shuffled, int], ...]:
        """The parts, ready to be composed."""
        return tuple(
            (mechanism_of(canonical(part.law), part.n, part.honest, part.at_most), part.rounds) for part in self.parts
        )

    @property
    def guarantee(self) -> Guarantee:
        """What is certified about this release by itself."""
        return added(self.mechanisms)

    @classmethod
    def from_json(cls, facts: object) -> Entry:
        """The entry of ``as_json``; every rule is checked again."""
        return cls.read(facts, ENTRY)


def check_text(name: str, value: object) -> str:
    """Return ``value`` as a short line of printable text.

    >>> check_text("population", "app-users")
    'app-users'
    """
    rule, got = "text", repr(value)
    if isinstance(value, str):
        if value.strip() and value == value.strip() and len(value) <= LONGEST and value.isprintable():
            return value
        rule = "text without spaces around it"
        if value.strip() and value == value.strip():
            rule, got = "printable and short", f"{value[:40]!r}{' ...' * (len(value) > 40)}"
    remedy = f"Use a short line of text, such as 'app-users', of at most {LONGEST} printable characters."
    raise InvalidInput(Refusal(f"{name} must be {rule}", got, remedy))


def check_digest(name: str, value: object) -> str:
    """Return ``value`` as a SHA-256 digest in hexadecimal digits."""
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        rule, remedy = (
            "must be a SHA-256 digest of 64 digits 0-9 and a-f",
            "Compute it with hashlib.sha256(...).hexdigest().",
        )
        raise InvalidInput(Refusal(f"{name} {rule}", repr(value), remedy))
    return value


def _checked(part: Part) -> Part:
    users, some = check_users(part.n, part.honest)
    facts: dict[str, Any] = {"law": json.loads(_normal(part.law)), "rounds": check_rounds(part.rounds), "order": None}
    return replace(part, n=users, honest=some, **facts)


# Ten thousand releases have few laws and mechanisms between them; each is kept once, with what was
# solved for it.
_randomizers: dict[str, Randomizer] = {}
_mechanisms: dict[tuple[str, int, int, bool], Shuffled] = {}
MOST_KEPT = 1 << 16


def mechanism_of(law: str, n: int, honest: int, at_most: bool = False) -> Shuffled:
    """The mechanism of a part, its law given as canonical JSON."""
    key = (law, n, honest, at_most)
    if key not in _mechanisms:
        randomizer = _randomizers.get(law) or randomizer_of(json.loads(law))
        made = shuffle(randomizer, n=n, honest=honest)
        _keep(_mechanisms, key, AtMost(randomizer, n, made.adversary, honest) if at_most else made)
    return _mechanisms[key]


def _law_kept(mechanism: Shuffled) -> dict[str, Any]:
    """The law of a mechanism, which is remembered: it need not be built again from what is written
    of it.
    """
    law = law_of(mechanism.randomizer)
    text = canonical(law)
    _keep(_randomizers, text, mechanism.randomizer)
    _keep(_mechanisms, (text, mechanism.n, mechanism.honest, False), mechanism)
    return law


def _normal(given: object) -> str:
    """A law as this version writes it; refused if this version would run another."""
    try:
        law = canonical(given)
    except (TypeError, ValueError):  # what is no JSON is no law
        rule = "the law of a part must be what `law_of` says of a randomizer"
        raise InvalidInput(Refusal(rule, repr(given), REMEDY)) from None
    if law in _randomizers:
        return law
    randomizer = randomizer_of(json.loads(law))
    normal = canonical(law_of(randomizer))
    _keep(_randomizers, normal, randomizer)
    return normal


def _keep(kept: dict[Key, Kept], key: Key, value: Kept) -> None:
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept.setdefault(key, value)
