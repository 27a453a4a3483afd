"""One report's law: what the accountant needs to know of a local randomizer, and how it runs.

randomizer      the interface: ``Atoms`` (a needle in a haystack, by classes) and ``Randomizer``
family          what each family declares in its own file, and the registry of them all
strength        the parameter that calibration solves for
parameters      the rules that several randomizers share
written_law     a randomizer as JSON, by its family, with the integers that it runs on
reporting       what tables, engines and networks ask of a law that runs
votes           how a randomizer of categories runs, and how its reports are counted
support         finite randomizers that favor the outputs supporting the input
mixing          those of them that one coin realizes
krr             k-ary and binary randomized response
hadamard        Hadamard response
local_hash      local hashing: OLH, BLH, any range
subset          subset selection
bit_law         one bit of a report: how often it is set
unary           unary encoding: RAPPOR, OUE, any p and q
location        a number in [0, 1] plus noise
scaled_noise    noise that is a shrunk copy of itself plus other noise
laplace         Laplace noise
gaussian        Gaussian noise
gaussian_delta  what Gaussian noise hides: the one formula
on_grid         a number plus noise, as it runs
matrix          any finite randomizer
finite          a base for one's own
unmixing        how reports of a matrix are counted
any_ldp         any randomizer at all
wrappers        randomizers made of others: check-in, one of several questions, all of several
messages        several messages of each person, or dummies of the shuffler
"""

from __future__ import annotations

from shuffledp.randomizers.any_ldp import AnyDeletionLDP, AnyLDP
from shuffledp.randomizers.finite import FiniteRandomizer
from shuffledp.randomizers.gaussian import Gaussian
from shuffledp.randomizers.hadamard import Hadamard
from shuffledp.randomizers.krr import KRR, RR
from shuffledp.randomizers.laplace import Laplace
from shuffledp.randomizers.local_hash import BLH, OLH, LocalHash
from shuffledp.randomizers.matrix import FromMatrix
from shuffledp.randomizers.messages import ShufflerDummies, SignedUnits, SplitShares, TreeDummies, UserFakes
from shuffledp.randomizers.on_grid import OnGrid
from shuffledp.randomizers.randomizer import Atoms, End, Floats, Randomizer
from shuffledp.randomizers.subset import SubsetSelection
from shuffledp.randomizers.unary import OUE, RAPPOR, Unary
from shuffledp.randomizers.votes import VotingRandomizer
from shuffledp.randomizers.wrappers import AllOf, CheckIn, OneOf

__all__ = [
    "BLH",
    "KRR",
    "OLH",
    "OUE",
    "RAPPOR",
    "RR",
    "AllOf",
    "AnyDeletionLDP",
    "AnyLDP",
    "Atoms",
    "CheckIn",
    "End",
    "FiniteRandomizer",
    "Floats",
    "FromMatrix",
    "Gaussian",
    "Hadamard",
    "Laplace",
    "LocalHash",
    "OnGrid",
    "OneOf",
    "Randomizer",
    "ShufflerDummies",
    "SignedUnits",
    "SplitShares",
    "SubsetSelection",
    "TreeDummies",
    "Unary",
    "UserFakes",
    "VotingRandomizer",
]
