"""The four papers, statement by statement; their figures and tables, computed again.

>>> koskela_2021.theorem_8.verdict
'paper errs'

statements/*.toml  what each paper states; of those in others.toml only bounds or errata are here
paper              ``Paper`` and ``Statement``, read from there
experiments        every figure and table that is computed again
experiment         ``Experiment``, a figure described; its lines as a CSV file, and back
charts             lines and maps as figures
files              the files of one experiment, and of many, one after the other
balle              Balle et al. 2019
feldman            Feldman et al. 2020
koskela_krr        Koskela et al. 2021: figures 1, 3, 4 and 10, on k-ary randomized response
koskela_clones     figures 2 and 5 to 9, on any randomizer
koskela_curves     curves of pairs
biswas_tables      Biswas et al. 2023
biswas_utility     the same for utility
cities             the check-ins that it maps
own_figures        bounds at a glance, and the first-clone swap: in none of the papers
"""

from difflib import get_close_matches

from shuffledp.errors import InvalidInput, check_text
from shuffledp.papers.paper import Paper, Statement, read, read_others

__all__ = ["FOUR", "PAPERS", "Paper", "Statement", "balle_2019", "biswas_2023", "feldman_2020", "find", "koskela_2021"]

FOUR = balle_2019, feldman_2020, koskela_2021, biswas_2023 = tuple(
    read(name) for name in ("balle-2019", "feldman-2020", "koskela-2021", "biswas-2023")
)
PAPERS = (*FOUR, *read_others())
INSTEAD = {  # of papers without a bound here: their erratum, and what to use
    "feldman-2022": (9, "shuffledp-any; what 2-RR and 3-RR really leak is below it"),
    "chen-2024": (
        15,
        "sdp.accounting.shuffle_groups for k-RR; for others there is no theorem about different epsilon0",
    ),
}


def find(name: str) -> Paper:
    """The paper of that name, as ``shuffledp papers list`` prints it.

    >>> find("feldman-2020").year
    2020
    """
    known = {paper.name: paper for paper in PAPERS}
    if check_text("the name of a paper", name, remedy="List them: shuffledp papers list") not in known:
        same = [each for each in known if each.startswith(f"{name.partition('-')[0]}-")]
        close = same or get_close_matches(name, known, n=1)
        remedy = f"Did you mean {close[0]}?" if close else "List them: shuffledp papers list"
        raise InvalidInput(f"there is no paper {name!r} here. {remedy}")
    return known[name]
