"""A client: one report for each person, whatever fails.

typed_answers  one person's answer, as it is typed
outbox         where sealed reports wait on a device: what is sent again is the same bytes
courier        requests to a shuffler, and which answers are believed
delivering     from an outbox to a shuffler, in uploads of many
sender         a client: draws, seals, stores, sends until it is acknowledged
"""
