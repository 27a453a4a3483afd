"""Noisy gradient descent over shuffled data.

descent     ``ShuffledSGD``
one_pass    the privacy of one pass, and of its rivals
batches     ``BallsAndBins``, the batches of random allocation
grid_noise  its noise, as integers
data        an example
"""
