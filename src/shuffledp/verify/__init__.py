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
``judge`` is a ``handed.Judge``:

law, law_of(mechanism)    the law of the design, read by the judge; that of another mechanism
effort, TooLarge, UNIT    what the judge may still compute; what it raises if a part is too large
equal, holds, agree,      one line of a verification: each returns a ``Check``
unchecked, vital
answers(*families)        whether one of these families of laws answers the question
domain(expected)          whether the stored domain is the one that the question resolves to
shaped(rows, votes)       whether estimates and votes are as many as these
listed(categories)        places and labels of the rows of a page, of which LISTED at most
wrong(checks)             whether one of these failed, so that the rest need not be asked
complete(**there)         which optional parts of the estimates there must be: no more, no less
people, groups, bins,     how many people hold each place, one of several places, or bins; a mean or
number, ends              a sum; who is at the ends of its range. An ``Estimated`` each: values,
                          errors, ``limits(tail)``, and ``within``, how close a claim must come
counts(votes, n, hit,     the same of numbers of votes, each of n people, by any two chances
miss)
moved, moved_bins         how far one report moves an estimate
table(labels, found,      every column of the estimates, each a ``Check``; ``together`` is of how
influence, ...)           many the limits hold at once, if not of all
compared(**measure)       how an error to expect is measured, for what other kinds of trust cost
later(part, checks)       what needs the oracle: a function that returns checks. It is run last, and
                          only if nothing is wrong before; that of another package at once
oracle(law, people,       delta of a law, between two ends
rounds)

It imports nothing of ours, returns checks of title, labels, domain and every column of every table,
and may raise: then its part has not been verified, and neither has the page. Epsilon, delta and the
tally are judged here alone.
"""

from shuffledp.judge.effort import SECONDS
from shuffledp.verify.outcomes import Check
from shuffledp.verify.verification import Verification, files_beside, verify

__all__ = ["SECONDS", "Check", "Verification", "files_beside", "verify"]
