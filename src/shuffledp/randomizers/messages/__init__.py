"""Laws by which a person sends several messages, or the shuffler adds some of its own: accuracy
near that of a trusted curator.

message_law       what they have in common
faked_values      true values among fakes
user_fakes        fakes from users
added_dummies     what the next two have in common
shuffler_dummies  dummies from the shuffler
tree_dummies      the same in all levels of a tree, coarse ones and fine ones
shared_noise      what those have in common whose people each add a share of the noise
signed_units      +1 and -1 messages: how many hold a value
split_shares      split and mix: a sum of numbers, by shares that say nothing one by one
"""

from shuffledp.randomizers.messages.message_law import MessageLaw
from shuffledp.randomizers.messages.shuffler_dummies import ShufflerDummies
from shuffledp.randomizers.messages.signed_units import SignedUnits
from shuffledp.randomizers.messages.split_shares import SplitShares
from shuffledp.randomizers.messages.tree_dummies import TreeDummies
from shuffledp.randomizers.messages.user_fakes import UserFakes

__all__ = ["MessageLaw", "ShufflerDummies", "SignedUnits", "SplitShares", "TreeDummies", "UserFakes"]
