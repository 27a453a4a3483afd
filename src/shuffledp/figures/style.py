"""Colours and type sizes of all figures; darkness alone tells the colours apart, so that they
survive a grey print.
"""

from typing import Any

__all__ = ["BLUE", "DARK", "GREY", "PALE", "STYLE"]

DARK, BLUE, PALE, GREY = "#16324f", "#2f6db3", "#6aa8e8", "0.35"
STYLE: dict[Any, float] = {"font.size": 9.0, "axes.titlesize": 10.0, "pdf.fonttype": 42}
