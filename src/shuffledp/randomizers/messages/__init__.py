"""Laws by which a person sends several messages, or the shuffler adds some of its own: accuracy
near that of a trusted curator.

message       what laws of several messages have in common
fakes         fakes from users
dummies       dummies from the shuffler, in one list or in all levels of a tree
signed_units  +1 and -1 messages: how many hold a value
split_shares  split and mix: a sum of numbers, by shares that say nothing one by one
"""

from shuffledp.randomizers.messages.dummies import ShufflerDummies, TreeDummies
from shuffledp.randomizers.messages.fakes import UserFakes
from shuffledp.randomizers.messages.message import MessageLaw
from shuffledp.randomizers.messages.signed_units import SignedUnits
from shuffledp.randomizers.messages.split_shares import SplitShares

__all__ = ["MessageLaw", "ShufflerDummies", "SignedUnits", "SplitShares", "TreeDummies", "UserFakes"]
