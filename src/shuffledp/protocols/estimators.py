"""From how many reports support each value to how many users hold it.

A report supports the user's own value with probability ``hit`` and any other given value with
probability ``miss``; for k-ary randomized response the report *is* the value that it supports.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.protocols.estimate import Noise
from shuffledp.protocols.exact_limits import Bounded, Signed, Supports
from shuffledp.randomizers.matrix import Unmixed
from shuffledp.randomizers.support import VotingRandomizer

__all__ = ["debiased", "inversion", "likelihood", "opened", "signed", "simplex", "unmixed", "widest_gap"]


def inversion(
    supports: NDArray[np.int64], n: int, hit: float, miss: float, contrast: float | None = None
) -> tuple[Floats, Noise]:
    """The unbiased estimate (supports - n miss) / contrast, and its noise; ``contrast`` is hit -
    miss, with all its digits where that is tiny.

    It inverts the matrix of the reports' law (Biswas et al. 2023, "INV"; Kairouz et al. 2016). With
    c users holding the value, ``supports`` is Bin(c, hit) + Bin(n - c, miss), so the variance and
    the third moment are exact and linear in c.
    """
    contrast = hit - miss if contrast is None else contrast
    values: Floats = (supports.astype(np.float64) - n * miss) / contrast
    own, others = hit * (1.0 - hit), miss * (1.0 - miss)
    held = np.clip(values, 0.0, n)
    variance = held * own + (n - held) * others
    third = held * own * (1.0 - 2.0 * hit) + (n - held) * others * (1.0 - 2.0 * miss)
    skew = np.divide(third, variance * contrast, out=np.zeros_like(values), where=variance > 0.0)
    base, slope = np.full_like(values, n * others / contrast**2), np.full_like(values, (1.0 - hit - miss) / contrast)
    vote = 1.0 / contrast
    return values, Noise(base, slope, skew, vote, Supports(supports, n, hit, miss=miss), grain=vote)


def signed(
    votes: NDArray[np.int64], n: int, randomizer: VotingRandomizer, blocks: NDArray[np.int64]
) -> tuple[Floats, Noise, Floats]:
    """The unbiased estimate votes / hit of Hadamard response, its noise and its standard error;
    ``blocks`` counts the reports in each block.

    Only reports in a value's own block vote for or against it. A vote for the sender's own value
    has mean ``hit``, for another one mean 0, so the variance of a sum of votes is the mean number
    of votes cast, for which the number cast stands, less hit^2 per holder. That number also holds
    an estimate of how many users hold the block's other values; a value alone in its block has no
    such others, and its variance is known.
    """
    own, block = randomizer.hit, randomizer.block_of
    cast = blocks[block].astype(np.float64)
    values: Floats = votes / own
    # Far: how often a report strays into a given other block.
    held, far = np.clip(values, 0.0, n), (1.0 - own) / randomizer.blocks
    alone = np.bincount(block)[block] == 1
    variance = held * own * (1.0 - own) + np.where(alone, n * far, np.maximum(cast - held * own, 0.0))
    third = held * own * (1.0 - 3.0 * (own + far) + 2.0 * own**2)
    skew = np.divide(third, variance * own, out=np.zeros_like(values), where=variance > 0.0)
    base, slope = np.where(alone, n * far, cast) / own**2, np.where(alone, (1.0 - own) / own, -1.0)
    # Of the votes cast, one more is for it where one less is against: they move in steps of two.
    noise = Noise(base, slope, skew, 1.0 / own, Signed(votes, n, own, cast=blocks[block]), grain=2.0 / own)
    return values, noise, np.sqrt(variance) / own


def unmixed(counts: NDArray[np.int64], n: int, randomizer: Unmixed) -> tuple[Floats, Noise, Floats]:
    """The unbiased estimate from how often each report came, its noise and its standard error.

    The variance of a value's count depends on what all others hold. The standard error has the
    estimates in their place; the interval has whatever is worst for that value, and where single
    reports can move the estimate too far for a normal law, a bound that holds for any.
    """
    values: Floats = np.asarray(counts @ randomizer.weights, dtype=np.float64)
    held = np.clip(values, 0.0, n)
    held = held * (n / held.sum()) if held.any() else np.full_like(values, n / randomizer.k)
    variance = held @ randomizer.variances
    own = np.diag(randomizer.variances)
    others = np.max(np.where(np.eye(randomizer.k, dtype=bool), 0.0, randomizer.variances), axis=0)
    skew = np.divide(held @ randomizer.skews, variance, out=np.zeros_like(values), where=variance > 0.0)
    above, below = randomizer.reach
    law = Bounded(values, n, own=own, others=others, above=above, below=below)
    unit = np.maximum(above, below)
    unit[unit == 0.0] = 1.0  # a report without noise
    grain = widest_gap(randomizer.weights.T)
    return values, Noise(n * others, own - others, skew, unit, law, grain), np.sqrt(variance)


def widest_gap(weights: Floats) -> Floats:
    """How far apart two neighboring estimates are at most, each a sum of its row of reports'
    ``weights``: the farthest from one weight to the next larger one.

    >>> widest_gap(np.array([[3.0, 0.0, 1.0]])).tolist()
    [2.0]
    """
    widest: Floats = np.diff(np.sort(weights, axis=1), axis=1).max(axis=1, initial=0.0)
    return widest


def opened(
    counts: ArrayLike, randomizer: VotingRandomizer, most: int
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """What ``tally`` adds up to, in its parts: the reports, those in each block, and the votes."""
    seen = np.asarray(counts)
    head = 1 + randomizer.blocks
    if seen.shape != (head + randomizer.k,) or seen.dtype.kind not in "iu" or not 1 <= seen[0] <= most:
        raise InvalidInput(
            f"counts must be what tally(...) adds up to for at most n = {most} reports, got shape {seen.shape}. Add up "
            f"the tallies of a bag."
        )
    blocks = seen[1:head]
    if len(blocks) and (blocks.min() < 0 or blocks.max() > most or blocks.sum() != seen[0]):
        raise InvalidInput(
            f"counts must say of every report in which block it is, got {seen[0]} reports and others in the blocks. "
            f"Add up the tallies of a bag."
        )
    return int(seen[0]), blocks, seen[head:]


def debiased(
    votes: NDArray[np.int64], n: int, randomizer: VotingRandomizer, blocks: NDArray[np.int64]
) -> tuple[Floats, Noise, Floats]:
    """The unbiased estimate from the votes of n reports, its noise and its standard error."""
    if isinstance(randomizer, Unmixed):
        return unmixed(blocks, n, randomizer)
    if randomizer.blocks:
        return signed(votes, n, randomizer, blocks)
    values, noise = inversion(votes, n, randomizer.hit, randomizer.miss, randomizer.contrast)
    return values, noise, noise.stderr(np.clip(values, 0.0, n))


def simplex(values: Floats, total: float) -> Floats:
    """The nearest point, in Euclidean distance, with entries of at least 0 that sum to ``total``.

    It is max(values - t, 0) for the one t that gives the sum (Held, Wolfe and Crowder 1974). It
    never increases the squared error.

    >>> simplex(np.array([6.0, 5.0, -1.0]), 10.0).tolist()
    [5.5, 4.5, 0.0]
    """
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    kept = int(np.flatnonzero(falling > excess)[-1])
    projected: Floats = np.maximum(values - excess[kept], 0.0)
    return projected


def likelihood(counts: NDArray[np.int64], hit: float, miss: float) -> Floats:
    """The maximum-likelihood counts for k-ary randomized response: where EM (iterative Bayesian
    updating) converges to.

    The log-likelihood sum of counts log(miss + (hit - miss) share) is concave in the shares; its
    maximum over the simplex is share = max(counts / t - miss / (hit - miss), 0) for the one t that
    makes them sum to 1. Sorting finds t exactly, so there is no stopping rule to trust.

    >>> likelihood(np.array([70, 25, 5]), hit=0.8, miss=0.1).round(3).tolist()
    [80.451, 19.549, 0.0]
    """
    offset, total = miss / (hit - miss), float(counts.sum())
    falling = np.sort(counts)[::-1].astype(np.float64)
    scale = np.cumsum(falling) / (1.0 + offset * np.arange(1, len(counts) + 1))
    kept = int(np.flatnonzero(falling > offset * scale)[-1])
    shares = np.maximum(counts / scale[kept] - offset, 0.0)
    estimated: Floats = total * shares / shares.sum()
    return estimated
