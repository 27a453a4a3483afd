"""Every known way to bound what a shuffled mechanism leaks, under one interface.

>>> from shuffledp import RR
>>> round(
...     find("erlingsson-2019").epsilon(Setting(RR(epsilon0=0.4), n=100_000), delta=1e-6), 5
... )
0.05642
"""

from difflib import get_close_matches

from shuffledp.errors import InvalidInput, check_text
from shuffledp.literature import (
    balle,
    biswas,
    checkins,
    cheu,
    clones_renyi,
    erlingsson,
    feldman,
    feldman_lemmas,
    girgis,
    gradient_descent,
    koskela,
    own_bounds,
    variation_ratio,
)
from shuffledp.literature.bound import Published, Setting, Status, require
from shuffledp.literature.composition import COMPOSITIONS, composed, for_rounds
from shuffledp.literature.fourier import FourierAccountant

__all__ = [
    "COMPOSITIONS",
    "LITERATURE",
    "FourierAccountant",
    "Published",
    "Setting",
    "Status",
    "composed",
    "find",
    "for_rounds",
    "require",
]

LITERATURE: tuple[Published, ...] = tuple(
    bound
    for module in (
        own_bounds,
        erlingsson,
        cheu,
        balle,
        checkins,
        feldman,
        feldman_lemmas,
        gradient_descent,
        girgis,
        clones_renyi,
        koskela,
        biswas,
        variation_ratio,
    )
    for bound in module.BOUNDS
)


def find(name: str) -> Published:
    """The bound of that name, as ``shuffledp papers bounds`` lists it."""
    known = {bound.name: bound for bound in LITERATURE}
    if check_text("the name of a bound", name, remedy="List them: shuffledp papers bounds") not in known:
        close = get_close_matches(name, known, n=1)
        raise InvalidInput(
            f"a bound must be known by its name, got {name!r}. "
            f"{f'Did you mean {close[0]}?' if close else 'List them: shuffledp papers bounds'}"
        )
    return known[name]
