"""The mean of numbers.

options            what the command and Python take
question           the question
recheck            judges an answer, for ``verify``
clipping           what clipped values mean for the answer, in words
statistical_query  the mean of a function of records
"""
