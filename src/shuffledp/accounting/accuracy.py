"""Every gap, tolerance and numerical limit of the accountant, each with the reason for its size.

Which one moves what: delta of one round, ``DEFAULT_GAP``; epsilon of one round, ``SOLVE_GAP`` and
``CLOSE``; several rounds take no gap, their ends come from ``CURVE_GAP`` and ``pld.grid``.

What may be asked at all (the largest epsilon, the smallest delta, the most users and rounds) is
checked when it arrives and stands beside those checks, in ``shuffledp.errors``. Constants of a
single derivation, such as a count of roundings, stand beside its formula.

A *gap* is how much accuracy is bought: the variance of the smoothing relative to that of the sum
(``haystack.contour``). The two ends of delta = e^(-z^2/2) are about z^2 times the gap apart. Any
gap is valid: a wider one moves the ends apart and is faster, in proportion to its square root.
"""

from __future__ import annotations

# Gaps, from the closest to the widest.

# Single answers: eight digits of delta, which nobody will ask to be more.
DEFAULT_GAP = 3e-9
# The epsilon that meets a delta, and profiles: seven digits, one more than any answer is shown in.
SOLVE_GAP = 1e-7
# The curve of a certificate, whose numbers are stored; the page draws it, and no eye sees less.
DRAWN_GAP = 1e-6
# Binary randomized response scans all datasets finely for gaps up to this one, coarsely beyond.
FINE_GAP = 1e-6
# Laws of many classes are approximations themselves: a closer gap than this would be idle work.
MERGED_GAP = 1e-5
# To show that no much better epsilon exists, which needs fewer digits than finding the best one.
WALL_GAP = 1e-5
# From here on a gap is for curves of many points: integrals are not repeated to come closer.
MANY_POINTS_GAP = 1e-4
# A figure of delta against epsilon: invisible there, and many times faster than single answers.
FIGURE_GAP = 1e-4
# Curves of which privacy loss distributions and Renyi divergences are made.
CURVE_GAP = 2e-4
# Where to look; no answer rests on it.
ROUGH_GAP = 1e-3

# Tolerances.

# How near log delta comes to its target when epsilon is solved for: twice SOLVE_GAP.
CLOSE = 2e-7
# A better epsilon than the answer, closer to it than this share, is not looked for.
WORTH = 9e-4
# Plans meet a target smaller by this share, so that solving for epsilon, to 1e-7, confirms it.
MARGIN = 1e-6
# Relative accuracy of a real unknown such as epsilon0, which is then rounded to the safe side.
DIGITS = 1e-4
# What rounding may do to two ends, or to a closed form, before they are said to contradict.
SLACK = 1e-9

# Limits.

# Losses rarer than this, or larger, count as infinite in a privacy loss distribution.
RAREST_LOSS = 1e-60
FARTHEST_LOSS = 400.0
# Trade-off curves are drawn from the epsilons up to the one that meets this delta.
FARTHEST_DELTA = 1e-9
# Renyi orders beyond look at losses so rare that epsilon0 says the same.
LARGEST_ORDER = 1024.0
# Nobody will find more users than this: where more are needed, calibration says so.
MOST_PLANNED = 10**12

# What takes long, unless told otherwise; a help states these without loading what computes.

# Seconds that a published bound may be expected to take before a comparison leaves it out.
PATIENCE = 0.5
# Runs of an audit on each of its two datasets, and the seconds after which it stops.
RUNS, SECONDS = 100_000, 60.0
