"""The seals of a ledger: SHA-256 over what a record says, under which limits, and after which other
record.

So a row that is changed, removed or slipped in breaks the chain. Whoever rewrites the whole file
can seal it again: keep the last seal elsewhere, as every page does, and ask ``ledger check
--last``.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from json.encoder import encode_basestring as quoted

from shuffledp.storage.canonical import digest_of

__all__ = ["START", "Population", "begun_seal", "output_seal", "seal_of"]

START = "0" * 64  # what the first record follows


@dataclass(frozen=True, slots=True)
class Population:
    """The same users, release after release, and what may be learned about any of them in all."""

    name: str
    limit_epsilon: float
    limit_delta: float
    created: str


def seal_of(population: Population, *, id: int, recorded: str, entry: str, version: str, previous: str) -> str:
    """The seal of a record: what it says, under which limits, and after what.

    This is ``digest_of`` of these facts by their names, spelled out: a ledger of ten thousand
    releases is sealed again whenever it is read.
    """
    if not (math.isfinite(population.limit_epsilon) and math.isfinite(population.limit_delta)):
        raise ValueError("an infinite limit has no seal")
    limits = (
        f'"limit_delta":{population.limit_delta!r},"limit_epsilon":{population.limit_epsilon!r},'
        f'"population":{quoted(population.name)}'
    )
    chained = f'"previous":{quoted(previous)},"recorded":{quoted(recorded)},"version":{quoted(version)}'
    return _sha256(f'{{"created":{quoted(population.created)},"entry":{quoted(entry)},"id":{id},{limits},{chained}}}')


def begun_seal(record: str, begun: str) -> str:
    """The seal of the note that the output of a release was about to appear."""
    return _sha256(f"{record} begun {begun}")


def output_seal(record: str, published: str, output: str) -> str:
    """The seal of the note that a release was published."""
    return digest_of({"record": record, "published": published, "output": output})


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
