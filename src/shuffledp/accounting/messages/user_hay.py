"""Fakes that users send: what they hide, as a haystack.

Of every honest person's ``slots`` slots each holds, with probability ``chance``, a fake: a uniform
value; else a blank. Whoever knows what all others hold sees the target's report among those fakes,
the target's own included.

*True reports.* The needles are point masses and the hay is the fakes, so both ends are one number.

*Reports randomized by k-RR.* Another person's report is uniform with probability gamma =
k / (e^eps0 + k - 1), and then it is hay, too. A slot is therefore like another person of k-RR with
gamma = ``chance``, whose truth everybody knows: the theorem of groups covers both. Its lower ends
look at the reports that are neither blank nor v, what all others hold: slots and people send those
alike.

``fake_users`` send a vector of k bits without any set, each bit flipped as in a true one (Cheu and
Zhilyaev 2022).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from shuffledp.accounting.haystack import Haystack, MixedBlanket, MixedDataset, Needle
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.messages.fakes import DiscretePair
from shuffledp.accounting.reductions import Curve
from shuffledp.errors import InvalidInput, check_count, check_probability
from shuffledp.randomizers.randomizer import Atoms

__all__ = ["fake_users", "uniform_fakes", "uniform_fakes_and_reports"]

FEW = 400.0  # fakes of a value: so many pairs of counts are sooner listed than integrated over
OUTSIDE = 2e-40  # Chernoff: less than that is more than 14 deviations and 66 away
ROUNDED = 1e-13  # relative, of a chance that became a parameter and is a chance again


def uniform_fakes(buckets: int, fakes: int, chance: float) -> Curve:
    """True reports among ``fakes`` fakes, each of which is sent with probability ``chance`` and
    names a uniformly random bucket (Luo, Wang and Yi 2022).
    """
    buckets = check_count("buckets", buckets, least=2, remedy="A report names one of them.")
    fakes = check_count("fakes", fakes, least=1, remedy="Without fakes nothing is hidden.")
    chance = check_probability("chance", chance, one=True, remedy="It is the probability that a fake is sent.")
    name, share = f"{fakes} uniform fakes", chance / buckets
    if fakes * share <= FEW:
        return _counted(name, fakes, share)
    atoms = Atoms(name, np.array([share, share]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    return Haystack.of(atoms, fakes + 1)


def _counted(name: str, fakes: int, share: float) -> DiscretePair:
    """The same, where there are few fakes of a value, by all pairs of counts (a, b): fakes! /
    ((fakes - a - b)! a! b!) share^(a+b) (1 - 2 share)^(fakes-a-b), which depends on a + b but for
    a! b!.
    """
    mean = fakes * share
    most = min(math.ceil(mean + 14.0 * math.sqrt(mean) + 66.0), fakes)
    one, both = np.arange(most + 1), np.arange(2 * most + 1)
    left, possible = np.maximum(fakes - both, 0.0), both <= fakes
    # Factor by factor: by log-gamma, a large number of fakes would lose all digits.
    ways = np.append(0.0, np.cumsum(np.log(np.maximum(left[:-1], 1.0))))
    none = left * math.log1p(-2.0 * share) if share < 0.5 else np.where(left > 0.0, -np.inf, 0.0)
    logs = np.where(possible, ways + both * math.log(share) + none, -np.inf)
    apart = gammaln(one + 1.0)
    law = np.exp(logs[np.add.outer(one, one)] - np.add.outer(apart, apart))
    doubt = 8.0 * UNIT * (float(ways[-1] + 2.0 * apart[-1]) + 2.0 * most * -math.log(share) + 16.0)
    first, second = np.zeros((2, most + 2, most + 2))
    first[1:, :-1] = law
    second[:-1, 1:] = law
    return DiscretePair(name, first.ravel(), second.ravel(), doubt, OUTSIDE)


def uniform_fakes_and_reports(
    k: int, epsilon0: float, others: int, fakes: int, chance: float
) -> tuple[MixedBlanket, tuple[Curve, ...]]:
    """An upper end for a report of k-RR among those of ``others`` and among ``fakes``, and lower
    ends.
    """

    def needle(share: float) -> Needle:
        known = math.log1p(k * (1.0 - share) / share)
        groups = ((epsilon0, others), (known, fakes))
        return Needle(k, epsilon0, tuple((each, number) for each, number in groups if number))

    # Fewer fakes hide less, and more of them hide more: rounding does no harm.
    upper = MixedBlanket(needle(chance * (1.0 - ROUNDED)))
    held = MixedBlanket(needle(min(chance * (1.0 + ROUNDED), 1.0)))
    return upper, tuple(MixedDataset(held, holder=holder) for holder in range(min(k, 3)))


def fake_users(fakes: int, flip: float) -> Haystack:
    """A true one-hot vector among ``fakes`` vectors of zeros, all bits flipped with probability
    ``flip``: four classes of vectors, by their bits at the target's two values.
    """
    fakes = check_count("fakes", fakes, least=1, remedy="Without fakes nothing is hidden.")
    flip = check_probability("flip", flip, remedy="It is the probability that a bit is flipped.")
    if flip > 0.5:
        raise InvalidInput(f"flip must be at most 0.5, got {flip!r}. Above, a bit says the opposite: use 1 - flip.")
    kept = 1.0 - flip
    # The bits (at x0, at x1) are 10, 01, 11, 00.
    hay = np.array([flip * kept, kept * flip, flip * flip, kept * kept])
    first = np.array([kept * kept, flip * flip, kept * flip, flip * kept])
    second = np.array([flip * flip, kept * kept, flip * kept, kept * flip])
    return Haystack.of(Atoms(f"{fakes} fake users", hay, first, second), fakes + 1)
