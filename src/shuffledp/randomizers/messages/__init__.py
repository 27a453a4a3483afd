"""Laws by which a person sends several messages, or the shuffler adds some of its own: accuracy
near that of a trusted curator.

message_law       what they have in common
faked_values      true values among fakes
user_fakes        fakes from users
shuffler_dummies  dummies from the shuffler
"""

from shuffledp.randomizers.messages.message_law import MessageLaw
from shuffledp.randomizers.messages.shuffler_dummies import ShufflerDummies
from shuffledp.randomizers.messages.user_fakes import UserFakes

__all__ = ["MessageLaw", "ShufflerDummies", "UserFakes"]
