"""A collection over the network: clients randomize and seal, a shuffler stores what it cannot read,
an analyst opens a multiset.

collection_file  what everybody agrees on: design, analyst's key, shuffler, round, times; its digest
addresses        of shufflers that are safe to send to
sealing          reports in envelopes that the analyst's key alone opens (HPKE)
codes            invitations: one report for each, and no trace of which
organizing       before anybody reports: the collection and its key, invitations
typed_answers    one person's answer, as it is typed
outbox           where sealed reports wait on a device: what is sent again is the same bytes
web_client       how anybody speaks to a shuffler: certificates, proxies, no cookies
courier          requests to a shuffler, and which answers are believed
delivering       from an outbox to a shuffler, in uploads of many
sealing_pool     reports sealed on all cores
sender           a client: draws, seals, stores, sends until it is acknowledged
wire             what goes over HTTP: addresses, records, limits, the words of a refusal
sealed_file      what the shuffler releases: envelopes in the order of their bytes
shuffler         what takes envelopes over HTTP, and releases them without their order
stores           where envelopes wait: nothing acknowledged that is not there, no order of arrival
analyst          status, close and fetch: the analyst at the shuffler's door
opening_tasks    a slice of a sealed file -> sums, in whichever process
opening_processes  slices on all cores of this machine
opening_on_spark  slices on the workers of Spark
opened_file      which sealed file of a collection was opened: no other one is
opening_reports  what the shuffler released -> a release, for the analyst
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shuffledp.collection.network.analyst import Analyst
    from shuffledp.collection.network.collection_file import Collection, read_collection
    from shuffledp.collection.network.opening_reports import open_collection
    from shuffledp.collection.network.sealing import AnalystKey, Envelopes
    from shuffledp.collection.network.sender import Client, Receipt

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

# Where each name is defined; it is loaded when it is first asked for.
HOMES = {
    "analyst": ("Analyst",),
    "collection_file": ("Collection", "read_collection"),
    "opening_reports": ("open_collection",),
    "sealing": ("AnalystKey", "Envelopes"),
    "sender": ("Client", "Receipt"),
}


def __getattr__(name: str) -> Any:
    for module, names in HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
