"""Where envelopes wait for the analyst.

interface      what the shuffler asks of a store: add, count, close, release
"""
