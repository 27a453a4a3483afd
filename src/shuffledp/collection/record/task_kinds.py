"""Tasks by kind: what a release of each has in its record."""

from __future__ import annotations

__all__ = ["CATEGORIES", "COUNTS", "CROSSTABS", "DISTRIBUTIONS", "KNOWN", "MEANS", "TOP"]

COUNTS = ("histogram", "frequency", "crosstab", "count")  # the tasks that count people
MEANS = ("mean", "sum")  # and the others
CATEGORIES, CROSSTABS = ("histogram", "crosstab"), ("crosstab",)  # those with categories, and with several columns
TOP = ("top",)  # the search for frequent words, which counts people too
DISTRIBUTIONS = ("quantile",)  # those that count people below cut points
KNOWN = (*COUNTS, *MEANS, *TOP, *DISTRIBUTIONS)
