"""A page, checked: every number computed again by a slow oracle that shares no code with what
made it.

verification       all of it, in order
check_page         what a page shows, against its own facts
check_consistency  the design; counts, promises and hashes
check_sentences    method, assumptions and adversary
rechecks           what the question's own code says of the answer: found, run, and mistrusted
handed             what that code is handed beside the record
check_table        the tables beside it
check_ledger       what its ledger says
check_certificate  the certified intervals, against the oracle
check_comparison   what other kinds of trust would cost
outcomes           one line of a verification

Nothing here knows which questions there are. The folder of a question (``questions.folder_of``, by
the exact name) has a module ``recheck`` with

    def recheck(record, judge) -> list[Check]

``record`` is the parsed JSON of the record, a dict of its own, which has passed the schema.
``judge`` is a ``handed.Judge``, whose methods say what may be asked of it: whether the law answers
the question (``answers``) and is of the resolved ``domain``; how many people hold each place, one
of several, or a group of bins, or a mean or a sum; one line of a verification, or a whole table of
them; and what is to be done ``later``, with the oracle, if nothing is wrong before.

It imports nothing of ours, returns checks of title, labels, domain and every column of every table,
and may raise: then its part has not been verified, and neither has the page. Epsilon, delta and the
tally are judged here alone.
"""

from shuffledp.judge.effort import SECONDS
from shuffledp.verify.outcomes import Check
from shuffledp.verify.verification import Verification, files_beside, verify

__all__ = ["SECONDS", "Check", "Verification", "files_beside", "verify"]
