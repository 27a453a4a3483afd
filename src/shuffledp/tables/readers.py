"""From a domain to what reads a table's columns by it."""

from __future__ import annotations

from shuffledp.domain import Cells, Labels, Missing, Prefixes, Stored, one_name, per_column
from shuffledp.errors import Argument
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning
from shuffledp.tables.spelled import LevelWords
from shuffledp.tables.values import JoinedPlaces, Numbers, Places, Reader

__all__ = ["reader_of"]


def reader_of(
    domain: Stored, *, missing: Missing = None, clip: bool = False, cleaning: Cleaning = AS_WRITTEN
) -> Reader:
    """From what a table holds to the values that have a place in the domain; ``missing`` and
    ``clip`` say what it does not: what missing values count as, and whether numbers outside are
    moved to the nearest bound.
    """
    if isinstance(domain, Labels):
        return _places(domain, one_name(Argument("missing"), missing), cleaning)
    if isinstance(domain, Cells):
        gaps = per_column(Argument("missing"), missing, domain.column_names)
        columns = zip(domain.columns, gaps, strict=True)
        return JoinedPlaces(tuple(_places(column, gap, cleaning) for column, gap in columns))
    if isinstance(domain, Prefixes):
        return LevelWords(domain, cleaning)
    return Numbers(*domain.bounds, clip=clip or domain.clip, cleaning=cleaning)


def _places(labels: Labels, missing: str | None, cleaning: Cleaning) -> Places:
    gap = labels.gap if missing is None else missing
    return Places(labels.names, other=labels.rest, missing=gap, cleaning=cleaning)
