"""The truth, by brute force: slow, obvious, and independent of everything it checks.

oracle       delta of a design between two ends, by direct sums
supports     whom reports support, and what that hides: haystacks and first-clone swaps
laws         the laws of randomizers, levels and messages from their integers, in fractions
fakes        true values among fakes, from their integers, and what that hides
shares       noise that people share: counts by +1 and -1, sums by split and mix
rows         estimates, standard errors and limits from the votes, of a tree of bins too
answers      the same of groups of places, of bins and of numbers, whichever the law
effort       how much the judge computes before it says that a part is too large
enumeration  the exact laws of a handful of users' shuffled reports; binary ones on every dataset
lattice      the law of a sum on a lattice, and the needle in the haystack, between two ends
balls        the same in ball arithmetic, where python-flint is installed
composition  several rounds of one pair, from its curve
reports      whom a report supports, and the law that a design says
clones       the first-clone swap for any number of users, from above
messages     fakes, dummies and shares, for any number of people

>>> [float(f"{delta:.3e}") for delta in worst_delta(krr(3, 1.0), n=6, epsilons=[0.5, 0.9])]
[0.03877, 0.00348]
"""

from shuffledp.judge.enumeration import (
    blanket,
    hadamard,
    haystack_delta,
    hockey_stick,
    krr,
    local_hash,
    neighbouring_laws,
    rounds_delta,
    shuffled_law,
    strong_delta,
    subset,
    unary,
    weak_delta,
    worst_delta,
    worst_epsilon,
)

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
    "unary",
    "weak_delta",
    "worst_delta",
    "worst_epsilon",
]
