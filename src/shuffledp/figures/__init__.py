"""Figures of curves, bounds, errors and samplers; an answer is drawn by its page. They import
matplotlib, so nothing imports them before it draws.

curve   delta against epsilon, with and without a shuffler
bounds  every published bound on one mechanism, and which sampler for a training
error   privacy against utility
files   a figure that is handed back, its file types, its colors and type sizes
"""

from shuffledp.figures.bounds import comparison_figure, samplers_figure
from shuffledp.figures.curve import POINTS, curve_figure, draw_curve
from shuffledp.figures.error import plan_figure
from shuffledp.figures.files import FIGURE_TYPES, check_figure

__all__ = ["FIGURE_TYPES", "POINTS", "check_figure", "comparison_figure", "curve_figure", "draw_curve", "plan_figure"]
__all__ += ["samplers_figure"]
