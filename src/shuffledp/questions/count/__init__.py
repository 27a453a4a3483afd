"""How many people hold one value.

question  the question
"""
