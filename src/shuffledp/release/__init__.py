"""From a table to a defended answer: tables, mechanisms, ledger and page joined. Nothing here knows
a question: what is particular to one is in its folder.

options        what an option is, and those that questions share, for command and Python
arguments      what was given of them, read: rows, promise, budget
categories     categories as options give them
request        a question, the columns with the answers, and how they are read
pipeline       a column is read, reports are counted, and a release stands
stages         the same stage by stage, as in a deployment: encode, shuffle, analyse
certificate    what a privacy officer signs
budget         a release in the ledger
files          the estimates as a table, and the folder that a release leaves
released       a release, for whoever asked
notebook       a release in a notebook
top_release    a search for frequent words, carried out and recorded
"""
