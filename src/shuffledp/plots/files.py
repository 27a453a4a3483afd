"""Where a figure or a table is written: checked beforehand, and in place at once or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from shuffledp.errors import InvalidInput

__all__ = ["FIGURE_TYPES", "check_figure", "check_file", "replace_file"]

FIGURE_TYPES = (".png", ".svg", ".pdf")


def check_figure(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` if a figure can be written there, judging by its ending and its folder.

    >>> check_figure("curve.gif")
    Traceback (most recent call last):
    shuffledp.errors.InvalidInput: a figure must end in .png, .svg or .pdf, got 'curve.gif'. Rename it, for example to 'curve.png'.
    """
    path = Path(path)
    if path.suffix.lower() not in FIGURE_TYPES:
        better = path.with_suffix(".png") if path.name else Path("curve.png")
        raise InvalidInput(f"a figure must end in .png, .svg or .pdf, got {str(path)!r}. Rename it, for example to {str(better)!r}.")
    return check_file(path)


def check_file(path: Path) -> Path:
    """Return ``path`` if a file can stand there."""
    if path.is_dir():
        raise InvalidInput(f"{str(path)!r} must be a file, got a folder. Add a file name, such as {str(path / f'curve{path.suffix}')!r}.")
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{str(path)!r} must be an ordinary file, got a device or pipe. Name a file; what is printed can be redirected.")
    if not path.parent.is_dir():
        raise InvalidInput(f"the folder of {str(path)!r} must exist, got none. Create it first: mkdir -p {path.parent}")
    return path


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary neighbour of ``path``, then put it in place at once: nobody ever sees half a file."""
    path = check_file(path).resolve()  # a link stays a link
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} must be writable, got: {error.strerror or error}. Choose another place, or make room there.") from None
    finally:
        if temporary.exists():
            temporary.unlink()
