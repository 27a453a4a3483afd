"""How numbers are distributed.

options   what the command and Python take of them
question  the question
cuts      cut points, from the ends of a range and a number of bins
"""
