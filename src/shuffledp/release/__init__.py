"""From a table to a defended answer: tables, mechanisms, ledger and page joined. Nothing here knows
a question: what is particular to one is in its folder.

options        what an option is, and those that questions share, for command and Python
arguments      what was given of them, read: rows, promise, budget
categories     categories as options give them
request        a question, the columns with the answers, and how they are read
answered       a request is read and carried out
certificate    what a privacy officer signs
facts          everything about a release, as its record
budget         a release in the ledger
write          the folder that a release leaves
rows           the estimates as a table, and shares within groups
sentences      what terminal and notebook say of a release
notebook       a release in a notebook
released       a release, for whoever asked
top_release    a search for them, carried out and recorded
finishing      a tally becomes a release that stands
stages         all of it in one process, or stage by stage: encode, shuffle, analyse
"""
