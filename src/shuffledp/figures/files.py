"""Figures as files: one that is handed back and not written, which a notebook shows by itself, the
file types there are, and the colors and type sizes of all figures. Darkness alone tells the colors
apart, so that they survive a gray print.
"""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from shuffledp.errors import InvalidInput
from shuffledp.storage.files import check_file

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


DARK, BLUE, PALE, GREY = "#16324f", "#2f6db3", "#6aa8e8", "0.35"
STYLE: dict[Any, float] = {"font.size": 9.0, "axes.titlesize": 10.0, "pdf.fonttype": 42}


class Drawing(Figure):
    """A matplotlib figure that pyplot knows nothing of, so that none is shown twice or kept.

    It looks the same wherever it is drawn: whoever draws it has left our style by then.
    """

    def draw(self, renderer: Any) -> None:
        with mpl.rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message="Glyph|Matplotlib currently does not support"
            )  # a script without a font here is drawn as boxes
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        """For notebooks whose kernel has not loaded pyplot, which would see to it."""
        content = io.BytesIO()
        self.savefig(content, format="png", dpi=110)
        return content.getvalue()
