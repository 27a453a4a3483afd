"""Every known way to bound what a shuffled mechanism leaks: one file per paper, under one interface.

base  ``Published``, a bound described, and ``Setting``, what it is asked about

>>> from shuffledp import RR
>>> round(erlingsson.ERLINGSSON.epsilon(Setting(RR(epsilon0=0.4), n=100_000), delta=1e-6), 5)
0.05642
"""

from shuffledp.bounds import erlingsson
from shuffledp.bounds.base import Published, Setting, Status

__all__ = ["LITERATURE", "Published", "Setting", "Status"]

LITERATURE: tuple[Published, ...] = (erlingsson.ERLINGSSON,)
