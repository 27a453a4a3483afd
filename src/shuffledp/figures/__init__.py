"""Figures. matplotlib is imported only when something is drawn.

curve       delta against epsilon, with and without a shuffler
comparison  every published bound on one mechanism
plan        privacy against utility
estimates   a release's estimates with error bars
drawing     a figure that is handed back, and that a notebook shows
figures     which files they can be
words       what they show, in a line
style       colours and type sizes
"""

from shuffledp.figures.bounds import comparison_figure
from shuffledp.figures.curve import POINTS, curve_figure
from shuffledp.figures.estimates import draw_estimates, draw_release, estimates_figure
from shuffledp.figures.figures import FIGURE_TYPES, check_figure
from shuffledp.figures.utility import plan_figure
from shuffledp.figures.words import describe, parts

__all__ = [
    "FIGURE_TYPES",
    "POINTS",
    "check_figure",
    "comparison_figure",
    "curve_figure",
    "describe",
    "draw_estimates",
    "draw_release",
    "estimates_figure",
    "parts",
    "plan_figure",
]
