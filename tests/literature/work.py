"""What the processes of `make literature` do. A module of its own, as a spawned process cannot import
from __main__.
"""

from __future__ import annotations

from functools import lru_cache

from tests.literature.cases import Case, thorough
from tests.literature.grid import THOROUGH, Tally, bounds, compare, refute, sample
from tests.literature.swap_search import Found, search

FEWEST = 40  # comparisons, of every bound
SEARCHES, DATASETS = 20, 1000  # of the first-clone swap: how many, and of how many datasets each


@lru_cache(maxsize=1)
def cases() -> list[Case]:
    """The same list in every process; its laws are built where they are asked for."""
    return thorough()


def one_case(index: int) -> dict[str, Tally]:
    """Every bound on one case, whose laws are dropped afterwards."""
    case = cases()[index]
    tallies = {bound.name: compare(bound, case, THOROUGH) for bound in bounds()}
    case.__dict__.pop("truth", None)
    return tallies


def one_bound(name: str) -> dict[str, Tally]:
    """One bound on the case that refutes it, if one is known, and on more if the budget left it
    with too few.
    """
    (bound,) = [bound for bound in bounds() if bound.name == name]
    return {name: refute(bound) + sample(bound, cases(), FEWEST)}


def one_search(seed: int) -> Found:
    """Some thousand datasets of the first-clone swap."""
    return search(DATASETS, seed)
