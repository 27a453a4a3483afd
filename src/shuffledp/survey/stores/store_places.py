"""The store that a command names."""

from __future__ import annotations

from pathlib import Path

from shuffledp.errors import InvalidInput
from shuffledp.survey.collection import Collection
from shuffledp.survey.stores.postgres import SCHEMES, PostgresStore
from shuffledp.survey.stores.sqlite import SQLiteStore
from shuffledp.survey.stores.store import Store

__all__ = ["open_store"]


def open_store(place: str, collection: Collection) -> Store:
    """The store at ``place``, for reports of ``collection``."""
    if place.startswith(SCHEMES):
        return PostgresStore(place, collection)
    if "://" in place:
        raise InvalidInput(
            f"--store must be a file for SQLite, or postgresql://user@host/name, got {place.partition(':')[0]}://... "
            f"Name one of those."
        )
    return SQLiteStore(Path(place), collection)
