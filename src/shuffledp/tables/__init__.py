"""From files to counted reports: people's values in, randomized reports, shuffled, added up.
Nothing here knows what privacy that gives.

formats          CSV, Parquet and Arrow, in batches
memory           data frames, arrays and lists, likewise
profile          a first look at a table
columns          one column of a table, or several joined
cleaning         what of a messy table is forgiven
values           its values as the randomizer takes them: places among categories, or numbers
spelled          words as rows of symbols, for a search
spool            rows kept for later, in memory and then on disk
people           one row for each person
reports          the file that clients send and the shuffler releases
counted_reports  what an engine hands to the analyst instead: their counts
permutation      many files of reports to one, in a uniformly random order, larger than memory
tallying         the same in one process: reports are added up as they are made, and never stored
"""

from __future__ import annotations

from shuffledp.schema import Keep
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning
from shuffledp.tables.columns import Column, ColumnName, open_column
from shuffledp.tables.counted_reports import CountedReports, holds_counts, read_counted, write_counted
from shuffledp.tables.people import KEEPING, Chosen, Persons
from shuffledp.tables.permutation import shuffle_files
from shuffledp.tables.reports import Header, ReportsFile, open_reports, write_reports
from shuffledp.tables.spelled import Spelled
from shuffledp.tables.spool import batch_rows
from shuffledp.tables.tallying import tally, tally_file
from shuffledp.tables.values import (
    JoinedPlaces,
    Numbers,
    OneValue,
    Places,
    Reader,
    Values,
    choose_rows,
    prepared,
    read,
    reader_of,
)

__all__ = [
    "AS_WRITTEN",
    "KEEPING",
    "Chosen",
    "Cleaning",
    "Column",
    "ColumnName",
    "CountedReports",
    "Header",
    "JoinedPlaces",
    "Keep",
    "Numbers",
    "OneValue",
    "Persons",
    "Places",
    "Reader",
    "ReportsFile",
    "Spelled",
    "Values",
    "batch_rows",
    "choose_rows",
    "holds_counts",
    "open_column",
    "open_reports",
    "prepared",
    "read",
    "read_counted",
    "reader_of",
    "shuffle_files",
    "tally",
    "tally_file",
    "write_counted",
    "write_reports",
]
