"""How many people hold one value.

options   what the command and Python take
question  the question
recheck   judges an answer, for ``verify``
"""
