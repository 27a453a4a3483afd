"""Noisy gradient descent over shuffled data.

descent     ``ShuffledSGD``
one_pass    the privacy of one pass over permuted data, and of its rivals
epochs      the privacy of epochs of allocated data
batches     ``BallsAndBins``, the batches of random allocation
grid_noise  its noise, as integers
data        an example
"""
