"""The same answers in ball arithmetic (Arb, by python-flint: the extra ``arb``), where every number
carries a radius that holds all rounding, and everything left out is bounded by theorem.

arithmetic  numbers with a radius; E(G_1 + ... + G_n)_+ by a contour integral
needle      delta of a needle in a haystack, and binary randomized response on every dataset
laws        the laws of reports from their parameters
clones      the first-clone swap, for every composition of the others

>>> from shuffledp.judge.balls.arithmetic import ends, precision
>>> with precision(160):
...     (blanket,) = kinds_of({"randomizer": "krr", "k": 16, "epsilon0": 4.0}).blankets
...     low, high = ends(blanket.delta(10_000, 0.36))
>>> 1.07649e-6 < low <= high < 1.07650e-6
True
"""

from shuffledp.judge.balls.clones import Slot, SwappedClone
from shuffledp.judge.balls.laws import Kinds, kinds_of, kinds_of_table, swaps_of
from shuffledp.judge.balls.needle import Needle, TwoValues

__all__ = ["Kinds", "Needle", "Slot", "SwappedClone", "TwoValues", "kinds_of", "kinds_of_table", "swaps_of"]
