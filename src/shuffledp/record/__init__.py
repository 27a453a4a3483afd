"""A release, written down: what was asked, the design, what was counted, the certificate and the
estimates, typed and versioned. Release, page and verify read this, and no dict.

task_kinds      tasks by kind: what a release of each has in its record
asked_about     what was asked, when, and of which series
designed        the design as it was written, and the law in it
counted_people  the people, how their reports came, the levels of a search, the votes
guaranteed      the certificate, and what other kinds of trust would bring
estimated       the estimates, and what some tasks add to them
charged         what the ledger said
whole           the record of one release, and the hashes that hold its parts together
text            the record inside a page, or in the JSON beside it

Until release 1.0 there is one format, and it may change: a name that this version does not know,
or the lack of one that it needs, is refused. Fields are written in the order in which they were
read, or, in a new record, in the order of their class.
"""

from shuffledp.record.asked_about import Asked, InSeries, Made
from shuffledp.record.charged import LedgerEntry, Limit, Total
from shuffledp.record.counted_people import Collected, Counted, Searched, SearchLevel, Tally
from shuffledp.record.designed import Designed, WrittenLaw
from shuffledp.record.estimated import AtQuantiles, Ends, Estimates, GroupShares, InRanges
from shuffledp.record.guaranteed import Alternative, Certificate, Curve, DeltaBound, EpsilonBound
from shuffledp.record.text import data_block, embedded_json, read_record
from shuffledp.record.whole import FORMAT, HASHED, VERSION, Hashes, Record

__all__ = [
    "FORMAT",
    "HASHED",
    "VERSION",
    "Alternative",
    "Asked",
    "AtQuantiles",
    "Certificate",
    "Collected",
    "Counted",
    "Curve",
    "DeltaBound",
    "Designed",
    "Ends",
    "EpsilonBound",
    "Estimates",
    "GroupShares",
    "Hashes",
    "InRanges",
    "InSeries",
    "LedgerEntry",
    "Limit",
    "Made",
    "Record",
    "SearchLevel",
    "Searched",
    "Tally",
    "Total",
    "WrittenLaw",
    "data_block",
    "embedded_json",
    "read_record",
]
