"""The shares within groups of a crosstab, against the votes they were made of."""

from __future__ import annotations

import numpy as np

from shuffledp.judge.laws import CountedLaw
from shuffledp.record import Record
from shuffledp.verify.counted_tables import SHARES, SharesOfCells
from shuffledp.verify.outcomes import Check, agree, equal, holds

__all__ = ["check_shares"]

WITHIN = 1e-6  # of shares from 0 to 1
HOW = "the votes of cells and groups, as fractions; ends by halving"


def check_shares(record: Record, law: CountedLaw) -> list[Check]:
    """Every column of shares, and of which groups nothing is said; none where nobody asked."""
    claimed, design, by = record.estimates.shares, record.design, record.asked.by
    if by is None or design.columns is None:
        return [] if claimed is None else [holds("shares within groups", "some", "none", "what was asked", False)]
    if claimed is None or by not in design.columns:
        return [holds("shares within groups", by, "of a column of the design", "what was asked", False)]
    axis, sizes = design.columns.index(by), [len(each) for each in design.crossed]
    of = SharesOfCells(record.tally.votes, sizes, axis, record.tally.reports, law)
    found = of.columns(record.estimates.level)
    checks = []
    for name in SHARES:
        said, mine = list(getattr(claimed, name)), found[name]
        silent, mute = ([at for at, each in enumerate(column) if each is None] for column in (said, mine))
        checks.append(equal(f"cells without a share, {name}", (len(said), silent), (len(mine), mute), HOW))
        told = [each for each in said if each is not None]
        checks.append(agree(f"shares, {name}", told, np.array([x for x in mine if x is not None]), HOW, within=WITHIN))
    return checks
