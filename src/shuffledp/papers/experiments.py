"""Every figure and table that is computed again, in the order of the pages.

>>> [experiment.title for experiment in EXPERIMENTS if experiment.name == "biswas-table1"]
['Table 1: delta of shuffled k-RR, a misprint next to the certified delta']
"""

from shuffledp.papers import balle, biswas_tables, biswas_utility, feldman, koskela_figures, landscape, swap_figures
from shuffledp.papers.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = (
    *balle.EXPERIMENTS,
    *feldman.EXPERIMENTS,
    *koskela_figures.EXPERIMENTS,
    *biswas_tables.EXPERIMENTS,
    *biswas_utility.EXPERIMENTS,
    *landscape.EXPERIMENTS,
    *swap_figures.EXPERIMENTS,
)
