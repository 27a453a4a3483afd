"""A collection over the network: clients randomize and seal, a shuffler stores what it cannot read,
an analyst opens a multiset.

collection     what all parties agree on: design, analyst's key, shuffler, times; its digest
envelopes      reports in envelopes that the analyst's key alone opens (HPKE), and files of them
all_cores      what seals or opens many envelopes: processes that end with this one
organizer      before the first report: the collection and its key, invitations
wire           what goes over HTTP: records, limits, invitations, the words of a refusal
shuffler       what takes envelopes over HTTP, and releases them without their order
stores         where envelopes wait: nothing acknowledged that is not there, no order of arrival
analyst        what the analyst asks of the shuffler: status, close and fetch
spark          slices on the workers of Spark
opener         what the shuffler released -> a release
search         a search for frequent words: level after level, each a collection of its own
outbox         where sealed reports wait on a device: what is sent again is the same bytes
courier        requests to a shuffler, and which answers are believed
sender         a client: draws, seals, stores, sends until it is acknowledged
"""

from typing import TYPE_CHECKING

from shuffledp._lazy import lazy

if TYPE_CHECKING:
    from shuffledp.survey.analyst import Analyst as Analyst
    from shuffledp.survey.collection import Collection as Collection
    from shuffledp.survey.collection import read_collection as read_collection
    from shuffledp.survey.envelopes import AnalystKey as AnalystKey
    from shuffledp.survey.envelopes import Envelopes as Envelopes
    from shuffledp.survey.opener import open_collection as open_collection
    from shuffledp.survey.sender import Client as Client
    from shuffledp.survey.sender import Receipt as Receipt

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "survey.analyst": "Analyst",
        "survey.collection": "Collection read_collection",
        "survey.opener": "open_collection",
        "survey.envelopes": "AnalystKey Envelopes",
        "survey.sender": "Client Receipt",
    },
)
