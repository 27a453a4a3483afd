"""Haystacks of several randomizers at once: mixtures and products of output classes.

Classes whose three masses are proportional are one class, and these are very many: fifty questions
of three classes each have 3^50 outputs, and 1,326 classes. What is proportional up to 2^-42 is
merged. An upper end must not gain by that, and so ``Atoms.doubt`` says how far a needle's mass may
be off, and ``Atoms.rounding`` how far any mass may be: the accountant adds both to its ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import End, Floats
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.randomizer import Atoms

__all__ = ["chi_square", "joined", "mixture", "product_of"]

Bools = NDArray[np.bool_]
UNIT = 2.0**-52
SAME_BITS = 42
MERGED = 2.0 ** (2 - SAME_BITS)  # how far a ratio may be moved by one merging
FAINTEST = 1e-290  # products of masses below that may have lost their digits
MOST_CLASSES, MOST_PRODUCTS = 6_000, 1 << 18


def mixture(name: str, parts: Sequence[tuple[float, Atoms]], end: End, silent: float = 0.0) -> Atoms:
    """With probability ``weight`` an output of each of the ``parts``, and it is seen of which; with
    probability ``silent`` an output that says nothing. For ``end`` see ``product_of``.
    """
    columns = [weight * _masses(atoms) for weight, atoms in parts]
    possible = [_masses(atoms) > 0.0 for _, atoms in parts]
    if silent > 0.0:
        columns.append(np.full((3, 1), silent))
        possible.append(np.full((3, 1), True))
    masses = _merged(_without_faint(np.concatenate(columns, axis=1), np.concatenate(possible, axis=1), end))
    doubt = max(atoms.doubt for _, atoms in parts) + MERGED
    return Atoms(name, *masses, rounding=max(atoms.rounding for _, atoms in parts) + 4.0 * UNIT, doubt=doubt)


def product_of(name: str, parts: Sequence[Atoms], end: End) -> Atoms:
    """One output of each of the ``parts``, all independent and all seen.

    What is too small for a float errs to the side of ``end``: above, hay is left out, which exposes
    what is there; below, classes are merged, and that only hides.
    """
    masses = np.ones((3, 1))
    for atoms in parts:
        factor = _masses(atoms)
        if masses.shape[1] * factor.shape[1] > MOST_PRODUCTS:
            raise _too_many(masses.shape[1] * factor.shape[1])
        every = np.multiply(masses[:, :, None], factor[:, None, :]).reshape(3, -1)
        possible = ((masses > 0.0)[:, :, None] & (factor > 0.0)[:, None, :]).reshape(3, -1)
        masses = _merged(_without_faint(every, possible, end))
        if masses.shape[1] > MOST_CLASSES:
            raise _too_many(masses.shape[1])
    rounding = sum(atoms.rounding + 12.0 * UNIT for atoms in parts)
    return Atoms(name, *masses, rounding=rounding, doubt=sum(atoms.doubt + MERGED for atoms in parts))


def joined(names: Sequence[str]) -> str:
    """What several haystacks are called together.

    >>> joined(["blanket", "blanket"]), joined(["all others hold x0", "all others hold x1"])
    ('blanket', 'all others hold x0 | all others hold x1')
    """
    different = list(dict.fromkeys(names))
    if len(different) > 3:
        return f"{different[0]} | ... | {different[-1]}"
    return " | ".join(different)


def chi_square(atoms: Atoms) -> float:
    """Roughly how much the needle stands out: it only chooses which datasets are tried."""
    covered = atoms.hay > FAINTEST
    gap = (atoms.needle0 - atoms.needle1)[covered]
    return float(np.sum(gap * (gap / atoms.hay[covered]))) + float(np.sum(atoms.needle0[~covered]))


def _merged(masses: Floats) -> Floats:
    """Classes whose masses are proportional, added up; those that never occur are left out."""
    masses = masses[:, masses.any(axis=0)]
    shares = masses / masses.max(axis=0)
    mantissa, exponent = np.frexp(shares * (1.0 + 2.0 ** -(SAME_BITS + 2)))
    rounded = np.ldexp(np.rint(np.ldexp(mantissa, SAME_BITS)), exponent - SAME_BITS)
    _, label = np.unique(rounded, axis=1, return_inverse=True)
    added = np.zeros((3, int(label.max()) + 1))
    np.add.at(added.T, label.ravel(), masses.T)
    return added


def _masses(atoms: Atoms) -> Floats:
    return np.stack([atoms.hay, atoms.needle0, atoms.needle1])


def _without_faint(masses: Floats, possible: Bools, end: End) -> Floats:
    """Products that are too small to have kept their digits, moved to the side of ``end``."""
    faint = possible & (masses < FAINTEST)
    if not faint.any():
        return masses
    if end == "upper":
        moved = np.where(faint, 0.0, masses)
        moved[1] = np.where(faint[1], FAINTEST, masses[1])
        return moved
    hidden: Bools = np.asarray(faint.any(axis=0))
    hidden[np.argmax(masses[0])] = False
    kept = masses[:, ~hidden]
    kept[:, np.argmax(kept[0])] += masses[:, hidden].sum(axis=1)
    return kept


def _too_many(classes: int) -> InvalidInput:
    return InvalidInput(
        f"the questions that are answered together must have at most {MOST_CLASSES} classes of reports, got {classes}. "
        f"Ask fewer at once, give them the same epsilon0, or ask each user one of them: OneOf(...)."
    )
