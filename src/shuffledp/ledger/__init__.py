"""The budget of a population: every release is recorded before it is made, and one that would
exceed the limit is refused.

entry        what is to be released, as plain data: randomizers with their integers, users, rounds
series       series that were paid for before their weeks are released
total        everything released over the same users, composed
populations  of populations, and which of them look alike
schema       tables that only grow, the proof that a file has these, and the chain of hashes
file         the SQLite file: locked, read, written, and what to say when it cannot be used
book         the ledger read as it stands
check        what is wrong with it; the ledger as JSON and as CSV
charge       on what terms a release is charged, and what would fit
spending     ``Ledger``: spend, begin, publish, and questions

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

from shuffledp.ledger.book import Release
from shuffledp.ledger.charge import OverLimit, Receipt
from shuffledp.ledger.check import Check, write_csv, write_json
from shuffledp.ledger.entry import Entry, Part, Turn
from shuffledp.ledger.populations import check_name
from shuffledp.ledger.schema import Population
from shuffledp.ledger.series import PaidSeries
from shuffledp.ledger.spending import Ledger

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
