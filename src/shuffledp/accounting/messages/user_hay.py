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

from shuffledp.accounting.haystack import Haystack, MixedBlanket, MixedDataset, Needle
from shuffledp.accounting.reductions import Curve
from shuffledp.errors import InvalidInput, check_count, check_probability
from shuffledp.randomizers.randomizer import Atoms

__all__ = ["fake_users", "uniform_fakes", "uniform_fakes_and_reports"]

ROUNDED = 1e-13  # relative, of a chance that became a parameter and is a chance again


def uniform_fakes(buckets: int, fakes: int, chance: float) -> Haystack:
    """True reports among ``fakes`` fakes, each of which is sent with probability ``chance`` and
    names a uniformly random bucket (Luo, Wang and Yi 2022).
    """
    buckets = check_count("buckets", buckets, least=2, remedy="A report names one of them.")
    fakes = check_count("fakes", fakes, least=1, remedy="Without fakes nothing is hidden.")
    chance = check_probability("chance", chance, one=True, remedy="It is the probability that a fake is sent.")
    share = chance / buckets
    atoms = Atoms(f"{fakes} uniform fakes", np.array([share, share]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    return Haystack.of(atoms, fakes + 1)


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
