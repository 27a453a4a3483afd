"""Noisy gradient descent over shuffled data."""
