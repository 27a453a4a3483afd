"""How many people hold each category.

options   what the command and Python take
question  the question
recheck   judges an answer, for ``verify``
"""
