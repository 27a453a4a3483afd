"""A collection over the network: clients randomize and seal, a shuffler stores what it cannot read,
an analyst opens a multiset.

collection_file  what everybody agrees on: design, analyst's key, shuffler, round, times; its digest
addresses        of shufflers that are safe to send to
sealing          reports in envelopes that the analyst's key alone opens (HPKE)
codes            invitations: one report for each, and no trace of which
organizing       before anybody reports: the collection and its key, invitations
typed_answers    one person's answer, as it is typed
outbox           where sealed reports wait on a device: what is sent again is the same bytes
courier          requests to a shuffler, and which answers are believed
delivering       from an outbox to a shuffler, in uploads of many
sealing_pool     reports sealed on all cores
sender           a client: draws, seals, stores, sends until it is acknowledged
wire             what goes over HTTP: addresses, records, limits, the words of a refusal
sealed_file      what the shuffler releases: envelopes in the order of their bytes
stores           where envelopes wait: nothing acknowledged that is not there, no order of arrival
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shuffledp.collection.network.sender import Client, Receipt

__all__ = ["Client", "Receipt"]


def __getattr__(name: str) -> Any:
    """A public name, loaded when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"shuffledp.collection.network has no {name!r}; there are {', '.join(__all__)}")
    from shuffledp.collection.network import sender

    return getattr(sender, name)
