"""What the ledger said of a release."""

from __future__ import annotations

from shuffledp.schema import Chance, Count, Part, Size, Text, part

__all__ = ["LedgerEntry", "Limit", "Total"]


@part
class Limit(Part):
    """What all releases about a population may add up to."""

    epsilon: Size
    delta: Chance


@part
class Total(Part):
    """Between which ends lies what they add up to."""

    lower: Size
    upper: Size


@part
class LedgerEntry(Part):
    """What the ledger said when the release was charged; ``record`` is its seal in the chain."""

    population: Text
    id: Count | None
    record: Text | None
    releases: Count
    limit: Limit
    total: Total
