"""The budget of a population: every release is recorded before it is made, and one that would
exceed the limit is refused.

entry   what is to be released, as plain data: randomizers with their integers, users, rounds
in_advance  series that were paid for before their weeks are released
alike   many mechanisms, counted as a few that are harsher
total   everything released over the same users, composed
fit     the largest release that would still fit, and how many more of the same
names   of populations, and which of them look alike
schema  tables that only grow, and the proof that a file has these and nothing else
seal    the chain of hashes that makes a change visible
store   the SQLite file: locked, read, written and read back, and what to say when it cannot be used
book    the ledger read as it stands
check   what is wrong with it
export  the ledger as JSON and as CSV
charging  on what terms a release is charged, and what would fit
spend   ``Ledger``: spend, begin, publish, and questions

Recorded is spent. A release whose program was stopped before its output stood is still counted:
nobody can tell what was seen of it.

>>> import tempfile
>>> from pathlib import Path
>>> from shuffledp import KRR, shuffle
>>> ledger = Ledger(Path(tempfile.mkdtemp()) / "budget.sqlite")
>>> survey = shuffle(KRR(k=16, epsilon0=4.0), n=10_000)
>>> entry = Entry.of(
...     survey, what="histogram of city", design="0" * 64, epsilon=0.5, delta=1e-6
... )
>>> receipt = ledger.spend("app-users", entry, limit_epsilon=1.0, limit_delta=1e-6)
>>> receipt.id, receipt.releases, round(receipt.total.upper, 3)
(1, 1, 0.362)
>>> ledger.publish(receipt.id, "1" * 64)
>>> [release.state for release in ledger.releases("app-users")]
['published']
"""

from shuffledp.collection.ledger.book import Release
from shuffledp.collection.ledger.charging import OverLimit, Receipt
from shuffledp.collection.ledger.check import Check
from shuffledp.collection.ledger.entry import Entry, Part, Turn
from shuffledp.collection.ledger.export import write_csv, write_json
from shuffledp.collection.ledger.in_advance import PaidSeries
from shuffledp.collection.ledger.names import check_name
from shuffledp.collection.ledger.seal import Population
from shuffledp.collection.ledger.spend import Ledger

__all__ = [
    "Check",
    "Entry",
    "Ledger",
    "OverLimit",
    "PaidSeries",
    "Part",
    "Population",
    "Receipt",
    "Release",
    "Turn",
    "check_name",
    "write_csv",
    "write_json",
]
