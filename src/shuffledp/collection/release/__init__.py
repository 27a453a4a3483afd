"""From a table to a defended answer: the room that joins pipeline, protocols, ledger and report.

terms        what is promised, and which answers count
question     a question about a column of a table
certificate  what a privacy officer signs
facts        everything about a release, as one JSON object
budget       a release in the ledger
write        the folder that a release leaves
run          all of it in one process, or stage by stage: encode, shuffle, analyse
"""
