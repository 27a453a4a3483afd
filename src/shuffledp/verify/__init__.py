"""A page, checked: every number computed again by a slow oracle that shares no code with what
made it.

verification       all of it, in order
check_page         what a page shows, against its own facts
check_consistency  the design; counts, promises and hashes; whether clients could run it
check_sentences    method, assumptions and adversary
answers            what the votes tell, by the task
check_search       the levels of a search for frequent words
check_table        the estimates.csv beside it
check_ledger       what its ledger says
check_certificate  the certified intervals, against the oracle
check_comparison   what other kinds of trust would cost
counted            cells and shares of a crosstab, people below cut points, quantiles
outcomes           one line of a verification
"""

from shuffledp.judge.effort import SECONDS
from shuffledp.verify.check_ledger import KeptLedger
from shuffledp.verify.outcomes import Check
from shuffledp.verify.verification import Verification, verify

__all__ = ["SECONDS", "Check", "KeptLedger", "Verification", "verify"]
