"""The sum of numbers.

question  the question
"""
