"""A collection over the network: clients randomize and seal, a shuffler stores what it cannot read,
an analyst opens a multiset.

collection_file  what everybody agrees on: design, analyst's key, shuffler, round, times; its digest
addresses        of shufflers that are safe to send to
sealing          reports in envelopes that the analyst's key alone opens (HPKE)
all_cores        what seals or opens many envelopes: processes that end with this one
sealing_pool     messages sealed on all cores
codes            invitations: one report for each
organizing       before anybody reports: the collection and its key, invitations
wire             what goes over HTTP: addresses, records, limits, the words of a refusal
web_client       how clients and analyst speak to a shuffler
sealed_file      what the shuffler releases: envelopes in the order of their bytes
sending          a client: draws, seals, stores, sends until it is acknowledged
shuffler         what takes envelopes over HTTP, and releases them without their order
stores           where envelopes wait: nothing acknowledged that is not there, no order of arrival
opening          the analyst: close, fetch, open, count, publish
"""

from typing import TYPE_CHECKING

from shuffledp._lazy import lazy

if TYPE_CHECKING:
    from shuffledp.collection.network.collection_file import Collection, read_collection
    from shuffledp.collection.network.opening.analyst import Analyst
    from shuffledp.collection.network.opening.opening_reports import open_collection
    from shuffledp.collection.network.sealing import AnalystKey, Envelopes
    from shuffledp.collection.network.sending.sender import Client, Receipt

__all__ = [
    "Analyst",
    "AnalystKey",
    "Client",
    "Collection",
    "Envelopes",
    "Receipt",
    "open_collection",
    "read_collection",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "collection.network.opening.analyst": "Analyst",
        "collection.network.collection_file": "Collection read_collection",
        "collection.network.opening.opening_reports": "open_collection",
        "collection.network.sealing": "AnalystKey Envelopes",
        "collection.network.sending.sender": "Client Receipt",
    },
)
