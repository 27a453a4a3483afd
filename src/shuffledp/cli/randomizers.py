"""Randomizers as they are typed: how a parameter is read, and a name found."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path

from shuffledp.cli.numbers import read_count, read_number
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.names import NAMES, Named, Parameter

__all__ = ["READERS", "find", "parameters"]


# How each kind of parameter is read, and what the help calls it.
READERS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "count": (read_count, "COUNT"),
    "number": (read_number, "NUMBER"),
    "file": (Path, "FILE"),
}


def parameters() -> dict[str, Parameter]:
    """Every parameter of some randomizer.

    >>> list(parameters())[:3]
    ['k', 'epsilon0', 'gamma']
    """
    return {name: each for kind in NAMES.values() for name, each in kind.parameters.items()}


def find(name: str) -> Named:
    """The randomizer of that name, in its usual spelling.

    >>> find("Local_Hash").name
    'local-hash'
    """
    wanted = name.strip().lower().replace("_", "-")
    if wanted not in NAMES:
        close = get_close_matches(wanted, NAMES, n=1)
        suggestion = f"Did you mean {close[0]}? " if close else ""
        raise InvalidInput(
            f"--randomizer must be a known name, got {name!r}. {suggestion}Known: "
            f"{', '.join(NAMES)}. Others come with --design FILE, from `shuffledp design`."
        )
    return NAMES[wanted]
