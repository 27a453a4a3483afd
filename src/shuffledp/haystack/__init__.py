"""Needle + hay -> delta(eps), with both ends: the one functional behind every guarantee here (theory, sections 2 and 3)."""

from shuffledp.haystack.binary import BinaryDataset, BinaryScan
from shuffledp.haystack.contour import DEFAULT_GAP
from shuffledp.haystack.description import Haystack
from shuffledp.haystack.family import HaystackFamily

__all__ = ["DEFAULT_GAP", "BinaryDataset", "BinaryScan", "Haystack", "HaystackFamily"]
