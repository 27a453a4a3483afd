"""The mean of numbers.

question  the question
"""
