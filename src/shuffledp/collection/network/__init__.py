"""A collection over the network: clients randomize and seal, a shuffler stores what it cannot read,
an analyst opens a multiset.

collection_file  what everybody agrees on: design, analyst's key, shuffler, round, times; its digest
addresses        of shufflers that are safe to send to
sealing          reports in envelopes that the analyst's key alone opens (HPKE)
codes            invitations: one report for each, and no trace of which
organizing       before anybody reports: the collection and its key, invitations
wire             what goes over HTTP: addresses, records, limits, the words of a refusal
sealed_file      what the shuffler releases: envelopes in the order of their bytes
shuffler         what takes envelopes over HTTP, and releases them without their order
stores           where envelopes wait: nothing acknowledged that is not there, no order of arrival
"""
