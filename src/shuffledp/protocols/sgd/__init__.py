"""Noisy gradient descent over shuffled data.

descent     ``ShuffledSGD``
one_pass    the privacy of one pass, and of its rivals
grid_noise  its noise, as integers
data        an example
"""
