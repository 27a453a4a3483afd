"""The four papers, statement by statement; their figures and tables, computed again.

>>> koskela_2021.theorem_8.verdict
'paper errs'

paper            ``Paper`` and ``Statement``
statements       what each paper states, one file per paper
experiments      every figure and table that is computed again
experiment       ``Experiment``, a figure described; its lines as a CSV file, and back
charts           lines and maps as figures
files            the files of one experiment, and of many, one after the other
balle            Balle et al. 2019
feldman          Feldman et al. 2020
koskela_krr      Koskela et al. 2021: figures 1, 3, 4 and 10, on k-ary randomized response
koskela_clones   figures 2 and 5 to 9, on any randomizer
koskela_curves   curves of pairs
biswas_tables    Biswas et al. 2023
biswas_utility   the same for utility
cities           the check-ins that it maps
landscape        all published bounds at a glance, which is in none of the papers
swap_figures     what the first-clone swap gains, for docs/first-clone-swap.md
"""

from difflib import get_close_matches

from shuffledp.errors import InvalidInput, check_text
from shuffledp.papers.paper import Paper, Statement
from shuffledp.papers.statements.balle_2019 import PAPER as balle_2019
from shuffledp.papers.statements.biswas_2023 import PAPER as biswas_2023
from shuffledp.papers.statements.feldman_2020 import PAPER as feldman_2020
from shuffledp.papers.statements.koskela_2021 import PAPER as koskela_2021
from shuffledp.papers.statements.others import OTHERS

__all__ = [
    "FOUR",
    "PAPERS",
    "Paper",
    "Statement",
    "balle_2019",
    "biswas_2023",
    "feldman_2020",
    "find",
    "koskela_2021",
]

FOUR = (balle_2019, feldman_2020, koskela_2021, biswas_2023)
PAPERS = (*FOUR, *OTHERS)


def find(name: str) -> Paper:
    """The paper of that name, as ``shuffledp papers list`` prints it.

    >>> find("feldman-2020").year
    2020
    """
    known = {paper.name: paper for paper in PAPERS}
    if check_text("the name of a paper", name, remedy="List them: shuffledp papers list") not in known:
        same = [each for each in known if each.startswith(f"{name.partition('-')[0]}-")]
        close = same or get_close_matches(name, known, n=1)
        raise InvalidInput(
            f"there is no paper {name!r} here. "
            + (f"Did you mean {close[0]}?" if close else "List them: shuffledp papers list")
        )
    return known[name]
