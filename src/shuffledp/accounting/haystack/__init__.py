"""Needle + hay -> delta(eps), with both ends: the one functional behind every guarantee here
(theory, sections 2 and 3).

description    what the analyst's view is made of
ramp           E(G_1 + ... + G_n)_+ / n between two ends, whatever the scores are; by one of
contour        a contour integral, at a cost that does not grow with n
counts         adding up every view, where there are few
mesh           adding positions up on a mesh, where scores spread over many orders of magnitude
moduli         a bound on such an integral for slots of several kinds, in any composition
swapped_slots  the first-clone swap: users whose laws are fixed in advance
swap_pairs     the same for all pairs of a table of laws
many_pairs     many pairs of inputs at once
triples        kinds of users beside a target whose report is a number plus noise
location_swap  the first-clone swap for them
powers         contours of sums whose positions are not alike
mixed          k-ary randomized response, every group of users with its own parameter
bits           how often a bit was set: one user's bit on top of everybody else's
bit_scan       the same on explicit datasets, and on all of them
binary         binary randomized response on explicit datasets, and on all of them
"""

from shuffledp.accounting.haystack.binary import BinaryDataset, BinaryScan
from shuffledp.accounting.haystack.bit_scan import BitDataset, BitScan
from shuffledp.accounting.haystack.description import Haystack
from shuffledp.accounting.haystack.many_pairs import HaystackFamily
from shuffledp.accounting.haystack.mixed import MixedBlanket, MixedDataset, Needle
from shuffledp.accounting.haystack.swap_pairs import SwapFamily, swaps_of_pair
from shuffledp.accounting.haystack.swapped_slots import FirstClone, Slots

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
