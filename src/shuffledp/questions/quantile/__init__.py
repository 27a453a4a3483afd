"""How numbers are distributed.

question       the question
quantile_rows  quantiles, from how many people are below each cut point
cuts           cut points, from the ends of a range and a number of bins
"""
