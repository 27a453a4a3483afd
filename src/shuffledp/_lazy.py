"""Names that are loaded when they are first asked for: ``--help`` needs none of them, and a client
who reads a design needs no accountant.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # typing is not loaded for it: until the command line is there, nobody answers Ctrl-C
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["lazy"]


def lazy(module: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module; ``homes`` says for modules of shuffledp which
    names come from each. One that is called like its only name is meant itself.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    own = vars(sys.modules[module])

    def load(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = import_module(f"shuffledp.{home_of[name]}")
        own[name] = home if homes[home_of[name]] == home_of[name].rpartition(".")[2] else getattr(home, name)
        return own[name]

    return load, lambda: sorted({*own, *own["__all__"]})
