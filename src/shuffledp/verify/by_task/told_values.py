"""How many people hold each value, or one of them, or each cell of a crosstab."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from shuffledp.judge.effort import LISTED
from shuffledp.judge.lattice import Array
from shuffledp.judge.laws import CountedLaw
from shuffledp.judge.rows import Estimated, counted_people
from shuffledp.judge.shares import CountedShares
from shuffledp.record import Designed, Record
from shuffledp.verify.by_task.told_answer import AMONG_FAKES, Measure, Told, places_of
from shuffledp.verify.check_shares import check_shares
from shuffledp.verify.counted_tables import counted_table
from shuffledp.verify.outcomes import Check, holds

__all__ = ["ToldCells", "ToldValue", "ToldValues", "vote_weight"]

ENCODINGS = ("hadamard", "hash", "subset", "oue")


class ToldValues(Told):
    """How many people hold each of the values of a column."""

    same = 1e-9

    def families(self, design: Designed) -> tuple[str, ...]:
        return ("krr", *ENCODINGS, *AMONG_FAKES)

    def size(self, design: Designed, law: CountedLaw) -> int:
        return design.values

    def known_rest(self, design: Designed) -> bool:
        return design.other is None or bool(places_of([str(design.other)], design))

    def measure(self, design: Designed) -> Measure:
        return Measure()

    def of(self, design: Designed) -> int:
        return len(design.listed)

    def labels(self, record: Record) -> list[str]:
        return [str(record.design.listed[place]) for place in _places(record)]

    def cast(self, design: Designed) -> int:
        """How many values votes are listed for."""
        return min(len(design.listed), LISTED)

    def misshapen(self, record: Record, law: CountedLaw) -> Check | None:
        design, labels, votes = record.design, record.estimates.label, record.tally.votes
        of = len(design.listed)
        if not isinstance(design.listed, range) and len(set(design.labels)) < of:
            return holds("labels of the design", f"{of} labels", "fewer that differ", "each is there once", False)
        listed = min(of, LISTED)
        if len(labels) == len(_places(record)) == listed and len(votes) == self.cast(design):
            return None
        claimed = f"{len(labels)} for {len(votes)} votes"
        return holds("labels of the estimates", claimed, f"{listed} distinct ones", "the design", False)

    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        tally = record.tally
        return counted_people(tally.votes, tally.blocks or (), _places(record), tally.reports, law)

    def sway(self, record: Record, law: CountedLaw) -> Array:
        return np.full(len(record.estimates.value), float(vote_weight(law)))


class ToldValue(ToldValues):
    """How many people hold one value."""

    def families(self, design: Designed) -> tuple[str, ...]:
        return ("signed",)

    def known_rest(self, design: Designed) -> bool:
        return design.other is not None and str(design.other) != str(design.value)

    def measure(self, design: Designed) -> Measure:
        return Measure(single=True)

    def cast(self, design: Designed) -> int:
        return design.values

    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        if not isinstance(law, CountedShares):
            return super().estimated(record, law)
        return law.estimated(record.tally.votes, record.tally.reports, 0.0, 1.0)


class ToldCells(ToldValues):
    """How many people hold each combination of the values of several columns."""

    def families(self, design: Designed) -> tuple[str, ...]:
        return ("krr", *AMONG_FAKES)

    def known_rest(self, design: Designed) -> bool:
        rests = design.other if isinstance(design.other, tuple) else ()
        if len(rests) != len(design.columns or ()):
            return False
        return all(rest is None or str(rest) in each for rest, each in zip(rests, design.crossed, strict=True))

    def cast(self, design: Designed) -> int:
        return design.values

    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        sizes = [len(each) for each in record.design.crossed]
        return counted_table(record.tally.votes, sizes, record.tally.reports, law)

    def further(self, record: Record, found: Estimated, law: CountedLaw) -> list[Check]:
        return check_shares(record, law)


def vote_weight(law: CountedLaw) -> Fraction:
    """How far one report moves the count of a value."""
    return 2 / law.hit if law.family == "hadamard" else law.messages / (law.hit - law.miss)


def _places(record: Record) -> list[int]:
    """The categories that are listed: of very many, only the largest are."""
    size = len(record.design.listed)
    return sorted(set(places_of(record.estimates.label, record.design))) if size > LISTED else list(range(size))
