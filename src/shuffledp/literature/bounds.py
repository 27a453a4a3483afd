"""Every known way to bound what a shuffled mechanism leaks, under one interface.

>>> from shuffledp import RR
>>> round(
...     find("erlingsson-2019").epsilon(Setting(RR(epsilon0=0.4), n=100_000), delta=1e-6), 5
... )
0.05642
"""

from difflib import get_close_matches

from shuffledp.errors import InvalidInput, check_text
from shuffledp.literature import balle, biswas, feldman, feldman_lemmas, gradient_descent, koskela, own_bounds
from shuffledp.literature import other_papers as others
from shuffledp.literature.bound import Published, Setting, Status, require
from shuffledp.literature.composition import COMPOSITIONS, composed, for_rounds
from shuffledp.literature.fourier import FourierAccountant

__all__ = ["COMPOSITIONS", "LITERATURE", "FourierAccountant", "Published", "Setting", "Status"]
__all__ += ["composed", "find", "for_rounds", "require"]

LITERATURE: tuple[Published, ...] = (
    *own_bounds.BOUNDS,
    *(others.ERLINGSSON, others.ERLINGSSON_GENERAL, others.CHEU),
    *balle.BOUNDS,
    others.CHECKINS,
    *(*feldman.BOUNDS, *feldman_lemmas.BOUNDS, gradient_descent.PROP_5_3),
    *(others.GIRGIS, feldman_lemmas.CLONES_RENYI),
    *koskela.BOUNDS,
    *biswas.BOUNDS,
    others.VARIATION_RATIO_KRR,
)


def find(name: str) -> Published:
    """The bound of that name, as ``shuffledp papers bounds`` lists it."""
    known = {bound.name: bound for bound in LITERATURE}
    if check_text("the name of a bound", name, remedy="List them: shuffledp papers bounds") not in known:
        close = get_close_matches(name, known, n=1)
        remedy = f"Did you mean {close[0]}?" if close else "List them: shuffledp papers bounds"
        raise InvalidInput(f"a bound must be known by its name, got {name!r}. {remedy}")
    return known[name]
