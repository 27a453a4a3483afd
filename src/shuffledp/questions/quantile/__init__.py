"""How numbers are distributed.

question  the question
cuts      cut points, from the ends of a range and a number of bins
"""
