"""How many people hold each combination of several columns' categories.

options   what the command and Python take
question  the question
recheck   judges an answer, for ``verify``
"""
