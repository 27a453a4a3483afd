"""The mean of numbers.

options            what the command and Python take
question           the question
recheck            judges an answer, for ``verify``
statistical_query  the mean of a function of records
"""
