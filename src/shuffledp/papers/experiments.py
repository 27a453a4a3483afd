"""Every figure and table that is computed again, in the order of the pages.

>>> [experiment.title for experiment in EXPERIMENTS if experiment.name == "biswas-table1"]
['Table 1: delta of shuffled k-RR, a misprint next to the certified delta']
"""

from shuffledp.papers import balle, biswas_tables, biswas_utility, feldman, own_figures
from shuffledp.papers.experiment import Experiment
from shuffledp.papers.koskela_clones import FIG2, FIG5, FIG6, FIG7, FIG8, FIG9
from shuffledp.papers.koskela_krr import FIG1, FIG3, FIG4, FIG10

EXPERIMENTS: tuple[Experiment, ...] = (
    *balle.EXPERIMENTS,
    *feldman.EXPERIMENTS,
    *(FIG1, FIG2, FIG3, FIG4, FIG5, FIG6, FIG7, FIG8, FIG9, FIG10),
    *biswas_tables.EXPERIMENTS,
    *biswas_utility.EXPERIMENTS,
    *own_figures.EXPERIMENTS,
)
