"""The door to ``collection.engines``: ``from shuffledp.engines import spark``. An engine is loaded
when it is asked for, and not before.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shuffledp.collection.engines import batch, beam, spark

__all__ = ["batch", "beam", "spark"]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"shuffledp.engines has no {name!r}; there are {', '.join(__all__)}")
    return import_module(f"shuffledp.collection.engines.{name}")
