"""The store that a command names."""

from __future__ import annotations

from pathlib import Path

from shuffledp.collection.network.collection_file import Collection
from shuffledp.collection.network.stores.interface import Store
from shuffledp.collection.network.stores.postgres_server import SCHEMES
from shuffledp.collection.network.stores.postgres_store import PostgresStore
from shuffledp.collection.network.stores.sqlite_store import SQLiteStore
from shuffledp.errors import InvalidInput

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
