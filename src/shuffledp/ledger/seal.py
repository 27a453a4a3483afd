"""The seals of a ledger: SHA-256 over what a record says, under which limits, and after which other record.

So a row that is changed, removed or slipped in breaks the chain. Whoever rewrites the whole file can seal it anew: keep the last seal elsewhere,
as every report does, and ask ``ledger check --last``.
"""

from __future__ import annotations

from dataclasses import dataclass

from shuffledp.canonical import digest_of

__all__ = ["START", "Population", "begun_seal", "output_seal", "seal_of"]

START = "0" * 64  # what the first record follows


@dataclass(frozen=True, slots=True)
class Population:
    """The same users, release after release, and what may be learnt about any of them in all."""

    name: str
    limit_epsilon: float
    limit_delta: float
    created: str


def seal_of(population: Population, *, id: int, recorded: str, entry: str, version: str, previous: str) -> str:
    """The seal of a record: what it says, under which limits, and after what."""
    limits = {"population": population.name, "limit_epsilon": population.limit_epsilon, "limit_delta": population.limit_delta, "created": population.created}
    return digest_of({**limits, "id": id, "recorded": recorded, "entry": entry, "version": version, "previous": previous})


def begun_seal(record: str, begun: str) -> str:
    """The seal of the note that the output of a release was about to appear."""
    return digest_of({"record": record, "begun": begun})


def output_seal(record: str, published: str, output: str) -> str:
    """The seal of the note that a release was published."""
    return digest_of({"record": record, "published": published, "output": output})
