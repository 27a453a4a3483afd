"""Where envelopes wait for the analyst.

interface      what the shuffler asks of a store: add, count, close, release
admission      which uploads are taken, decided before anything is written
sqlite_store   one file, one shuffler
store_places   the store that a command names
"""
