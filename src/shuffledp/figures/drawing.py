"""A figure that is handed back and not written: a notebook shows it by itself."""

from __future__ import annotations

import io
import warnings
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from shuffledp.figures.style import STYLE

__all__ = ["Drawing"]


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
