"""A release, written down: what was asked, the design, what was counted, the certificate and the
estimates, typed and versioned. Release, page and verify read this, and no dict.

asked_about     what was asked, when, and of which series
question_kinds  questions by kind: what a release of each has in its record
counted_people  the people, how their reports came, the levels of a search, the votes
findings        the estimates, the certificate, other kinds of trust, what the ledger said
whole           the record of one release, its hashes, and how a page holds it

Until release 1.0 there is one format, and it may change: a name that this version does not know,
or the lack of one that it needs, is refused. Fields are written in the order in which they were
read, or, in a new record, in the order of their class.
"""

from shuffledp.record.asked_about import Asked, InSeries, Made
from shuffledp.record.counted_people import Collected, Counted, Tally
from shuffledp.record.findings import (
    Alternative,
    AtQuantiles,
    Certificate,
    Curve,
    DeltaBound,
    Ends,
    EpsilonBound,
    Estimates,
    GroupShares,
    InRanges,
    LedgerEntry,
    Limit,
    Total,
)
from shuffledp.record.whole import FORMAT, HASHED, VERSION, Hashes, Record, data_block, embedded_json, read_record

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
    "Tally",
    "Total",
    "data_block",
    "embedded_json",
    "read_record",
]
