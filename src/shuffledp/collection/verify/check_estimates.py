"""The estimates of a record, column by column, against the votes they were made of."""

from __future__ import annotations

from shuffledp.collection.record import Record
from shuffledp.collection.verify.by_task import told_by
from shuffledp.collection.verify.counted_law import CountedLaw
from shuffledp.collection.verify.outcomes import Check

__all__ = ["check_estimates"]


def check_estimates(record: Record, law: CountedLaw) -> list[Check]:
    """Whatever the task tells."""
    return told_by(record.design).check(record, law)
