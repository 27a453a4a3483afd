"""Figures. matplotlib is imported only when something is drawn.

curve       delta against epsilon, with and without a shuffler
bounds      every published bound on one mechanism
utility     privacy against utility
sampler_bars  which sampler for a training
estimates   estimates with error bars
distribution_curve  a distribution function with its band
table_map   a crosstab, cell by cell
trend_lines  the same, week after week
drawing     a figure that is handed back, and that a notebook shows
filetypes   which files they can be
style       colors and type sizes
"""

from shuffledp.figures.bounds import comparison_figure
from shuffledp.figures.curve import POINTS, curve_figure, draw_curve
from shuffledp.figures.distribution_curve import DrawnDistribution, draw_distribution
from shuffledp.figures.estimates import ROWS, DrawnEstimates, draw_estimates, estimates_figure, figure_file, one_line
from shuffledp.figures.filetypes import FIGURE_TYPES, check_figure
from shuffledp.figures.sampler_bars import samplers_figure
from shuffledp.figures.table_map import DrawnTable, draw_table, table_figure
from shuffledp.figures.trend_lines import DrawnTrend, draw_trend, trend_lines_figure
from shuffledp.figures.utility import plan_figure

__all__ = [
    "FIGURE_TYPES",
    "POINTS",
    "ROWS",
    "DrawnDistribution",
    "DrawnEstimates",
    "DrawnTable",
    "DrawnTrend",
    "check_figure",
    "comparison_figure",
    "curve_figure",
    "draw_curve",
    "draw_distribution",
    "draw_estimates",
    "draw_table",
    "draw_trend",
    "estimates_figure",
    "figure_file",
    "one_line",
    "plan_figure",
    "samplers_figure",
    "table_figure",
    "trend_lines_figure",
]
