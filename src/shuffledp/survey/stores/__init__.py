"""Where envelopes wait for the analyst.

store         what the shuffler asks of a store: add, count, close, release; how it is named
fingerprints  which envelopes there are, in little memory
sqlite        one file, one shuffler
postgres      tables in PostgreSQL, for several shufflers
"""
