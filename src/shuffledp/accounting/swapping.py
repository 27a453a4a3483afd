"""The first-clone swap of a randomizer: what kinds of users there are, and the law that is swapped
in (``haystack.swapped_slots``).

The law omega may be any; what it costs is, for a kind of hay h, about the mean of r + 1/r - 2 over
the outputs that tell the target's inputs apart, r = omega / h, divided by n. So omega should be
near the hay of the kinds that leak most, and still leave a large kappa.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.haystack import FirstClone, Slots
from shuffledp.randomizers.support import Overlap, SupportRandomizer

__all__ = ["any_static_swap", "support_swaps"]

NEAR_HAY = 1.2  # omega / hay where the target's inputs are told apart, for a third value whose report supports neither


def support_swaps(randomizer: SupportRandomizer, n: int) -> tuple[FirstClone, ...]:
    """The swap for every kind of pair, one order of each: the other is the same by symmetry.

    omega is the base law, less by a factor theta where an output supports one of x0 and x1 only,
    and more by e^epsilon0 where it supports every input. Its ratio to the base law depends on who
    of x0 and x1 is supported, so a third value matters only by how its support overlaps with
    theirs: the users are of the kinds x0, x1 and those of ``overlaps()``.
    """
    pairs: dict[str, list[Overlap]] = {}
    for overlap in randomizer.overlaps():
        pairs.setdefault(overlap.pair, []).append(overlap)
    return tuple(_support_swap(randomizer, n, overlaps) for overlaps in pairs.values())


def _support_swap(randomizer: SupportRandomizer, n: int, overlaps: Sequence[Overlap]) -> FirstClone:
    growth, z = math.exp(randomizer.epsilon0), randomizer.normaliser
    universal = overlaps[0].universal
    two: dict[tuple[int, ...], float] = {}
    for pattern, base in overlaps[0].table.items():
        two[pattern[:2]] = two.get(pattern[:2], 0.0) + base
    agreed = two[0, 0] + two[1, 1] + universal * growth
    split = two[0, 1] + two[1, 0]
    theta = NEAR_HAY * agreed / max(z - NEAR_HAY * split, NEAR_HAY * agreed) if agreed > 0.0 else 1.0
    norm = agreed + theta * split

    def slots(table: dict[tuple[int, ...], float], holder: int | None) -> Floats:
        """The target's laws, the hay of one that holds ``holder`` (None: the blanket), and
        omega.
        """
        columns = []
        for pattern, base in table.items():
            favour = 0 if holder is None else pattern[holder]
            powers = (growth ** pattern[0] / z, growth ** pattern[1] / z, growth**favour / z)
            columns.append([base * each for each in (*powers, (theta if pattern[0] != pattern[1] else 1.0) / norm)])
        columns.append([universal * each for each in (growth / z, growth / z, growth / z, growth / norm)])
        return np.array(columns).T

    kinds = [slots(two, 0), slots(two, 1), *(slots(dict(o.table), 2) for o in overlaps if o.third is not None)]
    width = max(kind.shape[1] for kind in kinds)
    table = np.stack([np.pad(kind, ((0, 0), (0, width - kind.shape[1]))) for kind in kinds], axis=1)
    blanket = slots(two, None)
    return FirstClone(
        "; ".join(part for part in ("first-clone swap", overlaps[0].pair) if part),
        n,
        _kappa(table[2], table[3]),
        Slots(blanket[0], blanket[1], blanket[3], np.zeros(blanket.shape[1])),
        Slots(*table),
        Slots(*blanket),
    )


def _kappa(hay: Floats, omega: Floats) -> float:
    held = omega > 0.0
    return float((hay[held] / omega[held]).min())


def any_static_swap(epsilon0: float, n: int) -> FirstClone:
    """The swap for any epsilon0-LDP randomizer that is fixed in advance; E = e^epsilon0.

    omega = (m_0 + m_1) / 2 <= E h_i, so kappa = 1 / E. In slot 1 m_0 / omega lies between 2 / (E +
    1) and 2E / (E + 1) with mean 1, and the score is linear in it: no law is above the one on the
    two ends.

    Elsewhere let (a, b) = (m_0, m_1) / h_i. It lies in the hexagon with the vertices (E, 1), (E,
    E), (1, E), (1/E, 1), (1/E, 1/E), (1, 1/E) and has mean (1, 1) under h_i. A slot of mass h_i (1
    - u (a+b)/2) enters by the mean of the perspective l f((a - xb) / l) + (1 - l) f(0), l = 1 - u
    (a+b)/2, f convex, and that is convex in (a, b). So only laws on the vertices matter, and of
    those the extreme ones: on two vertices whose line goes through (1, 1), or on three that form a
    triangle around it. They are binary response with all others on x1 or on x0; the two vertices
    where a = b; ternary response with all others on a third value; and the other triangle. Where l
    vanishes, at u = kappa, a = b = E and w <= 0.
    """
    e = math.exp(epsilon0)
    up, down = (e, 1.0), (1.0, e)  # corners (a, b), which scaled by 1/E are three more
    kinds = (
        ((up, 1.0), (_scaled(down, 1.0 / e), e)),
        ((down, 1.0), (_scaled(up, 1.0 / e), e)),
        (((e, e), 1.0), ((1.0 / e, 1.0 / e), e)),
        ((up, 1.0), (down, 1.0), ((1.0 / e, 1.0 / e), e)),
        (((e, e), 1.0), (_scaled(down, 1.0 / e), e), (_scaled(up, 1.0 / e), e)),
    )
    table = np.zeros((4, len(kinds), 3))
    for row, kind in enumerate(kinds):
        total = math.fsum(weight for _, weight in kind)
        for column, ((a, b), weight) in enumerate(kind):
            table[:, row, column] = weight / total * np.array([a, b, 1.0, 0.5 * (a + b)])
    rare, common = 1.0 / (e + 1.0), 1.0 / (math.exp(-epsilon0) + 1.0)
    first = Slots(np.array([common, rare]), np.array([rare, common]), np.full(2, 0.5), np.zeros(2))
    return FirstClone("first-clone swap", n, math.exp(-epsilon0), first, Slots(*table))


def _scaled(corner: tuple[float, float], factor: float) -> tuple[float, float]:
    return corner[0] * factor, corner[1] * factor
