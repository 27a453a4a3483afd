"""Random words, and exact draws from them: probabilities are integers over a power of two.

source  where words come from: ``SecureSource`` (AES-256) or ``SeededSource`` (NumPy)
tags    AES-256 in CBC-MAC, for many byte strings at once
draws   ``bernoulli``, ``uniform``, ``permutation``: arrays with exactly the stated law
tables  integer tables of noise, of counts, and of one person's share of noise
"""

from __future__ import annotations

from shuffledp.sampling.draws import WORD, Table, bernoulli, smallest_dtype, uniform
from shuffledp.sampling.source import Rng, SecureSource, SeededSource, Source, source_of

__all__ = [
    "WORD",
    "Rng",
    "SecureSource",
    "SeededSource",
    "Source",
    "Table",
    "bernoulli",
    "smallest_dtype",
    "source_of",
    "uniform",
]
