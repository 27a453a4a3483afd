"""One report's law: what the accountant needs to know of a local randomizer.

base      the interface: ``Atoms`` (a needle in a haystack, class by class) and ``Randomizer``
checks    the rules that several randomizers share
support   finite randomizers that favour the outputs supporting the input: krr subset local_hash unary hadamard
location  a number in [0, 1] plus noise: laplace gaussian
matrix    any finite randomizer        any_ldp   any randomizer at all
"""

from __future__ import annotations

from shuffledp.randomizers.any_ldp import AnyLDP
from shuffledp.randomizers.base import Atoms, End, Floats, Randomizer
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.hadamard import Hadamard
from shuffledp.randomizers.krr import KRR, RR
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.local_hash import BLH, OLH, LocalHash
from shuffledp.randomizers.matrix import FromMatrix
from shuffledp.randomizers.subset import SubsetSelection
from shuffledp.randomizers.unary import OUE, RAPPOR, Unary

__all__ = [
    "BLH",
    "KRR",
    "OLH",
    "OUE",
    "RAPPOR",
    "RR",
    "AnyLDP",
    "Atoms",
    "End",
    "Floats",
    "FromMatrix",
    "Gaussian",
    "Hadamard",
    "Laplace",
    "LocalHash",
    "Randomizer",
    "SubsetSelection",
    "Unary",
]
