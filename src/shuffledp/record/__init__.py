"""A release, written down: what was asked, the design, what was counted, the certificate and the
estimates, typed and versioned. Release, page and verify read this, and no dict.

parts           what was asked, counted and certified, and what the ledger said
record          the record of one release, its tables, its hashes, and how a page holds it

Until release 1.0 there is one format, and it may change: a name that this version does not know,
or the lack of one that it needs, is refused. Fields are written in the order in which they were
read, or, in a new record, in the order of their class.
"""

from shuffledp.questions.table import Table
from shuffledp.record.parts import (
    Alternative,
    Certificate,
    Collected,
    Context,
    Counted,
    Curve,
    DeltaBound,
    EpsilonBound,
    InSeries,
    LedgerEntry,
    Limit,
    Made,
    Tally,
    Total,
)
from shuffledp.record.record import FORMAT, HASHED, VERSION, Hashes, Record, data_block, embedded_json, read_record

__all__ = [
    "FORMAT",
    "HASHED",
    "VERSION",
    "Alternative",
    "Certificate",
    "Collected",
    "Context",
    "Counted",
    "Curve",
    "DeltaBound",
    "EpsilonBound",
    "Hashes",
    "InSeries",
    "LedgerEntry",
    "Limit",
    "Made",
    "Record",
    "Table",
    "Tally",
    "Total",
    "data_block",
    "embedded_json",
    "read_record",
]
