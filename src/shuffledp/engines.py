"""The door to ``collection.engines``: ``from shuffledp.engines import spark``. An engine is loaded
when it is asked for, and not before.
"""

from typing import TYPE_CHECKING

from shuffledp._lazy import lazy

if TYPE_CHECKING:
    from shuffledp.collection.engines import batch, beam, spark

__all__ = ["batch", "beam", "spark"]

__getattr__, __dir__ = lazy(__name__, {f"collection.engines.{each}": each for each in __all__})
