"""How many people hold each combination of several columns' categories.

question  the question
"""
