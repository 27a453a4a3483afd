"""The truth, by brute force: slow, obvious, and independent of everything it checks.

enumeration  the exact laws of shuffled reports of a handful of users, and their divergences
matrices     randomizers as tables of probabilities, to hand to it
lattice      the law of a sum on a lattice, with both ends of its error
summation    the needle in the haystack for any number of users, between two ends
datasets     binary randomized response on every dataset
balls        the same in ball arithmetic, where python-flint is installed
bit_sums     how often each bit of a unary encoding was set
composition  several rounds of one pair, from its curve
first_clone  the first-clone swap for a handful of users, by direct sums
clone_sums   the same for any number of users, from above
message_views  several messages of everybody, for a handful of people
message_sums   the same for any number of people
light_sums     randomized values among fakes or dummies, for any number of people

>>> [float(f"{delta:.3e}") for delta in worst_delta(krr(3, 1.0), n=6, epsilons=[0.5, 0.9])]
[0.03877, 0.00348]
"""

from shuffledp.literature.exact.enumeration import (
    blanket,
    haystack_delta,
    hockey_stick,
    neighbouring_laws,
    rounds_delta,
    shuffled_law,
    strong_delta,
    two_round_delta,
    weak_delta,
    worst_delta,
    worst_epsilon,
)
from shuffledp.literature.exact.matrices import hadamard, krr, local_hash, subset, unary

__all__ = [
    "blanket",
    "hadamard",
    "haystack_delta",
    "hockey_stick",
    "krr",
    "local_hash",
    "neighbouring_laws",
    "rounds_delta",
    "shuffled_law",
    "strong_delta",
    "subset",
    "two_round_delta",
    "unary",
    "weak_delta",
    "worst_delta",
    "worst_epsilon",
]
