"""How many people hold each category.

options   what the command and Python take
question  the question
recheck   what `verify` checks anew
"""
