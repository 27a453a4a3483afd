"""What a recheck is handed beside its record: the law that was read, what the judge says about the
votes, and the lines of a verification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shuffledp.judge.answers import Answers
from shuffledp.judge.effort import LISTED, MOST_STRAY_VOTES, Effort, TooLarge
from shuffledp.judge.lattice import UNIT, Array
from shuffledp.judge.laws import CountedLaw
from shuffledp.judge.oracle import Oracle
from shuffledp.judge.reports import counted
from shuffledp.judge.rows import FEW, Estimated, counts
from shuffledp.questions.table import ESTIMATES, NUMBERS
from shuffledp.record import Record
from shuffledp.verify import outcomes
from shuffledp.verify.outcomes import Check, agree, equal, holds

LEVEL = 0.95
LOOSER = 10.0  # limits may be so many times farther off than estimates: they are found by halving
SAME = 1e-9  # relative
INVERTED = "the test that defines it, inverted by halving"
MOVED = "what one malicious person can move"
COLUMNS = (
    ("estimates", "votes and integers, as fractions"),
    ("standard errors", "the variance of the votes, as fractions"),
    ("limits, each: lower", INVERTED),
    ("limits, each: upper", INVERTED),
    ("limits, all together: lower", INVERTED),
    ("limits, all together: upper", INVERTED),
)
MOVED_TO = ("one_lower", "one_upper", "some_lower", "some_upper")

Part = Callable[[], Sequence[Check]]
Found = Estimated  # which a class that hands it on cannot name


@dataclass(eq=False)
class Judge(Answers):
    """All that a recheck may ask. It says what the record must hold; only ``compared`` and
    ``later`` leave something to be done.
    """

    record: Record
    effort: Effort
    measure: dict[str, Any] | None = None
    last: dict[str, Part] = field(default_factory=dict)

    TAIL = (1.0 - LEVEL) / 2.0
    UNIT, FEW, LISTED, LOOSER, MOST_STRAY_VOTES = UNIT, FEW, LISTED, LOOSER, MOST_STRAY_VOTES
    TooLarge, Estimated = TooLarge, Estimated
    law_of, counts = staticmethod(counted), staticmethod(counts)
    equal, holds, agree = staticmethod(equal), staticmethod(holds), staticmethod(agree)
    unchecked, vital = staticmethod(outcomes.unchecked), staticmethod(outcomes.vital)
    wrong = staticmethod(outcomes.wrong)

    @classmethod
    def of(cls, record: Record, effort: Effort) -> Judge:
        """With the law that the record's design says."""
        tally = record.tally
        return cls(
            counted(record.design.mechanism.as_json()), tally.votes, tally.blocks or (), tally.reports, record, effort
        )

    def answers(self, *families: str) -> Check:
        """Whether one of these families of laws answers the question; the usual one first."""
        family = self.law.family
        return equal("the randomizer", family, family if family in families else families[0], "the question")

    def domain(self, expected: Mapping[str, Any]) -> Check:
        """Whether the stored domain is the one that the question resolves to."""
        stored = self.record.design.domain.as_json()
        differs = next((name for name in stored if stored[name] != expected.get(name)), "none of it")
        return holds("the domain", differs, "none of it", "resolved from the question", stored == expected)

    def complete(self, of: int = 0, *tables: str) -> Check:
        """What a page does not leave to its writer: of so many listed estimates, all votes bound;
        ``tables`` beside the estimates, and no other; names of theorem and assumptions.
        """
        certificate, named = self.record.certificate, [each.name for each in self.record.tables]
        said = [*named, *["ids"] * bool(certificate.theorem_ids or certificate.assumption_ids)]
        said += ["digest"] * (self.record.tally.digest is not None)
        mine, theirs = ", ".join(said), ", ".join([ESTIMATES, *tables, "ids", *["digest"] * (of > LISTED)])
        how = "how many values there are, and whether some were clipped"
        return holds("what a page cannot leave out", mine, theirs, how, mine == theirs)

    def listed(self, categories: int | Sequence[str | int]) -> tuple[list[int], list[str]]:
        """Places and labels of the categories that a page lists: of very many, only the largest."""
        size = categories if isinstance(categories, int) else len(categories)
        places = list(range(min(size, LISTED)))
        if size > LISTED:
            places = sorted(set(places_of(self.record.estimates.label, categories)))
        return places, [str(place if isinstance(categories, int) else categories[place]) for place in places]

    def shaped(self, rows: int, votes: int) -> Check:
        """Whether so many estimates are listed, and so many votes; a stranger may write any."""
        claimed = len(self.record.estimates.label), len(self.record.tally.votes)
        told, due = (f"{each[0]} for {each[1]} votes" for each in (claimed, (rows, votes)))
        return holds("rows of the estimates", told, due, "the design", claimed == (rows, votes))

    def table(
        self,
        labels: Sequence[str],
        found: Found,
        influence: Sequence[float | None],
        *,
        unit: str = "people",
        of: int | None = None,
        together: int | None = None,
        same: float = SAME,
    ) -> list[Check]:
        """Every column of the estimates, ``of`` so many of which these are listed; the limits of
        all hold ``together`` with so many.
        """
        claimed, of = self.record.estimates, len(labels) if of is None else of
        columns = zip(NUMBERS, COLUMNS, expected(found, LEVEL, together or of), strict=True)
        more = [each for each in MOVED_TO if getattr(claimed, each)]
        limited = np.array([] if None in influence else influence, dtype=np.float64)
        how = "the largest less the smallest weight of a report, as fractions; shares without a limit"
        return [
            equal("labels of the estimates", list(claimed.label), list(labels), "the design"),
            equal("how many were estimated", claimed.of, of, "the design"),
            equal("what is estimated", ", ".join([claimed.unit, *more]), unit, "the question"),
            equal("level of the limits", claimed.level, LEVEL, "what shuffledp writes"),
            *(
                agree(what, getattr(claimed, column), right, why, within=within)
                for column, (what, why), (right, within) in columns
            ),
            agree(MOVED, claimed.influence, limited, how, within=same * limited),
        ]

    def beside(self, name: str, labels: Sequence[str], columns: Sequence[str], *, unit: str = "people") -> Check:
        """Whether a table beside the estimates has these rows and these columns, and no other."""
        claimed = self.record.table(name)
        due = [unit, LEVEL, len(labels), *labels, *(f"{each}: {len(labels)}" for each in columns if labels)]
        said: list[object] = []
        if claimed is not None:
            lengths = {each: len(getattr(claimed, each)) for each in (*NUMBERS, *MOVED_TO, "influence")}
            said = [claimed.unit, claimed.level, claimed.of, *claimed.label]
            said += [f"{each}: {many}" for each, many in lengths.items() if many]
        return holds(f"rows and columns of the {name}", said, due, "the question", said == due)

    def compared(self, *, width: float | None = None, bins: int | None = None, among: int = 1) -> None:
        """How an error to expect is measured, for what other kinds of trust cost: ``width`` is that
        of the range of a mean, which is divided ``among`` so many; ``bins`` how many there are,
        where people are counted below cut points.
        """
        self.measure = {"width": width, "bins": bins, "among": among}

    def later(self, part: str, checks: Part) -> None:
        """What needs the oracle: it is run last, and only if nothing is wrong."""
        self.last[part] = checks

    def oracle(self, law: CountedLaw, people: int, rounds: int = 1) -> Oracle:
        """Delta of a law, between two ends."""
        return Oracle(law, people, rounds, effort=self.effort)


def expected(found: Found, level: float, of: int) -> list[tuple[Array, Array]]:
    """Every column, and how close a claim must come: limits of each, and those that hold all at
    once.
    """
    missed, loosely = 1.0 - level, found.within + found.rounding
    limits = [*found.limits(missed / 2.0), *found.limits(missed / (2.0 * of))]
    return [(found.values, found.within), (found.errors, loosely), *((each, LOOSER * loosely) for each in limits)]


def places_of(labels: Sequence[str], categories: int | Sequence[str | int]) -> list[int]:
    """Where these labels stand among the categories; what is none is left out."""
    if isinstance(categories, int):
        short = (label for label in labels if label.isdecimal() and len(label) <= len(str(categories)))
        return [int(label) for label in short if int(label) < categories and str(int(label)) == label]
    known = {str(label): place for place, label in enumerate(categories)}
    return [known[label] for label in labels if label in known]
