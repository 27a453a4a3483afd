"""Which files a figure can be."""

from __future__ import annotations

import os
from pathlib import Path

from shuffledp.errors import InvalidInput
from shuffledp.storage.files import check_file

__all__ = ["FIGURE_TYPES", "check_figure"]

FIGURE_TYPES = (".png", ".svg", ".pdf")


def check_figure(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` if a figure can be written there, judging by its ending and its folder.

    >>> check_figure("curve.gif")
    Traceback (most recent call last):
    shuffledp.errors.InvalidInput: a figure must end in .png, .svg or .pdf, got 'curve.gif'. Rename
    it, for example to 'curve.png'.
    """
    path = Path(path)
    if path.suffix.lower() not in FIGURE_TYPES:
        better = path.with_suffix(".png") if path.name else Path("curve.png")
        raise InvalidInput(
            f"a figure must end in .png, .svg or .pdf, got {str(path)!r}. Rename it, for example to {str(better)!r}."
        )
    return check_file(path)
