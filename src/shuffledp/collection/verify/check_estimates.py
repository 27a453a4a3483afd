"""The estimates of a record, column by column, against the votes they were made of."""

from __future__ import annotations

from shuffledp.collection.record import WHOLE_VOTES, Record
from shuffledp.collection.verify.by_task import told_by
from shuffledp.collection.verify.counted_law import CountedLaw
from shuffledp.collection.verify.outcomes import Check, holds

__all__ = ["check_estimates"]

SCORE = "score"  # of pages that do not say
WAYS = (SCORE, WHOLE_VOTES)


def check_estimates(record: Record, law: CountedLaw) -> list[Check]:
    """Whatever the task tells, and that limits are made in a way that is known."""
    made = record.estimates.interval
    known = holds("how limits are made", made, f"{SCORE}, or {WHOLE_VOTES}", "the ways there are", made in WAYS)
    return [known, *told_by(record.design).check(record, law)]
