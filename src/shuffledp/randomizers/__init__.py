"""One report's law: what the accountant needs to know of a local randomizer, and how it runs.

randomizer      the interface: ``Atoms`` (a needle in a haystack, by classes) and ``Randomizer``
names           what randomizers are asked for by, and what they take; loads no NumPy
family          what each family declares in its own file, and the registry of them all
parameters      the rules that several randomizers share
law_file        a randomizer as JSON, by its family, with the integers that it runs on
support         randomizers that favor outputs supporting the input: how they run and are counted
krr             k-ary and binary randomized response
hadamard        Hadamard response
local_hash      local hashing: OLH, BLH, any range
subset          subset selection
unary           unary encoding: RAPPOR, OUE, any p and q
location        a number in [0, 1] plus noise, as it runs on a grid
laplace         Laplace noise
gaussian        Gaussian noise
gaussian_delta  what Gaussian noise hides: the one formula
matrix          any finite randomizer, a base for one's own, and how its reports are counted
any_ldp         any randomizer at all
wrappers        randomizers made of others: check-in, one of several questions, all of several
messages        several messages of each person, or dummies of the shuffler
"""

from __future__ import annotations

from shuffledp._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from shuffledp.randomizers.any_ldp import AnyDeletionLDP, AnyLDP
    from shuffledp.randomizers.gaussian import Gaussian
    from shuffledp.randomizers.hadamard import Hadamard
    from shuffledp.randomizers.krr import KRR, RR
    from shuffledp.randomizers.laplace import Laplace
    from shuffledp.randomizers.local_hash import BLH, OLH, LocalHash
    from shuffledp.randomizers.location import OnGrid
    from shuffledp.randomizers.matrix import FiniteRandomizer, FromMatrix
    from shuffledp.randomizers.messages import ShufflerDummies, SignedUnits, SplitShares, TreeDummies, UserFakes
    from shuffledp.randomizers.randomizer import Atoms, End, Floats, Randomizer
    from shuffledp.randomizers.subset import SubsetSelection
    from shuffledp.randomizers.support import VotingRandomizer
    from shuffledp.randomizers.unary import OUE, RAPPOR, Unary
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

__getattr__, __dir__ = lazy(
    __name__,
    {
        "randomizers.any_ldp": "AnyDeletionLDP AnyLDP",
        "randomizers.gaussian": "Gaussian",
        "randomizers.hadamard": "Hadamard",
        "randomizers.krr": "KRR RR",
        "randomizers.laplace": "Laplace",
        "randomizers.local_hash": "BLH OLH LocalHash",
        "randomizers.location": "OnGrid",
        "randomizers.matrix": "FiniteRandomizer FromMatrix",
        "randomizers.messages": "ShufflerDummies SignedUnits SplitShares TreeDummies UserFakes",
        "randomizers.randomizer": "Atoms End Floats Randomizer",
        "randomizers.subset": "SubsetSelection",
        "randomizers.support": "VotingRandomizer",
        "randomizers.unary": "OUE RAPPOR Unary",
        "randomizers.wrappers": "AllOf CheckIn OneOf",
    },
)
