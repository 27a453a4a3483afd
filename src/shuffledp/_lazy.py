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


def lazy(
    module: str, homes: Mapping[str, str], *others: str
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a module; ``homes`` says for modules of
    shuffledp which names come from each, and ``others`` are there already. One that is called like
    its only name is meant itself. A module that is no public name is loaded as well.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    own, public = vars(sys.modules[module]), sorted([*home_of, *others])

    def load(name: str) -> Any:
        if name in home_of:
            home = import_module(f"shuffledp.{home_of[name]}")
            own[name] = home if homes[home_of[name]] == home_of[name].rpartition(".")[2] else getattr(home, name)
            return own[name]
        from difflib import get_close_matches
        from importlib.util import find_spec

        if not name.startswith("_") and find_spec(inside := f"{module}.{name}"):
            return import_module(inside)

        hint = "".join(f". Did you mean {close!r}?" for close in get_close_matches(name, public, n=1))
        raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")

    return public, load, lambda: public
