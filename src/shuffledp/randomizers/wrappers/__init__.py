"""Randomizers made of others, nested at will, each accounted in a few classes and drawn so.

wrapper   mixtures and products of haystacks, and the pairs that must be considered
check_in  every user takes part with some probability
one_of    one of several questions
levels    the same where the questions are levels of bins, and reports are counted
all_of    all of several questions in one message
"""

from shuffledp.randomizers.wrappers.all_of import AllOf
from shuffledp.randomizers.wrappers.check_in import CheckIn, VotingCheckIn
from shuffledp.randomizers.wrappers.levels import OneLevel
from shuffledp.randomizers.wrappers.one_of import OneOf

__all__ = ["AllOf", "CheckIn", "OneLevel", "OneOf", "VotingCheckIn"]
