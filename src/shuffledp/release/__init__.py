"""From a table to a defended answer: tables, protocols, ledger and page joined.

options            every option of a question, declared once for command and Python
arguments          what was given of them, read into the parts of a question
answered           a question's column is opened and read, and the release made
of_values          ``sdp.histogram``, ``sdp.count``
of_numbers         ``sdp.mean``, ``sdp.sum``, ``sdp.quantile``
of_columns         ``sdp.crosstab``
of_words           ``sdp.top``
request            a question about a column of a table
crossed            a question about several columns at once
stored_question    a question that was written down before there was a table
central_questions  counts, sums and means that several messages answer like a curator
by_task            what a release has of its own, by the question
certificate        what a privacy officer signs
facts              everything about a release, as its record
budget             a release in the ledger
write              the folder that a release leaves
rows               the estimates as a table
share_rows         shares within the groups of a crosstab
sentences          what terminal and notebook say of a release
notebook           a release in a notebook
released           a release, for whoever asked
top_question       a question about the frequent words of a column
top_release        a search for them, carried out and recorded
finishing          a tally becomes a release that stands
stages             all of it in one process, or stage by stage: encode, shuffle, analyse
"""
