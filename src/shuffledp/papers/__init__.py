"""Every figure and table of the four papers, computed again beside certified bounds.

experiment       ``Experiment``, a figure described, and ``Line``, one of its curves
table            lines as a CSV file, and back
looks            what tells one curve from another
draw             lines as a figure
heat             maps side by side
make             the files of one experiment
reproduction     many experiments, in a few processes
balle_figures    Balle et al. 2019
feldman_figures  Feldman et al. 2020
koskela_figures  Koskela et al. 2021: koskela_krr, koskela_clones, and what both need
koskela_krr      k-ary randomized response
koskela_clones   any randomizer
koskela_curves   curves of pairs
biswas_tables    Biswas et al. 2023
biswas_utility   the same for utility
cities           the check-ins that it maps
landscape        all published bounds at a glance, which is in none of the papers
swap_figures     what the first-clone swap gains, for docs/first-clone-swap.md
errata           formulas that are wrong as printed

>>> [experiment.title for experiment in EXPERIMENTS if experiment.name == "biswas-table1"]
['Table 1: delta of shuffled k-RR, a misprint beside the truth']
"""

from shuffledp.papers import (
    balle_figures,
    biswas_tables,
    biswas_utility,
    feldman_figures,
    koskela_figures,
    landscape,
    swap_figures,
)
from shuffledp.papers.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = (
    *koskela_figures.EXPERIMENTS,
    *feldman_figures.EXPERIMENTS,
    *balle_figures.EXPERIMENTS,
    *biswas_tables.EXPERIMENTS,
    *biswas_utility.EXPERIMENTS,
    *landscape.EXPERIMENTS,
    *swap_figures.EXPERIMENTS,
)
