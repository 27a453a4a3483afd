"""Bounds of a stranger's, from a Python file."""

from __future__ import annotations

import runpy
from pathlib import Path

from shuffledp.errors import InvalidInput
from shuffledp.literature.bounds import Published

__all__ = ["bounds_in"]


def bounds_in(path: Path) -> list[Published]:
    """Run a file, and return the bounds that it defines: module-level ``Published``, each once."""
    if not path.is_file():
        raise InvalidInput(f"--also must name a Python file, got {str(path)!r}. Check the name.")
    try:
        names = runpy.run_path(str(path))
    except (Exception, SystemExit) as error:  # whatever a stranger's file may raise
        reason = str(error).partition("\n")[0][:200]
        raise InvalidInput(
            f"--also must name a Python file that runs, got {type(error).__name__} in {str(path)!r}: {reason}. "
            f"Try it alone first: python {path}"
        ) from None
    mine = list({id(each): each for each in names.values() if isinstance(each, Published)}.values())
    if not mine:
        raise InvalidInput(
            f"--also must name a file that defines a bound, got none in {str(path)!r}. "
            "Assign a shuffledp.literature.bounds.Published to a name; docs/extending.md has one to copy."
        )
    return mine
