"""How numbers are distributed.

options        what the command and Python take
question       the question
recheck        judges an answer, for ``verify``
quantile_rows  quantiles, from how many people are below each cut point
words          the same in words
cuts           cut points, from the ends of a range and a number of bins
"""
