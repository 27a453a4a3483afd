"""Counts by messages +1 and -1: what is seen of one person (Ghazi et al. 2021).

Holders send +1. Each person adds shares of two noises N+ and N- of the law NB(t, q), as so many +1
and -1, and pairs (+1, -1), F in all: a negative binomial number, or its limit, a Poisson number.
Seen are the numbers of +1 and of -1, and a person's value moves the first: W(a, b) =
P(N+ + F = a, N- + F = b) against W(a - 1, b).

*t = 1.* Both noises are geometric, and W(a, b) = (1-q)^2 q^|a-b| U(min(a, b)), U(m) = q^2 U(m-1) +
P(F = m). So W(a-1, b) / W(a, b) is 1/q wherever a > b, and q U(a-1) / U(a) wherever a <= b, where
the sum over b of W is (1-q) U(a): one line of atoms is the whole pair.

*Another t*, where fewer or more honest people came than the noise was meant for: W is added up
along every diagonal a - b.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from shuffledp._types import Floats
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.messages.discrete_pair import DiscretePair
from shuffledp.accounting.messages.noise_shares import OUTSIDE, negative_binomial, poisson, poisson_reach, reach
from shuffledp.errors import InvalidInput

__all__ = ["Pairs", "signed_pair"]

MOST_TERMS = 1e9  # products that are added up where there is no closed form: a second
NAME = "one person's value moves the number of +1"


class Pairs(NamedTuple):
    """How many pairs there are in all: a negative binomial number with this ``mean`` and ``ratio``,
    which is a Poisson number if that is 0.
    """

    mean: float
    ratio: float = 0.0

    def law(self) -> tuple[Floats, float]:
        """The probabilities of 0, 1, ..., and how far each may be off, relatively."""
        if self.mean == 0.0:
            return np.ones(1), 0.0
        if self.ratio == 0.0:
            return poisson(self.mean, poisson_reach(self.mean, OUTSIDE))
        t = self.mean * (1.0 - self.ratio) / self.ratio
        return negative_binomial(t, self.ratio, reach(t, self.ratio, OUTSIDE))


@lru_cache(maxsize=16)
def signed_pair(t: float, ratio: float, pairs: Pairs) -> DiscretePair:
    """The numbers of +1 and -1 with the target's + 1, against those without."""
    flood, doubt = pairs.law()
    return _complete(ratio, flood, doubt) if t == 1.0 else _partial(t, ratio, flood, doubt)


def _complete(q: float, pairs: Floats, doubt: float) -> DiscretePair:
    from scipy.signal import lfilter  # slow to import, and needed for these laws only

    u = lfilter([1.0], [1.0, -q * q], pairs)  # all terms positive
    before = np.append(0.0, u[:-1])
    # Beyond the last pair U falls by q^2 at every step, and the ratio is 1/q once more.
    alike = (1.0 + q * u[-1]) / (1.0 + q)
    first = np.append((1.0 - q) * q * before, alike)
    second = np.append((1.0 - q) * u, q * alike)
    # U(m) forgets what was before it at the rate q^2, and so the rounding of q, too.
    return DiscretePair(NAME, first, second, doubt + UNIT * (16.0 + 8.0 / (1.0 - q)), 2.0 * OUTSIDE)


def _partial(t: float, q: float, pairs: Floats, doubt: float) -> DiscretePair:
    most = reach(t, q, OUTSIDE)
    if (terms := float(most) ** 2 * (pairs.size + most)) > MOST_TERMS:
        raise InvalidInput(
            f"the noise must be complete, or so small that {MOST_TERMS:.0e} terms add it up, got {t:g} of it and "
            f"{terms:.0e} terms. Describe the law for as many honest people as there are."
        )
    noise, own = negative_binomial(t, q, most)
    padded = np.append(noise, np.zeros(most + 1))
    # diagonal[j, d] = P(N = j) P(N = j + d); W_d(m) = sum over j of P(F = m - j) diagonal[j, d]
    diagonal = noise[:, None] * sliding_window_view(padded, most + 1)[: most + 1]
    flooded = sliding_window_view(np.concatenate([np.zeros(most), pairs, np.zeros(most + 1)]), most + 1)[:, ::-1]
    w = (flooded @ diagonal).T
    apart = np.vstack([w, np.zeros((1, w.shape[1]))])
    earlier = np.hstack([np.zeros((apart.shape[0], 1)), apart[:, :-1]])
    # a > b: W_(d-1)(b) against W_d(b); a <= b: W_(d+1)(a - 1) against W_d(a).
    first = np.concatenate([apart[:-1].ravel(), earlier[1:].ravel()])
    second = np.concatenate([apart[1:].ravel(), apart[:-1].ravel()])
    return DiscretePair(NAME, first, second, doubt + 2.0 * own + UNIT * (most + 16.0 + 8.0 / (1.0 - q)), 4.0 * OUTSIDE)
