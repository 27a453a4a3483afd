"""A page, checked: every number computed again by a slow oracle that shares no code with what
made it.

verification       all of it, in order
check_page         what a page shows, against its own facts
check_design       its integers, and whether clients could run it
check_consistency  counts, promises and hashes
check_sentences    method, assumptions and adversary
by_task            what the votes tell, by the task
check_shares       shares within the groups of a crosstab
check_second_law   the law of those who count what a search found
check_search       the levels of a search for frequent words
check_symbols      the words of a search, symbol by symbol
check_table        the estimates.csv beside it
check_ledger       what its ledger says
check_certificate  the certified intervals, against the oracle
check_comparison   what other kinds of trust would cost
oracle             delta of a design between two ends, by direct sums
counted_law        a randomizer's law from its integers, by counting, in fractions
counted_messages   what a design says of a law of several messages
counted_fakes      true values among fakes, from their integers, and what that hides
counted_tree       the same of dummies in all levels of a tree of bins
counted_levels     one of several levels of bins
counted_shares     noise that people share: counts by +1 and -1, sums by split and mix
counted_estimates  estimates, standard errors and limits from the votes
counted_tables     cells, sums and shares of a crosstab from the votes
counted_intervals  confidence limits from their definition
counted_distribution  people below cut points, and quantiles
outcomes           one line of a verification
effort             how much work all this may be
"""

from shuffledp.collection.verify.check_ledger import KeptLedger
from shuffledp.collection.verify.effort import SECONDS
from shuffledp.collection.verify.outcomes import Check
from shuffledp.collection.verify.verification import Verification, verify

__all__ = ["SECONDS", "Check", "KeptLedger", "Verification", "verify"]
