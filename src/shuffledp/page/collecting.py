"""How the reports came, where they came over the network: which collection, how many arrived, how
many were invalid, and what is left if shuffler and analyst collude.
"""

from __future__ import annotations

from shuffledp.page import phrases
from shuffledp.page.markup import Markup, element, join
from shuffledp.page.numerals import count, exact, many, tied
from shuffledp.page.parts import facts_list, section
from shuffledp.record import Collected, Record

__all__ = ["collecting"]


def collecting(record: Record) -> Markup | None:
    """The way of the reports; None where a table was there."""
    collected = record.counted.collected
    if collected is None:
        return None
    certified = record.certificate
    each = "" if certified.rounds == 1 else ", in each round,"
    rows: list[tuple[str, object]] = [
        ("Collection", join([element("code", collected.digest), tied(phrases.PINNED)])),
        ("Round", f"{count(collected.round)} of {count(certified.rounds)}"),
        ("Arrived", _arrived(collected)),
    ]
    return section(
        "collection",
        "How it was collected",
        element("p", tied(phrases.COLLECTED)),
        element("p", tied(_colluding(record, each))),
        facts_list(rows),
        keep=True,
    )


def _colluding(record: Record, each: str) -> str:
    if (alone := record.certificate.alone) is None:
        return phrases.COLLUDING_TRUTH.format(shown=record.design.shown_alone, each=each)
    return phrases.COLLUDING.format(alone=exact(alone), shown=record.design.shown_alone, each=each)


def _arrived(collected: Collected) -> str:
    arrived = many(collected.arrived, "sealed report")
    if collected.messages is not None:
        messages = many(collected.messages, "sealed message")
        arrived = phrases.MESSAGES_OF.format(messages=messages, people=count(collected.arrived))
    if not collected.invalid:
        return phrases.ARRIVED.format(arrived=arrived)
    return phrases.ARRIVED_SOME_INVALID.format(arrived=arrived, invalid=count(collected.invalid))
