"""Every known way to bound what a shuffled mechanism leaks: one file per paper, under one
interface.

published         ``Published``, a bound described, and ``Setting``, what it is asked about
erlingsson        Erlingsson et al. 2019
cheu              Cheu et al. 2019
balle             Balle et al. 2019: the privacy blanket, with Hoeffding's and Bennett's
                  inequalities
checkins          Balle et al. 2020: random check-ins
feldman           Feldman et al. 2020: closed forms and the numerical algorithm
feldman_lemmas    the same: its lemmas, and Theorem 4.1
gradient_descent  the same in closed form for noisy gradient descent, and its rival
girgis            Girgis et al. 2021: Renyi divergences
clones_renyi      Feldman et al. 2020, through Renyi divergences
koskela           Koskela et al. 2021: the Fourier accountant
koskela_pairs     its pairs of laws
fourier           ``FourierAccountant``: both ends of a pair's epsilon and delta
biswas            Biswas et al. 2023
variation_ratio   Wang et al. 2023
certified         what this package proves
composing         from one round to many, knowing only (epsilon, delta)

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
