"""Laws by which a person sends several messages, or the shuffler adds some of its own: accuracy
near that of a trusted curator.

message_law  what they have in common
"""

from shuffledp.randomizers.messages.message_law import MessageLaw

__all__ = ["MessageLaw"]
