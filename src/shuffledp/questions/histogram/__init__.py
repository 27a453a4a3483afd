"""How many people hold each category.

question  the question
"""
