"""The sum of numbers.

options   what the command and Python take
question  the question
recheck   judges an answer, for ``verify``
"""
