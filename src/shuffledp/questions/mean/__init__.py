"""The mean of numbers.

question           the question
statistical_query  the mean of a function of records
"""
