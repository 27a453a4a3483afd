"""What every certificate says, whatever its design: who is protected, against whom, and on what
premises.
"""

__all__ = ["ADJACENCY", "ADVERSARY", "COUNTS", "ONE_ROW", "WORDINGS"]

ADJACENCY = "replace one: two data sets are neighbours if they differ in one person's value"
ADVERSARY = "the analyst, and whoever reads the results, sees the shuffled reports and nothing else"
ONE_ROW = "every row of the table is another person; who has several rows is protected less, as by a group of people"
COUNTS = "how many people report, and how many values are missing, may be known: both are published as they are"

# Every sentence that a certificate can hold, with all its wordings, the newest last: an older one
# stays true. {rounds} stands for their number.
WORDINGS: dict[str, tuple[str, ...]] = {
    "adjacency": (ADJACENCY,),
    "adversary": (ADVERSARY,),
    "blanket": ("privacy blanket (Balle et al. 2019, Lemma 8)",),
    "scan": ("scan over all datasets of binary randomized response (docs/theory.md)",),
    "composed": ("; {rounds} rounds composed as privacy loss distributions",),
    "replace one": ("replace-one adjacency: neighbouring datasets differ in one user's value",),
    "shuffler": ("the shuffler releases only the multiset of the reports and does not collude with the analyst",),
    "fresh randomness": ("every honest user draws fresh, independent randomness from exactly this randomizer",),
    "ideal hash": (
        "every user draws an ideal, uniformly random hash function (what runs: the MurmurHash3 finaliser with a 64-bit "
        "seed)",
    ),
    "fresh rounds": (
        "every round uses fresh randomness and a fresh permutation; data, and the choice of later rounds, may depend "
        "on what was released",
    ),
    "rows": (ONE_ROW,),
    "counts": (COUNTS,),
}
