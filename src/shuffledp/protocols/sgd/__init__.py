"""Noisy gradient descent over shuffled data.

descent     ``ShuffledSGD``
passes      the privacy of passes over permuted data, and of their rivals
epochs      the privacy of epochs of allocated data
batches     ``BallsAndBins``, the batches of random allocation
grid_noise  its noise, as integers
data        an example
"""
