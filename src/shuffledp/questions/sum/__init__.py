"""The sum of numbers.

options   what the command and Python take
question  the question
recheck   what `verify` checks anew
"""
