"""Koskela, Heikkila and Honkela 2021, arXiv 2106.00477: figures 1 to 10.

koskela_krr     k-ary randomized response: figures 1, 3, 4 and 10
koskela_clones  any randomizer: figures 2 and 5 to 9
"""

from shuffledp.papers.experiment import Experiment
from shuffledp.papers.koskela_clones import FIG2, FIG5, FIG6, FIG7, FIG8, FIG9
from shuffledp.papers.koskela_krr import FIG1, FIG3, FIG4, FIG10

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = (FIG1, FIG2, FIG3, FIG4, FIG5, FIG6, FIG7, FIG8, FIG9, FIG10)
