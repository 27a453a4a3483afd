"""Figures of curves, bounds, errors and samplers; an answer is drawn by its page. matplotlib is
imported only when something is drawn.

curve       delta against epsilon, with and without a shuffler
bounds      every published bound on one mechanism
utility     privacy against utility
sampler_bars  which sampler for a training
drawing     a figure that is handed back, and that a notebook shows
filetypes   which files they can be
style       colors and type sizes
"""

from shuffledp.figures.bounds import comparison_figure
from shuffledp.figures.curve import POINTS, curve_figure, draw_curve
from shuffledp.figures.filetypes import FIGURE_TYPES, check_figure
from shuffledp.figures.sampler_bars import samplers_figure
from shuffledp.figures.utility import plan_figure

__all__ = [
    "FIGURE_TYPES",
    "POINTS",
    "check_figure",
    "comparison_figure",
    "curve_figure",
    "draw_curve",
    "plan_figure",
    "samplers_figure",
]
