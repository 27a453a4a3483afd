"""Where envelopes wait for the analyst.

store         what the shuffler asks of a store: add, count, close, release
fingerprints  which envelopes there are, in little memory
sqlite        one file, one shuffler
postgres      tables in PostgreSQL, for several shufflers
store_places  the store that a command names
"""
