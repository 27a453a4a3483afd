"""Random words, and exact draws from them. Every probability here is an integer over a power of
two.

source        where words come from: ``SecureSource`` (AES-256 in counter mode) or ``SeededSource``
              (a NumPy generator)
tags          AES-256 in CBC-MAC, for many byte strings at once
integers      from a real parameter to the integers that realize it, and back to a logarithm that is
              never too small
draws         ``bernoulli``, ``uniform``, ``choice``: arrays with exactly the stated law, if the
              words are uniform
permutation   uniformly random orders
noise_tables  integer tables of noise: Laplace and Gaussian
count_tables  integer tables of counts: Poisson and two-sided geometric
share_tables  integer tables of one person's share of noise that many add up
"""

from __future__ import annotations

from shuffledp.sampling.draws import WORD, Table, bernoulli, choice, smallest_dtype, uniform
from shuffledp.sampling.source import Rng, SecureSource, SeededSource, Source, source_of

__all__ = [
    "WORD",
    "Rng",
    "SecureSource",
    "SeededSource",
    "Source",
    "Table",
    "bernoulli",
    "choice",
    "smallest_dtype",
    "source_of",
    "uniform",
]
