"""Needle + hay -> delta(eps), with both ends: the one functional behind every guarantee here
(theory, sections 2 and 3).
"""

from shuffledp.accounting.haystack.binary import BinaryDataset, BinaryScan
from shuffledp.accounting.haystack.description import Haystack
from shuffledp.accounting.haystack.family import HaystackFamily

__all__ = ["BinaryDataset", "BinaryScan", "Haystack", "HaystackFamily"]
