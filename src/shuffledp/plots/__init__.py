"""Figures. matplotlib is imported only when something is drawn.

curve       delta against epsilon, with and without a shuffler
comparison  every published bound on one mechanism
plan        privacy against utility
estimates   a release's estimates with error bars
figures     which files they can be
words       what they show, in a line
style       colours and type sizes
"""

from shuffledp.plots.comparison import comparison_figure
from shuffledp.plots.curve import POINTS, curve_figure
from shuffledp.plots.estimates import estimates_figure
from shuffledp.plots.figures import FIGURE_TYPES, check_figure
from shuffledp.plots.plan import plan_figure
from shuffledp.plots.words import describe, parts, rounded

__all__ = [
    "FIGURE_TYPES",
    "POINTS",
    "check_figure",
    "comparison_figure",
    "curve_figure",
    "describe",
    "estimates_figure",
    "parts",
    "plan_figure",
    "rounded",
]
