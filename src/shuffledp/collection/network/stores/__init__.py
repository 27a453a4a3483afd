"""Where envelopes wait for the analyst.

interface        what the shuffler asks of a store: add, count, close, release
admission        which uploads are taken, decided before anything is written
fingerprints     which envelopes there are, in little memory
sealed_dummies   what the shuffler drops and adds at the close, where the law asks for that
sqlite_store     one file, one shuffler
postgres_server  what is asked of a database's server, and what is wiped from its files
postgres_store   tables in PostgreSQL, for several shufflers
store_places     the store that a command names
"""
