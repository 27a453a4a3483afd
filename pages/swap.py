"""The table of docs/first-clone-swap.md, from the table that its figure was drawn from; the rest of
that page is written by hand.
"""

from __future__ import annotations

from pathlib import Path

from shuffledp.papers.experiment import read_table
from shuffledp.papers.own_figures import swap_table

__all__ = ["page"]

BEGINNING, END = "<!-- table -->", "<!-- end of table -->"


def page(docs: Path) -> str:
    """The page with the table that belongs between the two marks."""
    before, rest = (docs / "first-clone-swap.md").read_text(encoding="utf-8").split(BEGINNING)
    _, after = rest.split(END)
    _, lines = read_table((docs / "figures" / "swap-by-users.csv").read_text(encoding="utf-8"))
    return f"{before}{BEGINNING}\n{swap_table(lines)}\n{END}{after}"
