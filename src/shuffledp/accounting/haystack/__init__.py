"""Needle + hay -> delta(eps) with both ends: behind every guarantee (theory, sections 2 and 3).

description    what the analyst's view is made of, for one pair of inputs or many at once
score_sum      E(G_1 + ... + G_n)_+ / n between two ends, whatever the scores are
contour        a contour integral, at a cost that does not grow with n; all views, where few
moduli         a bound on such an integral for slots of several kinds, in any composition
clone_swap     the first-clone swap: users whose laws are fixed in advance
triples        kinds of users beside a target whose report is a number plus noise
location_swap  the first-clone swap for them
powers         contours of sums whose positions are not alike
mixed          k-ary randomized response, every group of users with its own parameter
bits           how often a bit was set; binary randomized response on explicit datasets
"""

from shuffledp.accounting.haystack.bits import BinaryDataset, BinaryScan, BitDataset, BitScan
from shuffledp.accounting.haystack.clone_swap import FirstClone, Slots, SwapFamily, swaps_of_pair
from shuffledp.accounting.haystack.description import Haystack, HaystackFamily
from shuffledp.accounting.haystack.mixed import MixedBlanket, MixedDataset, Needle

__all__ = [
    "BinaryDataset",
    "BinaryScan",
    "BitDataset",
    "BitScan",
    "FirstClone",
    "Haystack",
    "HaystackFamily",
    "MixedBlanket",
    "MixedDataset",
    "Needle",
    "Slots",
    "SwapFamily",
    "swaps_of_pair",
]
