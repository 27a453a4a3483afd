"""Every figure and table of the four papers, computed anew beside certified bounds.

base   ``Experiment``, a figure described, and ``Line``, one of its curves
table  lines as a CSV file, and back
looks  what tells one curve from another
draw   lines as a figure
make   the files of one experiment
run    many experiments, in a few processes

koskela, feldman, balle, biswas  the experiments, one file per paper
biswas_utility                   the same for utility, on data from ``cities``, drawn as ``heat``
                                 maps too
landscape                        all published bounds at a glance, which is in none of them

>>> [experiment.title for experiment in EXPERIMENTS if experiment.name == "biswas-table1"]
['Table 1: delta of shuffled k-RR, a misprint beside the truth']
"""

from shuffledp.papers import balle_figures, biswas_tables, biswas_utility, feldman_figures, koskela_figures, landscape
from shuffledp.papers.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = (
    *koskela_figures.EXPERIMENTS,
    *feldman_figures.EXPERIMENTS,
    *balle_figures.EXPERIMENTS,
    *biswas_tables.EXPERIMENTS,
    *biswas_utility.EXPERIMENTS,
    *landscape.EXPERIMENTS,
)
