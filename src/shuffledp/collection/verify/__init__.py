"""A report, checked: every number computed again by a slow oracle that shares no code with what
made it.

law           a randomizer's law from its integers, by counting, in fractions
oracle        delta of a design between two ends, by direct sums
certificate   the certified intervals against the oracle
estimates     estimates and standard errors from the votes
intervals     confidence limits from their definition
comparison    what other kinds of trust would cost
consistency   counts, promises and hashes
form          names and types of all that a report holds
words         method, assumptions and adversary
shown         what a page shows, against its own facts
beside        the estimates.csv beside it
recorded      what its ledger says
effort        how much work all this may be
checks        one line of a verification
run           all of it
"""

from shuffledp.collection.verify.effort import SECONDS
from shuffledp.collection.verify.outcomes import Check
from shuffledp.collection.verify.verification import Verification, verify

__all__ = ["SECONDS", "Check", "Verification", "verify"]
