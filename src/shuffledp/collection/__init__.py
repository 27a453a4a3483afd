"""From data to a defended answer.

record     a release, typed and versioned: what everything below reads
tables     columns, values, reports files, external shuffle, tally; no accounting
client     values -> reports, with a law and a sampler and nothing else
ledger     recorded is spent
page       record -> one HTML page
verify     record -> every number computed again
release    question + values -> record
series     one design, asked every week
engines    the same where the data are: on Spark, on Beam
network    the same between parties that do not trust each other: clients, shuffler, analyst
door       ``sdp.histogram``, ``sdp.mean`` and the other questions, asked from Python
tracking   ``sdp.Series``
"""
