"""Figures. matplotlib is imported only when something is drawn.

curve       delta against epsilon, with and without a shuffler
comparison  every published bound on one mechanism
plan        privacy against utility
files       where they are written
words       what they show, in a line
style       colours and type sizes
"""

from shuffledp.plots.comparison import comparison_figure
from shuffledp.plots.curve import POINTS, curve_figure
from shuffledp.plots.files import FIGURE_TYPES, check_figure, check_file, replace_file
from shuffledp.plots.plan import plan_figure
from shuffledp.plots.words import describe, parts, rounded

__all__ = [
    "FIGURE_TYPES",
    "POINTS",
    "check_figure",
    "check_file",
    "comparison_figure",
    "curve_figure",
    "describe",
    "parts",
    "plan_figure",
    "replace_file",
    "rounded",
]
