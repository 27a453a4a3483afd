"""Randomizers made of others, nested at will: each is a law of its own, accounted in a few classes
and drawn as accounted.

combining   mixtures and products of haystacks
wrapper     what they share: answers in a row, and the pairs that must be considered
check_in    every user takes part with some probability
one_of      one of several questions
one_level   the same where the questions are levels of bins, and reports are counted
all_of      all of several questions in one message
voting      a check-in where reports are counted
"""

from shuffledp.randomizers.wrappers.all_of import AllOf
from shuffledp.randomizers.wrappers.check_in import CheckIn
from shuffledp.randomizers.wrappers.one_level import OneLevel
from shuffledp.randomizers.wrappers.one_of import OneOf
from shuffledp.randomizers.wrappers.voting import VotingCheckIn

__all__ = ["AllOf", "CheckIn", "OneLevel", "OneOf", "VotingCheckIn"]
