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
    from shuffledp.randomizers.any_ldp import AnyDeletionLDP as AnyDeletionLDP
    from shuffledp.randomizers.any_ldp import AnyLDP as AnyLDP
    from shuffledp.randomizers.gaussian import Gaussian as Gaussian
    from shuffledp.randomizers.hadamard import Hadamard as Hadamard
    from shuffledp.randomizers.krr import KRR as KRR
    from shuffledp.randomizers.krr import RR as RR
    from shuffledp.randomizers.laplace import Laplace as Laplace
    from shuffledp.randomizers.local_hash import BLH as BLH
    from shuffledp.randomizers.local_hash import OLH as OLH
    from shuffledp.randomizers.local_hash import LocalHash as LocalHash
    from shuffledp.randomizers.location import OnGrid as OnGrid
    from shuffledp.randomizers.matrix import FiniteRandomizer as FiniteRandomizer
    from shuffledp.randomizers.matrix import FromMatrix as FromMatrix
    from shuffledp.randomizers.messages import ShufflerDummies as ShufflerDummies
    from shuffledp.randomizers.messages import SignedUnits as SignedUnits
    from shuffledp.randomizers.messages import SplitShares as SplitShares
    from shuffledp.randomizers.messages import TreeDummies as TreeDummies
    from shuffledp.randomizers.messages import UserFakes as UserFakes
    from shuffledp.randomizers.randomizer import Atoms as Atoms
    from shuffledp.randomizers.randomizer import End as End
    from shuffledp.randomizers.randomizer import Floats as Floats
    from shuffledp.randomizers.randomizer import Randomizer as Randomizer
    from shuffledp.randomizers.subset import SubsetSelection as SubsetSelection
    from shuffledp.randomizers.support import VotingRandomizer as VotingRandomizer
    from shuffledp.randomizers.unary import OUE as OUE
    from shuffledp.randomizers.unary import RAPPOR as RAPPOR
    from shuffledp.randomizers.unary import Unary as Unary
    from shuffledp.randomizers.wrappers import AllOf as AllOf
    from shuffledp.randomizers.wrappers import CheckIn as CheckIn
    from shuffledp.randomizers.wrappers import OneOf as OneOf

__all__, __getattr__, __dir__ = lazy(
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
