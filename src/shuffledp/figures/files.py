"""Figures as files: one that is handed back and not written, which a notebook shows by itself, the
file types there are, and the colors and type sizes of all figures. Darkness alone tells the colors
apart, so that they survive a gray print.
"""

from __future__ import annotations

import io
import os
import warnings
from functools import partial
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shuffledp.errors import InvalidInput, Refusal
from shuffledp.storage.files import check_file, replace_file

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
        remedy = f"Rename it, for example to {str(better)!r}."
        raise InvalidInput(Refusal("a figure must end in .png, .svg or .pdf", repr(str(path)), remedy))
    return check_file(path)


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure, whole or not at all, and return the file's path."""
    path = check_figure(path)
    with mpl.rc_context(STYLE):
        replace_file(path, partial(figure.savefig, format=path.suffix[1:].lower(), dpi=200))
    return path


def unframed(axes: Axes, side: Literal["both", "x", "y"] = "both") -> None:
    """Pale lines beneath the curves, and two sides without a frame."""
    axes.grid(visible=True, axis=side, which="major", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


DARK, BLUE, PALE, GREY = "#16324f", "#2f6db3", "#6aa8e8", "0.35"
STYLE: dict[Any, float] = {"font.size": 9.0, "axes.titlesize": 10.0, "pdf.fonttype": 42}


class Drawing(Figure):
    """A matplotlib figure that pyplot knows nothing of, so that none is shown twice or kept.

    It looks the same wherever it is drawn: whoever draws it has left our style by then.
    """

    def draw(self, renderer: Any) -> None:
        unknown = "Glyph|Matplotlib currently does not support"  # a script without a font here is drawn as boxes
        with mpl.rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=unknown)
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        """For notebooks whose kernel has not loaded pyplot, which would see to it."""
        content = io.BytesIO()
        self.savefig(content, format="png", dpi=110)
        return content.getvalue()
