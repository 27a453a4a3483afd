"""The same answers in ball arithmetic (Arb, by python-flint: the extra ``arb``), where every number
carries a radius that holds all rounding, and everything left out is bounded by theorem.

ball           numbers with a radius, and how they become floats again
line           E(G_1 + ... + G_n)_+ by a contour integral, at a cost that does not grow with n
few_views      the same by adding up views, where there are few
needle         delta of a needle in a haystack
report_laws    the laws of reports, from their parameters
two_values     binary randomized response on every dataset
swapped_clone  the first-clone swap, for every composition of the others
clone_laws     which clone is swapped, and what kinds of users there are

>>> from shuffledp.literature.exact.balls.ball import ends, precision
>>> with precision(160):
...     (blanket,) = kinds_of({"randomizer": "krr", "k": 16, "epsilon0": 4.0}).blankets
...     low, high = ends(blanket.delta(10_000, 0.36))
>>> 1.07649e-6 < low <= high < 1.07650e-6
True
"""

from shuffledp.literature.exact.balls.clone_laws import swaps_of
from shuffledp.literature.exact.balls.needle import Needle
from shuffledp.literature.exact.balls.report_laws import Kinds, kinds_of, kinds_of_table
from shuffledp.literature.exact.balls.swapped_clone import Slot, SwappedClone
from shuffledp.literature.exact.balls.two_values import TwoValues

__all__ = ["Kinds", "Needle", "Slot", "SwappedClone", "TwoValues", "kinds_of", "kinds_of_table", "swaps_of"]
