"""One pair of inputs of the target, in place of the worst: what the analyst can tell apart when it
is known that the target holds one of two values.

The others may still hold anything, so the blanket stays that of all inputs; the needles are those
of the pair. For values that are near each other (metric privacy) they differ less than those of the
worst pair. The first-clone swap of the pair, or of all pairs where pairs are not told apart, bounds
it as well.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.haystack import BinaryScan, Haystack, swaps_of_pair
from shuffledp.accounting.reductions import (
    BLANKET,
    MODEL,
    MOST_SWAPPED,
    SCAN,
    SILENT,
    Reduction,
    Theorem,
    support_swaps,
    swaps,
    worthwhile,
)
from shuffledp.errors import InvalidInput, check_count, check_probability
from shuffledp.randomizers import AnyLDP
from shuffledp.randomizers.hadamard import Hadamard
from shuffledp.randomizers.location import OTHERS, LocationRandomizer
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.randomizers.support import SupportRandomizer
from shuffledp.wording import statement

MOST_HOLDERS = 24  # inputs that all others may hold, of a table with more
FAR_APART = 0.7  # numbers that are nearer to each other leak less by their own blanket
ROUNDING = 1e-12  # relative: of a log-ratio


def check_pair(randomizer: Randomizer, between: tuple[object, object]) -> tuple[float, float]:
    """Return ``between`` as two different inputs of the randomizer."""
    first, second = between
    if isinstance(randomizer, LocationRandomizer):
        remedy = "Inputs of this randomizer are numbers from 0 to 1; scale them."
        a, b = (check_probability("an input", value, zero=True, one=True, remedy=remedy) for value in (first, second))
    else:
        a, b = (_check_index(value, _inputs(randomizer)) for value in (first, second))
    if a == b:
        raise InvalidInput(f"between must be two different inputs, got {first!r} twice. Choose two.")
    return a, b


def reduce_pair(randomizer: Randomizer, n: int, a: float, b: float) -> Reduction:
    """What is proven about the pair (a, b), in both orders, among ``n`` honest users."""
    location = isinstance(randomizer, LocationRandomizer)  # which may assume something about the worst pair
    assumptions = (*MODEL, *(() if location else randomizer.assumptions), statement("one pair"))
    if randomizer.binary:
        scan = (BinaryScan(randomizer.epsilon0, n),)
        return Reduction((Theorem(SCAN, scan),), assumptions, scan, randomizer.epsilon0)
    if isinstance(randomizer, LocationRandomizer):
        upper, lowers = _location(randomizer, a, b)
        ceiling = randomizer.epsilon0 * abs(a - b) * (1.0 + ROUNDING)
    elif randomizer.table is not None:
        upper, lowers, ceiling = _table(randomizer.table, int(a), int(b))
    else:
        assert isinstance(randomizer, SupportRandomizer)
        upper, lowers = _support(randomizer, int(a), int(b))
        ceiling = randomizer.epsilon0
    ceiling = min(ceiling, randomizer.epsilon0 if randomizer.delta0 == 0.0 else math.inf)
    if ceiling == 0.0:
        return Reduction((Theorem(SILENT, ()),), assumptions, (), 0.0)
    both = tuple(Haystack.of(atoms, n) for atoms in upper)
    found = tuple(Haystack.of(atoms, n) for atoms in lowers)
    return Reduction(
        (Theorem(BLANKET, (*both, *(curve.swapped() for curve in both))), *_swaps(randomizer, n, a, b)),
        assumptions,
        (*found, *(curve.swapped() for curve in found)),
        ceiling,
    )


def _inputs(randomizer: Randomizer) -> int:
    """How many inputs there are, of a randomizer whose pairs are known one by one."""
    if isinstance(randomizer, AnyLDP) or not (
        randomizer.table is not None or isinstance(randomizer, SupportRandomizer)
    ):
        raise InvalidInput(
            f"between needs a law known input by input, got {randomizer!r}. Leave it out, or use FromMatrix(rows)."
        )
    if isinstance(randomizer, SupportRandomizer):
        return int(randomizer.k)
    assert randomizer.table is not None
    return len(randomizer.table)


def _check_index(value: object, inputs: int) -> int:
    remedy = f"Inputs are counted from 0 to {inputs - 1}."
    return check_count("an input", value, least=0, most=inputs - 1, remedy=remedy)


def _table(table: Floats, a: int, b: int) -> tuple[list[Atoms], list[Atoms], float]:
    """The blanket and datasets of two rows, and the largest log-ratio between them."""
    one, two = table[a], table[b]
    if np.array_equal(one, two):
        return [], [], 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = float(np.nanmax(np.abs(np.log(one) - np.log(two))))
    shared = np.minimum(table, np.maximum(one, two)).sum(axis=1)
    shared[[a, b]] = -1.0
    holders = np.argsort(shared, kind="stable")[:MOST_HOLDERS].tolist()
    lowers = [Atoms(f"all others hold {v}", table[v], one, two) for v in holders]
    return [Atoms("blanket", table.min(axis=0), one, two)], lowers, ratio * (1.0 + ROUNDING)


def _swaps(randomizer: Randomizer, n: int, a: float, b: float) -> tuple[Theorem, ...]:
    """The first-clone swap of the pair, or one that holds for all pairs."""
    table = randomizer.table
    if isinstance(randomizer, LocationRandomizer) and abs(a - b) < FAR_APART:
        return ()
    if n == 1 or (table is None and not isinstance(randomizer, Hadamard)):
        return swaps(randomizer, n)
    if isinstance(randomizer, Hadamard):
        kind = _kind(randomizer, int(a), int(b))
        return worthwhile(*(swap for swap in support_swaps(randomizer, n) if swap.name.endswith(kind)))
    assert table is not None
    return worthwhile(*swaps_of_pair(table, n, int(a), int(b))) if table.size <= MOST_SWAPPED else ()


def _kind(randomizer: Hadamard, a: int, b: int) -> str:
    """What the blankets, datasets and swaps of the pair are called."""
    same = a // (randomizer.block_size - 1) == b // (randomizer.block_size - 1)
    return "x0 and x1 of one block" if same else "x0 and x1 of different blocks"


def _support(randomizer: SupportRandomizer, a: int, b: int) -> tuple[list[Atoms], list[Atoms]]:
    """All pairs are alike but for Hadamard response, where rows of one block overlap."""
    upper, lowers = list(randomizer.blankets("upper")), list(randomizer.datasets())
    if not isinstance(randomizer, Hadamard):
        return upper, lowers
    kind = _kind(randomizer, a, b)
    # Which third values there are depends on the pair; x0 and x1 can always be held by others.
    held = ("all others hold x0", "all others hold x1")
    return (
        [atoms for atoms in upper if atoms.name.endswith(kind)],
        [atoms for atoms in lowers if atoms.name.endswith(kind) and atoms.name.startswith(held)],
    )


def _location(randomizer: LocationRandomizer, a: float, b: float) -> tuple[list[Atoms], list[Atoms]]:
    """The blanket of all inputs in [0, 1] is min(mu_0, mu_1), and the randomizer's own is that of
    the pair (0, 1). For other pairs: in a cell of outputs the two ratios to it stay in a box; every
    convex function of u - e^eps v is largest, given the means, on the box's corners with u and v in
    opposite order, for both orders of the pair.
    """
    if {a, b} == {0.0, 1.0}:
        return list(randomizer.blankets("upper")), list(randomizer.datasets())
    left = randomizer.cuts()[::-1]
    borders = np.unique(np.concatenate([left, 1.0 - left, [a, b]]))
    below, above = borders[:-1], borders[1:]
    near = above <= 0.5
    hay = np.where(near, randomizer.mass(below - 1.0, above - 1.0), randomizer.mass(below, above))
    needles = [randomizer.mass(below - x, above - x) for x in (a, b)]
    boxes = [_box(randomizer, below, above, near, x) for x in (a, b)]
    bounded = np.isfinite(boxes[0][1]) & np.isfinite(boxes[1][1]) & (hay > 0.0)
    (u_low, u_high), (v_low, v_high) = (tuple(side[bounded] for side in box) for box in boxes)
    mass = hay[bounded]
    p, q = (
        _share(needle[bounded] / mass, low, high)
        for needle, (low, high) in zip(needles, ((u_low, u_high), (v_low, v_high)), strict=True)
    )
    # Opposite order: the high u with the low v as far as both go.
    weights = np.stack(
        [np.minimum(p, 1.0 - q), np.maximum(p + q - 1.0, 0.0), np.minimum(1.0 - p, q), np.maximum(1.0 - p - q, 0.0)]
    )
    corners = [(u_high, v_low), (u_high, v_high), (u_low, v_high), (u_low, v_low)]
    spread = (weights * mass).ravel()
    first, second = (np.concatenate([corner[place] for corner in corners]) * spread for place in (0, 1))
    kept = spread > 0.0
    seen = [float(needle[~bounded].sum()) for needle in needles]
    upper = Atoms(
        "blanket, upper end",
        np.append(spread[kept], [0.0, 0.0]),
        np.append(first[kept], [seen[0], 0.0]),
        np.append(second[kept], [0.0, seen[1]]),
    )
    holders = sorted({*OTHERS, a, b})
    laws = {x: randomizer.mass(below - x, above - x) for x in holders}
    return [upper], [Atoms(f"all others hold {x:g}", laws[x], laws[a], laws[b]) for x in holders]


def _box(
    randomizer: LocationRandomizer, below: Floats, above: Floats, near: NDArray[np.bool_], x: float
) -> tuple[Floats, Floats]:
    """The least and the largest mu_x / min(mu_0, mu_1) per cell; infinite without an end."""
    sides = [randomizer.log_shift(y, x, np.where(near, 1.0, 0.0)) for y in (below, above)]
    low, high = np.minimum(*sides), np.maximum(*sides)
    largest = np.exp(np.minimum(high, 690.0)) * (1.0 + ROUNDING)  # a wider box holds the ratios all the same
    return np.exp(low) * (1.0 - ROUNDING), np.where(high < 690.0, largest, np.inf)


def _share(mean: Floats, low: Floats, high: Floats) -> Floats:
    """How much of a cell lies at its high end so that the mean is kept."""
    width = high - low
    share = np.divide(mean - low, width, out=np.zeros_like(width), where=width > 0.0)
    return np.asarray(np.clip(share, 0.0, 1.0))
