"""What the ledger said of a release."""

from __future__ import annotations

from shuffledp.record.forms import CHANCE, SIZE, Part, count, needed, or_none, part, text

__all__ = ["LedgerEntry", "Limit", "Total"]


@part
class Limit(Part):
    """What all releases about a population may add up to."""

    epsilon: float = needed(SIZE)
    delta: float = needed(CHANCE)


@part
class Total(Part):
    """Between which ends lies what they add up to."""

    lower: float = needed(SIZE)
    upper: float = needed(SIZE)


@part
class LedgerEntry(Part):
    """What the ledger said when the release was charged; ``record`` is its seal in the chain."""

    population: str = needed(text)
    id: int | None = needed(or_none(count))
    record: str | None = needed(or_none(text))
    releases: int = needed(count)
    limit: Limit = needed(Limit)
    total: Total = needed(Total)
