"""A release, written down: what was asked, the design, what was counted, the certificate and the
estimates, typed and versioned. Release, page and verify read this, and no dict.

forms           what a value may be, and how a part of a record is read and written
task_kinds      tasks by kind: what a release of each has in its record
asked_about     what was asked, when, and of which series
designed        the design as it was written, and the law in it
counted_people  the people, how their reports came, the levels of a search, the votes
guaranteed      the certificate, and what other kinds of trust would bring
estimated       the estimates, and what some tasks add to them
charged         what the ledger said
whole           the record of one release, and the hashes that hold its parts together
text            the record inside a page, or in the JSON beside it

Rules of evolution. A record that an earlier version wrote is read for ever, and written again byte
by byte:

- a field is never removed, and its meaning never changes;
- a new field is declared with ``perhaps`` and a default that means what its absence meant: what was
  absent when a record was read is absent when it is written again;
- fields are written in the order in which they were read, or, in a new record, in the order of
  their class; what is new goes last;
- whoever adds a field, or changes a word, a mark or the style of the page, adds an edition (the
  list is beside ``EDITION`` in ``whole``), and the page keeps the words of the earlier ones:
  ``record.since(3)`` tells them apart;
- a name that this version does not know is refused in an edition that it knows; in a later edition
  it is kept as it stands and listed by ``later_names``: it is not checked, and never called false;
- ``version`` changes only if an earlier shuffledp must not read the record at all.
"""

from shuffledp.collection.record.asked_about import Asked, InSeries, Made
from shuffledp.collection.record.charged import LedgerEntry, Limit, Total
from shuffledp.collection.record.counted_people import Collected, Counted, Searched, SearchLevel, Tally
from shuffledp.collection.record.designed import Designed, WrittenLaw
from shuffledp.collection.record.estimated import AtQuantiles, Ends, Estimates, GroupShares, InRanges
from shuffledp.collection.record.guaranteed import Alternative, Certificate, Curve, DeltaBound, EpsilonBound
from shuffledp.collection.record.text import data_block, embedded_json, read_record
from shuffledp.collection.record.whole import EDITION, FORMAT, HASHED, VERSION, Hashes, Record

__all__ = [
    "EDITION",
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
